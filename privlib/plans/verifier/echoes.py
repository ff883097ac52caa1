"""Replies that say no more than yes or no: "it certainly is", "that it is", "it is, alas, not", "far from it"."""

from __future__ import annotations

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.tokens import Token

_PRONOUNS = frozenset(("it", "they", "he", "she", "that", "this", "there", "these", "those"))
_AUXILIARIES = frozenset(
    ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "would", "must", "will", "be", "seems")
)
_TRUE = frozenset(("true", "right", "correct", "so", "case", "yes", "indeed", "sure", "yep"))
_FALSE = frozenset(("false", "wrong", "untrue", "incorrect"))
_NOT = (lexicon.NEGATIONS - {"nowhere", "neither", "nor", "without", "won't", "can't", "cannot"}) | {
    "barely",
    "scarcely",
}
_SETTLED = (  # replies as wholes, with what they say
    (("far", "from", "it"), "no"),
    (("by", "no", "means"), "no"),
    (("anything", "but"), "no"),
    (("in", "no", "way"), "no"),
    (("no", "way"), "no"),
    (("on", "the", "contrary"), "no"),
    (("at", "all"), ""),
    (("of", "course"), ""),
    (("in", "fact"), ""),
    (("without", "doubt"), ""),
    (("without", "a", "doubt"), ""),
    (("no", "doubt"), ""),
    (("no", "question"), ""),
    (("no", "question", "about", "it"), ""),
    (("of", "that", "i", "am", "sure"), ""),
    (("for", "sure"), ""),
    (("after", "all"), ""),
    (("for", "certain"), ""),
    (("the", "case"), ""),
    (("you", "bet"), ""),
    (("i", "am", "afraid"), ""),
    (("i'm", "afraid"), ""),
    (("i", "think"), ""),
    (("nothing", "of", "the", "kind"), "no"),
    (("nothing", "of", "the", "sort"), "no"),
    (("by", "all", "means"), ""),
    (("everyone", "says", "so"), ""),
    (("everybody", "says", "so"), ""),
)
_FORMS = {
    opening: [(form, said) for form, said in _SETTLED if form[0] == opening] for opening in {f[0] for f, _ in _SETTLED}
}
_ADVERBS = frozenset(
    (
        "alas",
        "always",
        "oh",
        "well",
        "yet",
        "still",
        "ever",
        "just",
        "also",
        "too",
        "though",
        "quite",
        "very",
        "much",
        "seem",
        "then",
        "now",
        "here",
    )
)
_HEDGES = frozenset(("possibly", "probably", "presumably", "arguably", "supposedly", "likely", "nearly", "necessarily"))
# ... and nouns in -ly
_HEDGES |= {"only", "partly", "mostly", "apparently", "allegedly", "seemingly", "family", "reply"}
_STOPS = frozenset((",", ";", ":", ".", "-", "–", "—", "!"))
_LEADS = frozenset(("q", "a", "and", "but", "question", "answer"))
_LONGEST = 14


def echo(tokens: list[Token], first: int, last: int) -> str:
    """ "yes" or "no" for a reply made of pronouns, auxiliaries, adverbs and words for true and false; else "".

    Each negation turns it round once ("it is not untrue"). What comes after a comma says more, and leaves the answer
    as it is, unless it is the negation itself ("it is, alas, not"). A reply that hedges ("possibly") is none.
    """
    k = first
    while k < min(last, first + _LONGEST) and (tokens[k].text in _LEADS or tokens[k].kind == "mark"):
        k += 1
    odd = said = weak = stopped = False
    while k < min(last, first + _LONGEST):
        word = tokens[k].text
        length, answer = _settled(tokens, k, last) or (1, "")
        if length == 1 and word in ("no", "nope"):  # "no, it is not" denies once
            ends = k + 1 >= last or tokens[k + 1].kind == "mark"
            return "no" if ends and not said else ""
        if length > 1 or word in _AUXILIARIES | _TRUE | _NOT | _FALSE:
            said = True
            odd = odd != (answer == "no" or (length == 1 and word in _NOT | _FALSE))
        elif word in _STOPS:
            stopped = stopped or said
        elif word.endswith("ly") and word not in _HEDGES:
            weak = True
        elif word not in _PRONOUNS | _ADVERBS | _LEADS:
            break
        k += length
    if k < last and not (stopped and tokens[k - 1].text in _STOPS | _LEADS):
        return ""
    return ("no" if odd else "yes") if said or weak else ""


def _settled(tokens: list[Token], k: int, last: int) -> tuple[int, str] | None:
    """The length of a set phrase at token k and what it says."""
    for form, answer in _FORMS.get(tokens[k].text, ()):
        if all(k + i < last and tokens[k + i].text == word for i, word in enumerate(form)):
            return len(form), answer
    return None
