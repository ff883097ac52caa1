"""Steps of the method called themes of the plan: "privacy is the top theme", "complaints about noise"."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.admission import DENYING, Phrase
from privlib.plans.verifier.clauses import clauses
from privlib.plans.verifier.medals import MEDALS
from privlib.plans.verifier.people import is_person
from privlib.plans.verifier.tokens import Token, stem
from privlib.plans.verifier.words import Contents

_BE = frozenset(("is", "are", "was", "were"))
_CALLED = frozenset(map(stem, ("theme", "topic", "complaint", "category", "atom", "label")))
# themes only with a rank: "the largest concern"
_LOOSE = frozenset(map(stem, ("concern", "issue", "problem", "subject", "grievance")))
_RANKINGS = frozenset(("plan", "list", "tally", "ranking"))
_GIVING = frozenset(
    ("of", "the", "a", "an", "another", "one", "other", "further", "also", "only", "top", "new", "second", "next")
)
_ADMITTED = frozenset(("admitted", "listed", "raised", "selected", "named", "ranked", "picked", "shortlisted"))
_LISTS = frozenset(("list", "lists", "listed", "names", "named", "admits", "admitted", "ranks", "ranked"))
_ABOUT = frozenset(("about", "of", "on", "over", "concerning", "regarding", "with"))
_COMPLAINTS = frozenset(("complaint", "complaints", "complain", "complains", "complained", "complaining", "grievances"))
_COMPLAINTS |= {"grumbled", "criticism", "moaned", "grumbles", "annoyed", "unhappy", "upset", "dissatisfied"}
_REMARKS = frozenset(("remarks", "comments", "mentions", "reports", "words", "notes"))
_ITEMS = frozenset((",", "and", "or", "&", "+", "/", "nor", "besides", "plus", "alongside"))
_COLUMNS = frozenset(("total", "order", "tie", "method"))  # heads of columns and sections
_PLACED = frozenset(("came", "comes", "ranks", "ranked", "finished", "placed", "is", "was"))


def method_named(
    tokens: list[Token],
    first: int,
    last: int,
    free: Sequence[bool],
    words: Contents,
    claimed: Collection[int],
) -> list[Phrase]:
    """Nouns of the method that are no part of a claim at `claimed`, in the place of a theme; what is denied is none.

    Called a theme ("another theme is noise"), an item beside labels ("A, noise and B"), what was complained of, or what
    the plan lists and ranks ("noise came second"). A report does say that privacy is its main concern, that noise is
    included in a value, and what it has to remark on the noise; so "the" before the noun makes it the method's own
    except where it is called a theme.
    """
    nouns = [k for k in range(first, last) if free[k] and is_report_noun(tokens[k], words, k)]
    nouns = [k for k in nouns if k not in claimed]
    if not nouns or sum(token.text in DENYING for token in tokens[first:last]) % 2:
        return []
    spans = clauses(tokens, first, last)
    of_noun = {k: at for at, (begin, end, _) in enumerate(spans) for k in range(begin, end)}
    found = []
    for k in nouns:
        at = of_noun.get(k)
        if at is None:
            continue
        begin, end, _ = spans[at]
        bare = k == begin
        subject = bare or (k == begin + 1 and tokens[begin].text in ("the", "a", "an", "one"))
        if (
            (subject and _called(tokens, k + 1, end))
            or _calling(tokens, k, begin, end)
            or (is_method(tokens[k], words, k) and _placed(tokens, spans, at, k, free, first))
        ):
            found.append(Phrase(k, k + 1, "a step of the method, and no theme of the plan"))
    return found


def _placed(
    tokens: list[Token], spans: list[tuple[int, int, str]], at: int, k: int, free: Sequence[bool], first: int
) -> bool:
    """Whether the noun at k is subject, object or item of what the plan lists or people complained of."""
    begin, end, _ = spans[at]
    if k == begin and (_passes(tokens, k + 1, end) or _item(tokens, spans, at, free)):
        return True
    return _object(tokens, k, first, end)


def is_report_noun(token: Token, words: Contents, k: int) -> bool:
    """Whether the token k is a noun of a report about itself that no label of the plan holds."""
    return token.kind == "word" and token.stem in lexicon.report_words() and not words.own[k]


def is_method(token: Token, words: Contents, k: int) -> bool:
    """Whether the token k is a noun of the method that no label of the plan holds."""
    named = token.stem in lexicon.method_words() and token.text not in MEDALS
    return token.kind == "word" and named and not words.own[k]


def _theme(tokens: list[Token], k: int, end: int) -> bool:
    """Whether "(is) the top theme" begins at token k, and names a theme of the plan: not "the topic of this page"."""
    ranked = False
    for i in range(k, min(k + 5, end)):
        word, named = tokens[i].text, tokens[i].stem
        if named in _CALLED or (ranked and named in _LOOSE):
            after = tokens[i + 1].text if i + 1 < end else ""
            if named in _LOOSE:
                return after == ""
            elsewhere = after in ("of", "for", "in", "here")
            return not elsewhere or not _RANKINGS.isdisjoint(token.text for token in tokens[i + 1 : min(i + 4, end)])
        rank = word in lexicon.TOP | lexicon.BOTTOM | lexicon.FREQUENT | lexicon.ORDINALS.keys() | {"most", "least"}
        ranked = ranked or rank
        if not rank and word not in _GIVING:
            return False
    return False


def _called(tokens: list[Token], k: int, end: int) -> bool:
    return k < end and tokens[k].text in _BE and _theme(tokens, k + 1, end)


def _calling(tokens: list[Token], k: int, begin: int, end: int) -> bool:
    """ "Another theme is k", "the theme k was admitted"."""
    i = k - 1 - (k - 1 > begin and tokens[k - 1].text in ("the", "a"))
    if i > begin and tokens[i].stem in _CALLED and k + 1 < end and tokens[k + 1].text in _BE | lexicon.VERBS:
        return tokens[i - 1].text == "the"
    if i <= begin or tokens[i].text not in _BE or k + 1 < end:
        return False
    start = i - 1
    while start > begin and i - start <= 4 and tokens[start - 1].kind == "word":
        start -= 1
    return tokens[i - 1].stem in _CALLED | _LOOSE and _theme(tokens, start, i)


def _passes(tokens: list[Token], k: int, end: int) -> bool:
    """Whether a predicate at token k admits or ranks: "was listed", "made the list", "came second"."""
    said = [token.text for token in tokens[k : min(k + 6, end)]] + [""] * 6
    if said[0] in ("has", "have", "had") and said[1] == "been":
        said = ["was", *said[2:]]
    if said[0] in ("came", "cropped", "turned") and said[1] == "up":
        return True
    if said[0] in ("made", "makes", "make", "reached", "entered"):
        return bool(set(said[1:3]) & (lexicon.LISTS | lexicon.WHOLES | {"cut", "it"}))
    if said[0] in _BE and said[1] == "also":
        said = [said[0], *said[2:]]
    if said[0] in _BE and said[1] in _ADMITTED:
        return said[2] == "" or bool(set(said[3:5]) & lexicon.WHOLES)
    place = said[1] if said[1] not in ("in", "the") else said[2]
    return said[0] in _PLACED and "to" not in said[1:4] and (lexicon.ORDINALS.get(place, 1) > 1 or place == "last")


def _item(tokens: list[Token], spans: list[tuple[int, int, str]], at: int, free: Sequence[bool]) -> bool:
    """Whether a clause of one noun, or of one noun and the verb of a whole list, is an item after a label."""
    begin, end, opener = spans[at]
    if at + 1 < len(spans) and end == begin + 1 and spans[at + 1][2] in _ITEMS and not free[spans[at + 1][0]]:
        ends = next((stop for start, stop, _ in spans[at + 1 : at + 9] if free[stop - 1] or free[start]), spans[-1][1])
        k = next((k for k in range(ends - 1, begin, -1) if not free[k]), ends) + 1
        if _passes(tokens, k, ends) or _called(tokens, k, ends):
            return True  # "k and A were the complaints"
    if at and opener == ":" and end == begin + 1 and _theme(tokens, spans[at - 1][0], spans[at - 1][1]):
        return True  # "a further theme: k"
    if at == 0 or opener not in _ITEMS or free[spans[at - 1][1] - 1] or tokens[begin].stem in _COLUMNS:
        return False
    follows = spans[at + 1][2] if at + 1 < len(spans) else ""
    if end == begin + 1:
        return follows in _ITEMS or (follows == "" and (opener != "," or spans[at - 1][2] == ","))
    listed = all(not free[k] or tokens[k].text in lexicon.ARTICLES for k in range(*spans[at - 1][:2]))
    return listed and _passes(tokens, begin + 1, end)


def _object(tokens: list[Token], k: int, first: int, end: int) -> bool:
    """Whether the noun at k is what the plan lists, or what people complained of."""
    before = [token.text for token in tokens[max(first, k - 6) : k]]
    after = tokens[k + 1].text if k + 1 < end else ""
    if after == "" and before and before[-1] in _LISTS | {"include"}:
        whole = lexicon.WHOLES | {"it"} if before[-1] in _LISTS else {"themes", "topics", "labels"}
        return bool(set(before[:-1]) & whole)
    if after == "" and before[-2:] in (["goes", "to"], ["went", "to"], ["belongs", "to"]):
        return bool(set(before) & (lexicon.POSITIONS | lexicon.ORDINALS.keys()))
    if not before or before[-1] not in _ABOUT or (after and after not in _BE | {"in", "were"}):
        return False
    if set(before) & _COMPLAINTS:
        return True
    if any(is_person(token) for token in tokens[max(first, k - 5) : k - 1]) and set(before) & lexicon.DEEDS:
        return True
    frequent = {token.text for token in tokens[k + 2 : min(k + 5, end)]} & (lexicon.FREQUENT | _ADMITTED | {"recorded"})
    return bool(set(before[-2:]) & _REMARKS) and after in _BE and bool(frequent)
