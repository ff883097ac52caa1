"""Quantified people: "everyone", "no guest", "all of our diners", and what they are said to have raised."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token, stem

_ALL = frozenset(("all", "every", "each", "whole", "entire"))
_PRONOUNS = {"everyone": 1, "everybody": 1, "nobody": 0, "anyone": 0, "anybody": 0}
_STEPS = frozenset(("of", "the", "our", "these", "those", "their", "and", "every", "single", "one", "last", "a"))
_PERSONS = (
    "crowd",
    "household",
    "family",
    "person",
    "soul",
    "man",
    "woman",
    "couple",
    "diner",
    "neighbour",
    "individual",
)
_PERSONS = frozenset(map(stem, (*_PERSONS, "participant", "people", "respondent", "reviewer", "user", "customer")))
_AGENTS = ("er", "ers", "ant", "ants", "ent", "ents", "ist", "ists", "ee", "ees", "or", "ors", "people", "folk")
_MODALS = frozenset(("can", "could", "may", "might", "must", "should", "would", "will", "shall", "need"))
_OPENS = frozenset(("that", "whether", "if", "why", "how", "from", "for", "to", "than", "as", "at", "in", "under"))
_OPENS |= {"who", "behind", "without", "between", "per", "before", "after", "against"}
_COPULAS = frozenset(("is", "are", "was", "were", "be", "been", "being", "remains"))
_IS_WHAT = _COPULAS | {"what", "that", "which", "a", "the", "theme", "topic", "thing", "something", "one"}
_HELD = frozenset(map(stem, ("record", "review", "document", "post", "text", "value", "data")))
_MINDS = frozenset(("mind", "minds", "lips", "nerves"))
_STAND_INS = frozenset(("it", "them"))
_RAISED = lexicon.SPEAKING | lexicon.DEEDS | {"about", "of"}
# what names, counts or reads raises nothing: "no guest is named beside A", "nobody should ignore A"
_APART = frozenset(("named", "identified", "singled", "quoted", "exposed", "revealed", "traced", "identifiable"))
_APART |= {"beats", "ignore", "ignores", "counted", "counts", "sees", "ranks", "reading"}
_REACH = 7  # tokens between people and what they raised


def people(tokens: list[Token], i: int, last: int) -> tuple[bool, int] | None:
    """Whether token i begins a phrase for all (True) or none (False) of the people asked, with the token after it."""
    word = tokens[i].text
    following = tokens[i + 1].text if i + 1 < last else ""
    if word in _PRONOUNS:
        return bool(_PRONOUNS[word]), i + 1
    if word == "no" and following == "one":
        return False, i + 2
    none = word in ("no", "none") or (word == "not" and following in ("one", "a"))
    if word not in _ALL and not none:
        return None
    k = i + 1
    while k < min(i + 5, last) and tokens[k].text in _STEPS:
        k += 1
    kept = {token.stem for token in tokens[k + 1 : min(k + 2, last)]} & _HELD  # "no individual record"
    if k < last and is_person(tokens[k]) and not kept:
        return not none, k + 1
    return None


def is_person(token: Token) -> bool:
    """Whether a noun names people that records come from: a known one, or a noun of agents that is no public word."""
    word = token.text
    if token.stem in lexicon.voices() | _PERSONS:
        return True
    return token.kind == "word" and word.endswith(_AGENTS) and not {word, token.stem} & lexicon.plain_words()


def raised(tokens: list[Token], begin: int, end: int, first: int, last: int, free: Sequence[bool]) -> bool:
    """Whether the people [begin, end) are said to have raised a theme, or it to have come from them.

    They are the subject of a verb whose object is a label ("everyone wrote about A"), the agent or object of a verb
    with a label for its subject ("A was raised by everyone", "A troubled every diner"), or its owner ("A is everyone's
    complaint"). What they may or should do, and what is said of a value, a reason or a question, raises nothing.
    """
    if not _APART.isdisjoint(token.text for token in tokens[end : min(end + 3, last)]):
        return False
    if end < last and tokens[end].text == "who" and begin > first and tokens[begin - 1].kind == "word":
        return False  # "we thank every guest who wrote about A"
    if tokens[end - 1].end - tokens[end - 1].start > len(tokens[end - 1].text):  # "everyone's"
        noun = tokens[end].text if end < last else ""
        return noun in lexicon.SINGULARS | _MINDS and begin > first and _label_before(tokens, begin, first, free)
    if [token.text for token in tokens[end : end + 2]] == ["at", "all"]:
        end += 2
    k = end + (end < last and tokens[end].text == "who")
    while k < min(end + _REACH, last) and free[k] and tokens[k].kind == "word" and _goes_on(tokens, k):
        if tokens[k].text in _STAND_INS:
            break
        k += 1
    stood = k < last and tokens[k].text in _STAND_INS and tokens[k - 1].text in _RAISED
    named = end < k < last and (not free[k] or stood)
    if named and tokens[end].text == "who" and not _closes(tokens, k, last, free):
        return False  # "no guest who raised A is named"
    if named and k > end and (begin == first or tokens[begin - 1].text not in ("for", "to")):
        return True
    if begin == first:
        return False
    before, after = tokens[begin - 1], tokens[end].text if end < last else ""
    if before.text in ("what", "that", "which"):  # "A is what every guest wrote about"
        i = begin - 1
        while i > first and begin - i < 6 and tokens[i].text in _IS_WHAT:
            i -= 1
        return not free[i]
    verb = before.text.endswith("ed") or before.text in lexicon.SPEAKING
    closed = after in ("", ",", ".", "who", "and", "here")
    return closed and (verb or before.text == "by") and _label_before(tokens, begin, first, free)


def _closes(tokens: list[Token], k: int, last: int, free: Sequence[bool]) -> bool:
    """Whether a clause ends with the label at token k."""
    while k < last and not free[k]:
        k += 1
    return k >= last or tokens[k].kind == "mark" or tokens[k].text in lexicon.BREAKS


def _goes_on(tokens: list[Token], k: int) -> bool:
    """Whether token k may stand between people and what they raised; "in" only ends a verb ("those who wrote in")."""
    word = tokens[k].text
    if word == "in":
        return k + 1 < len(tokens) and tokens[k + 1].text.endswith("ed")
    return word not in _MODALS | _OPENS and word not in lexicon.THEMES | lexicon.DOCUMENT - {"notes", "note"}


def _label_before(tokens: list[Token], k: int, first: int, free: Sequence[bool]) -> bool:
    """Whether a label stands before token k with no more than verbs and adverbs between."""
    i = k - 1
    while i >= first and k - i <= _REACH and free[i] and tokens[i].kind == "word" and _goes_on(tokens, i):
        i -= 1
    return first <= i and not free[i]
