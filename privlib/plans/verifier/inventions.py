"""Causes and advice that a sentence invents: no plan supports either, but a report may give reasons for its form."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from privlib.plans.verifier import lexicon, topics
from privlib.plans.verifier.admission import Phrase
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

_PARTS = frozenset(("mechanism", "selection", "sampler", "privacy", "how", "noise", "procedure", "algorithm"))
_READERS = (
    lexicon.DOCUMENT | lexicon.THEMES | {"you", "we", "i", "one", "nobody", "reader", "readers", "anyone", "it", "they"}
)
_URGES = frozenset(("recommend", "suggest", "advise"))
_CHOSEN = frozenset(("chosen", "picked", "kept", "returned", "published", "let"))
_BE = frozenset(("is", "are", "was", "were", "has", "have"))


def inventions(tokens: list[Token], first: int, last: int, free: Sequence[bool], words: Contents) -> list[Phrase]:
    """Causes and advice told in words from nowhere: "the cooks should ...", "because of ..."."""
    odd = [k for k in range(first, last) if words.strange(k) and not topics.nameless(tokens, k, first, last)]
    if all(free[first:last]) and _of_the_report(tokens, first, last):
        odd = [k for k in odd if tokens[k].stem not in lexicon.reasons()]
    if not odd:
        return []
    for k in range(first, last):
        word = tokens[k].text
        if (
            not free[k]
            or word not in lexicon.ADVICE | lexicon.CAUSES
            or (word == "due" and (k + 1 >= last or tokens[k + 1].text != "to"))
        ):
            continue
        near = {t.text for t in tokens[max(first, k - 4) : k]}
        urges = word in _URGES and not near & lexicon.DOCUMENT
        if word in lexicon.ADVICE and near & _READERS and not urges:
            continue  # "you should read the figures with care": advice on the report
        if word == "because" and _released(tokens, k, last):
            continue  # "because it was released: A"
        after = {t.text for t in tokens[k + 1 : min(k + 8, last)]}
        if word.startswith("explain") and after & (lexicon.DOCUMENT | lexicon.WHOLES | _PARTS):
            continue  # "the annex explains the noise"
        back = bool(after & {"this", "that"})  # "they ask for cutlery because of this"
        near_by = odd[bisect_left(odd, k - 12) : bisect_left(odd, k + 13)]
        told = [j for j in near_by if (word in lexicon.ADVICE | {"blame"} or j > k or back)]
        if told and not {t.text for t in tokens[k : told[0]]} & lexicon.DOCUMENT:
            return [Phrase(min(k, told[0]), max(k, told[-1]) + 1, "a plan gives no cause and no advice")]
    return []


def _of_the_report(tokens: list[Token], first: int, last: int) -> bool:
    """Whether a sentence tells what its writer does or what a part of the report is: "I drop masses because"."""
    said = {token.text for token in tokens[first:last]}
    return bool(said & (lexicon.DOCUMENT | {"i", "we", "order"}))


def _released(tokens: list[Token], k: int, last: int) -> bool:
    """Whether the reason at k is admission: "because it was released", "because the selection kept it"."""
    after = [token.text for token in tokens[k + 1 : min(k + 6, last)]] + [""] * 4
    told = after[0] in ("it", "they", "this", "that") and after[1] in _BE
    return told and bool(set(after[2:4]) & (lexicon.ADMISSION | _CHOSEN))
