"""Questions and their answers: what is asked claims nothing, what is answered is read together with it."""

from __future__ import annotations

from dataclasses import dataclass

from privlib.plans.verifier.echoes import echo
from privlib.plans.verifier.tokens import Token

_OPEN = frozenset(("what", "which", "where", "who", "how", "whose", "when"))
_VERBS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "has",
        "have",
        "had",
        "can",
        "could",
        "will",
        "would",
        "may",
        "might",
        "should",
        "must",
        "isn't",
        "aren't",
        "doesn't",
        "don't",
    ]
)
_LEADS = frozenset(("q", "a", "and", "so", "but", "question", "answer", "well", "then", "oh"))
_YES = frozenset(("yes", "indeed", "correct", "certainly", "right", "true", "yep"))
_NO = frozenset(("no", "nope", "not", "false", "wrong"))
_LONGEST = 80  # tokens of a question that is read with its answer


@dataclass(frozen=True)
class Unit:
    """Tokens [first, last) read as one sentence; `asked` where it ends in a "?", `reply` yes, no or none.

    `mark`: position of the question mark inside, where an open question and its answer are one unit.
    """

    first: int
    last: int
    asked: bool = False
    reply: str = ""
    mark: int | None = None


def units(tokens: list[Token], sentences: list[tuple[int, int]]) -> list[Unit]:
    """Sentences with each open question ("which is first?", "cold food?") joined to the sentence that answers it."""
    found: list[Unit] = []
    k = 0
    while k < len(sentences):
        first, last = sentences[k]
        asked = last < len(tokens) and tokens[last].text == "?"
        follows = sentences[k + 1] if asked and k + 1 < len(sentences) else None
        if follows is None or follows[0] - last > 5:
            found.append(Unit(first, last, asked))
        else:
            reply = _lead(tokens, *follows)
            reply = echo(tokens, *follows) or reply
            if reply in _YES | _NO:
                found.append(Unit(first, last, True, "yes" if reply in _YES else "no"))
            elif last - first <= _LONGEST and _is_open(tokens, first, last):
                found.append(Unit(first, follows[1], mark=last))
                k += 1
            else:
                found.append(Unit(first, last, True))
        k += 1
    return found


def _lead(tokens: list[Token], first: int, last: int) -> str:
    """The first word of a sentence but for "Q:", "A:", dashes and small words."""
    for k in range(first, min(first + 6, last)):
        if tokens[k].kind == "word" and tokens[k].text not in _LEADS:
            return tokens[k].text
    return ""


def _is_open(tokens: list[Token], first: int, last: int) -> bool:
    """Whether a question asks what, which or how, or has no verb."""
    words = {token.text for token in tokens[first:last]}
    return bool({token.text for token in tokens[first : min(first + 6, last)]} & _OPEN) or not words & _VERBS
