"""Items of a list that stand on lines or between semicolons of their own, and name nothing of the plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.admission import Phrase
from privlib.plans.verifier.selfnamed import is_method
from privlib.plans.verifier.slots import is_topic, light
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

_BULLET = re.compile(r"[ \t>]*(?:([-*+•·–—▪◦‣●○])[ \t]|\(?(?:[0-9]{1,3}|[a-z])([.)])[ \t])", re.IGNORECASE)
_JOINTS = frozenset((",", ".", "!", "and", "or", "&", "+", "also", "“", "”", '"', "'"))
_PREPOSITIONS = frozenset(
    ("in", "on", "at", "of", "for", "with", "without", "to", "by", "from", "about", "and", "or", "near")
)
_DETERMINERS = frozenset(("the", "a", "an", "this", "these", "its", "their", "our", "all"))
_LONGEST = 7  # words of a phrase that can name a theme


@dataclass(frozen=True)
class _Part:
    """Tokens [first, last) between two ends, without marks around them.

    `bullet`: the mark that opens it, "" for none. `label`: it names atoms and no more;
    `topic`: a phrase that could name a theme and none of the plan; `method`: one noun of the method, which is an item
    where all others are labels; `end`: what ends it, ";", "." or lines.
    """

    first: int
    last: int
    bullet: str
    end: str
    label: bool
    topic: bool
    method: bool


def items(
    tokens: list[Token], sentences: Sequence[tuple[int, int]], text: str, free: Sequence[bool], words: Contents
) -> list[Phrase]:
    """Phrases from nowhere that are items of one list with labels.

    Bulleted items belong together while their bullet is the same; a phrase among them is an item wherever it stands.
    Without bullets a line may be a heading, so that a phrase is an item only between two labels, or last after two.
    Between semicolons nothing is a heading, and one label beside is enough.
    """
    parts = [_part(tokens, first, last, text, free, words) for first, last in sentences]
    found, begin = [], 0
    while begin < len(parts):
        end = begin + 1
        while end < len(parts) and _alike(parts[begin], parts[end]):
            end += 1
        run = parts[begin:end]
        labels = sum(part.label for part in run)
        others = len(run) - labels
        for k, part in enumerate(run):
            if (part.topic or (part.method and others == 1 and labels > 1)) and (
                labels if part.bullet else _beside(run, k)
            ):
                found.append(Phrase(part.first, part.last, "an item beside themes of the plan, but not one of them"))
        begin = end
    return found


def _alike(one: _Part, other: _Part) -> bool:
    """Whether two parts can be of one list: the same bullets, or none."""
    return one.bullet == other.bullet


def _beside(run: Sequence[_Part], k: int) -> bool:
    """Whether a part without a bullet stands where only an item can."""
    before = run[k - 1] if k else None
    after = run[k + 1] if k + 1 < len(run) else None
    joined = before is not None and before.label
    follows = after is not None and after.label
    if ";" in (run[k].end, before.end if before else ""):
        return (joined and before.end == ";") or (follows and run[k].end == ";")
    if joined and follows:
        return before.end == run[k].end
    two = joined and k > 1 and run[k - 2].label and run[k - 2].end == before.end
    return two and after is None and before.end == "\n"


def _part(tokens: list[Token], first: int, last: int, text: str, free: Sequence[bool], words: Contents) -> _Part:
    start = tokens[first - 1].end if first else 0
    opened = first == 0 or tokens[first - 1].kind == "line"
    bullet = _BULLET.match(text, start) if opened else None
    begin, end = first, last
    if bullet:
        while begin < end and tokens[begin].end <= bullet.end():
            begin += 1
    ended = tokens[last] if last < len(tokens) else None
    closing = "" if ended is None else "\n" * min(2, _breaks(ended.text)) if ended.kind == "line" else ended.text
    while begin < end and tokens[begin].text in _JOINTS:
        begin += 1
    while end > begin and tokens[end - 1].text in _JOINTS:
        end -= 1
    lead = next((k for k in range(begin, min(end, begin + 12)) if tokens[k].text == ":"), None)
    if lead is not None and lead + 1 < end and all(free[begin:lead]):
        begin = lead + 1  # "themes: A; k; B"
    named = {tokens[k].text for k in range(begin, min(end, begin + 40)) if free[k]}
    label = begin < end <= begin + 40 and not all(free[begin:end]) and named <= lexicon.ARTICLES | _JOINTS
    if bullet and begin < end and not free[begin]:
        label = light([tokens[k].text for k in range(begin, min(end, begin + 12)) if free[k]])  # "- A (482, high)"
    topic = lead is None and all(free[begin:end]) and _names(tokens, begin, end, words)
    method = end == begin + 1 and is_method(tokens[begin], words, begin)
    mark = (bullet.group(1) or bullet.group(2)) if bullet else ""
    return _Part(begin, end, mark, closing, label, topic, method)


def _breaks(text: str) -> int:
    return text.count("\n") or 1


def _names(tokens: list[Token], begin: int, end: int, words: Contents) -> bool:
    """Whether tokens [begin, end) are a noun phrase that no list of public words explains: no verb, no clause."""
    span = tokens[begin:end]
    if not 0 < len(span) <= _LONGEST or any(token.kind != "word" for token in span):
        return False
    if not light([token.text for token in span]):
        return False
    # "privacy protects the guests": an article after a word that is no preposition follows a verb
    for before, after in pairwise(span):
        if after.text in _DETERMINERS and before.text not in _PREPOSITIONS:
            return False
    head = next((k for k in range(begin + 1, end) if tokens[k].text in _PREPOSITIONS), end) - 1
    if tokens[head].stem in lexicon.report_words():
        return False  # "analytic calibration of the noise"
    return is_topic(tokens, begin, end, words)
