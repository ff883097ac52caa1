"""Verbs that are denied over a label of the plan, and what licenses such a denial."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.admission import DENYING, Phrase
from privlib.plans.verifier.clauses import clauses
from privlib.plans.verifier.tokens import Token

_NOT = frozenset(w for w in lexicon.NEGATIONS if w not in ("no", "nor", "hardly", "without", "neither", "nowhere"))
_LICENCES = frozenset(("only", "just", "merely", "simply", "mean", "means", "apart", "decide", "whether"))
_LICENCES |= {"everything", "every", "everyone", "everybody", "all"}
_LICENCES |= {
    "exact",
    "exactly",
    "precise",
    "true",
    "known",
    "meaningful",
    "firm",
    "certain",
    "final",
    "settled",
    "reliable",
    "why",
    "who",
    "how",
    "explain",
}
# verbs that order, and so need two labels; verbs of saying, which leave something unsaid
_ORDERS = frozenset(("order", "ordered", "orders", "ranked", "rank", "ranks", "separated", "separate", "difference"))
_PREDICATES = lexicon.PLACING | lexicon.TELLING | {"has", "have", "had", "does", "do", "did"}
_SAYS = frozenset(("say", "says", "tell", "tells", "told", "know", "knows"))
_OF = frozenset(("of", "about", "on"))
_DOUBTS = frozenset(("doubt", "question", "fail", "exception", "delay", "saying"))
_OWN = frozenset(("that", "which", "who", "i", "we", "you"))
_AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "will", "would", "can")
)
_AUXILIARIES |= {"could", "may", "might", "must", "it", "they", "also", "still", "itself", "be", "been"} | _OWN


def unlicensed(
    tokens: list[Token], first: int, last: int, free: Sequence[bool], claimed: Collection[int]
) -> list[Phrase]:
    """Verbs denied in a clause with a label that deny no claim at `claimed`, and so can only deny that it is there.

    Licensed are two denials that cancel out, "not only", "not all", what leaves something unsaid ("does not say why")
    or two labels unordered, what a relative clause or the writer denies, "not A" beside B, and a denial that only
    repeats the verb of another sentence.
    """
    found = []
    spans = clauses(tokens, first, last)
    for at, (begin, end, _) in enumerate(spans):
        if all(free[begin:end]):
            continue
        denied = [k for k in range(begin, end) if free[k] and tokens[k].text in DENYING and not _idle(tokens, k, last)]
        if len(denied) % 2 == 0 or any(k in claimed for k in range(begin, end)):
            continue
        k = denied[0]
        after = [token.text for token in tokens[k + 1 : min(k + 7, end)]]
        if ("at", "all") in pairwise(after):
            after.remove("all")
        short = k == begin or not after or after[-1] in ("either", "there", "so")
        if tokens[k].text not in _NOT or short or _LICENCES & set(after) or _own(tokens, k, begin):
            continue
        if any(word in _ORDERS and before in ("the", "a", "its", "their") for before, word in pairwise(after)):
            continue  # "does not change the rank of A"
        if _ORDERS & set(after) and _labels(spans, at, tokens, free) > 1:
            continue
        says = next((i for i in range(k + 1, min(k + 7, end)) if free[i] and tokens[i].text in _SAYS), None)
        if says is not None and (_labels(spans, at, tokens, free) > 1 or _unsaid(tokens, says, end, free)):
            continue
        found.append(Phrase(k, k + 1, "the plan admits this"))
    return found


def _idle(tokens: list[Token], k: int, last: int) -> bool:
    """Whether the "without" at k is one of "without doubt", which denies nothing."""
    near = {token.text for token in tokens[k + 1 : min(k + 3, last)]}
    return tokens[k].text == "without" and bool(near & _DOUBTS)


def _own(tokens: list[Token], k: int, begin: int) -> bool:
    """Whether a relative or the writer is the subject of the denial at k, with no verb of its own in between."""
    for i in range(k - 1, max(begin, k - 4) - 1, -1):
        word = tokens[i].text
        if word in _OWN:
            return True
        if word not in _AUXILIARIES and not word.endswith("ly"):
            return False
    return False


def _labels(spans: list[tuple[int, int, str]], at: int, tokens: list[Token], free: Sequence[bool]) -> int:
    """How many labels a clause names, with those of the clauses beside it that are labels and no more."""
    count = 0
    for step in (-1, 1):
        for near in range(at + step, at + 4 * step, step):
            if not 0 <= near < len(spans):
                break
            begin, end, _ = spans[near]
            words = {tokens[k].text for k in range(begin, end) if free[k]}
            more = words & _PREDICATES if step > 0 else words - lexicon.ARTICLES - lexicon.THEMES - _ORDERS
            if all(free[begin:end]) or more:
                break
            count += 1
    begin, end, _ = spans[at]
    return count + sum(not free[k] and (k == begin or free[k - 1]) for k in range(begin, end))


def _unsaid(tokens: list[Token], k: int, end: int, free: Sequence[bool]) -> bool:
    """Whether the verb of saying at k has something else than the label for its object ("does not say that A ...")."""
    i = k + 1
    while i < end and free[i] and tokens[i].text in _OF | lexicon.ARTICLES | lexicon.THEMES | {"word"}:
        i += 1
    return i < end and free[i]
