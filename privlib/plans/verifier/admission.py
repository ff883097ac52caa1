"""What a sentence says about who is in the plan: names from nowhere, admitted ones denied, causes and advice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.owners import Owners
from privlib.plans.verifier.promises import negated
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

_NOT = frozenset(w for w in lexicon.NEGATIONS if w not in ("no", "nor", "hardly", "without", "neither"))
_TELLS = frozenset(
    ("is", "are", "was", "were", "may", "might", "could", "has", "have", "made", "make", "makes", "entered")
)
_KEPT = lexicon.SINGULARS | {"mention", "trace", "sign", "place", "room", "space", "line", "row"}
_ABOUT = frozenset(("called", "for", "named", "of", "on", "about", "labelled", "as"))
_LEAVES = frozenset(
    [
        "excludes",
        "exclude",
        "excluded",
        "omits",
        "omit",
        "omitted",
        "lacks",
        "misses",
        "skips",
        "skipped",
        "drops",
        "dropped",
        "ignores",
    ]
)
_SEES = frozenset(
    [
        "find",
        "see",
        "keep",
        "kept",
        "hold",
        "holds",
        "feature",
        "features",
        "show",
        "shows",
        "cover",
        "covers",
        "meet",
        "encounter",
    ]
)
_FRAMES = lexicon.ADMISSION - {"appear", "appears", "part", "present", "reported"} | {"admission", "entry", "selection"}
_FRAMES |= {
    "list",
    "plan",
    "release",
    "report",
    "published",
    "publication",
    "survived",
    "picked",
    "kept",
    "theme",
    "themes",
}
_SHORT = 24  # tokens of a sentence that says no more than what is in the plan
_VAGUE = frozenset(("one", "label", "point", "matter", "entry", "item"))
_PLAN = lexicon.WHOLES | {"themes", "topics"}
_STEPS = (
    lexicon.ARTICLES
    | lexicon.THEMES
    | {"were", "was", "is", "are", "also", "as", "well", "both", "and", "among", "be", "been"}
)
_MENTION = frozenset(
    ("mention", "mentions", "name", "names", "list", "lists", "contain", "contains", "include", "includes")
)
_FINITE = lexicon.PLACING | {"has", "have", "had", "does", "do", "did", "will", "would", "can", "could", "may", "might"}
_BACK = frozenset((",", "and", "or", "&", "as", "well", "also", "together", "along", "besides", "alongside"))
_OPENED = frozenset((":", "(", "|", "-", "–", "—"))
_ITEMS = frozenset((",", "and", "or", "&"))


@dataclass(frozen=True)
class Phrase:
    """Tokens [first, last) with what is wrong about them."""

    first: int
    last: int
    message: str


def denials(tokens: list[Token], first: int, last: int, free: Sequence[bool], claimed: Collection[int]) -> list[Phrase]:
    """Denials of admission: "was not admitted", "never mentions", "is missing from the plan", "left out".

    `claimed`: tokens of ranks, bins and numbers; a denial of those ("not listed first") is none of admission.
    """
    found = []
    for k in range(first, last):
        if not free[k]:
            continue
        word = tokens[k].text
        after = [t.text if free[i] else "" for i, t in enumerate(tokens[k + 1 : min(k + 7, last)], k + 1)] + [""] * 6
        end = None
        if (word in _NOT or word in lexicon.FAILURES) and after[0] not in ("only", "just", "merely"):
            end = _denied(after)
        elif word == "no" and after[0] in _KEPT and after[1] in _ABOUT:
            end = 1
        elif word in lexicon.ABSENT and (set(after[1:4]) & lexicon.WHOLES and after[0] in ("from", "in", "on")):
            end = None if negated(tokens, free, first, k) else 3
        elif word in _LEAVES and "" in after[:3] and not negated(tokens, free, first, k):
            end = 0 if {t.text for t in tokens[max(first, k - 5) : k]} & (_PLAN | {"selection", "mechanism"}) else None
        elif word in ("left", "fell", "falls", "dropped", "drops") and after[0] == "out":
            end = 1
        if end is not None and not any(i in claimed for i in range(k, min(k + end + 5, last))):
            found.append(Phrase(k, min(k + 1 + end, last), "the plan admits this"))
    return found


def _denied(after: list[str]) -> int | None:
    """How far a denial of admission reaches after its negation, or None where it denies something else."""
    for i, word in enumerate(after[:4]):
        if word == "":
            return None
        if word in _SEES and "" in after[i + 1 : i + 3]:
            return i + 1
        if word in lexicon.ADMISSION or word in _MENTION:
            return i + 1
        if word in ("make", "made", "enter", "reach") and set(after[i + 1 : i + 4]) & (lexicon.WHOLES | lexicon.LISTS):
            return i + 3
        if word in ("in", "of", "among") and set(after[i + 1 : i + 4]) & _PLAN:
            return None if set(after[i + 1 : i + 4]) & (lexicon.TOP | lexicon.BOTTOM | {"most", "least"}) else i + 3
        if word not in (
            "been",
            "be",
            "in",
            "a",
            "the",
            "even",
            "at",
            "all",
            "get",
            "itself",
            "to",
            "any",
            "there",
            "found",
        ):
            return None
    return None


def unknown_names(
    tokens: list[Token],
    first: int,
    last: int,
    free: Sequence[bool],
    words: Contents,
    owners: Owners,
    claims: Sequence[int],
) -> list[Phrase]:
    """Phrases of words from nowhere that a sentence puts in the place of an atom.

    Beside an atom in a list ("A, tall trees and B"), as what a claim is about (token positions `claims`: "tall trees
    are third"), or as what the plan is said to hold ("the plan lists tall trees").
    """
    odd = [k for k in range(first, last) if words.unknown(k)]
    if not odd:
        return []
    found: dict[int, Phrase] = {}
    clauses: dict[int, list[int]] = {}
    for k in odd:
        if not words.strange(k):
            continue
        clauses.setdefault(owners.clause(k), []).append(k)
    held = {owners.clause(group.first) for group in owners.groups}
    told = {owners.clause(k) for k in claims}
    # "tall trees: forty", "tall trees (4 %)": what follows the mark is said of what stands before it
    opened = {owners.clause(k): k for k in range(last - 1, first, -1) if tokens[k].text in _OPENED}
    told |= {clause - 1 for clause in opened if clause in told and clause not in held}
    edges = {group.first for group in owners.groups}, {group.last for group in owners.groups}
    framed = any(free[k] and tokens[k].text in _FRAMES for k in range(first, last))
    for clause, places in clauses.items():
        if clause in held:
            continue
        begin, end = places[0], places[-1] + 1
        if clause in told:
            found[clause] = Phrase(begin, end, "a claim about what the plan does not name")
        elif last - first <= _SHORT and framed:
            found[clause] = Phrase(begin, end, "said to be in the plan, which does not name it")
        elif _listed(tokens, first, last, begin, end, edges):
            found[clause] = Phrase(begin, end, "named beside themes of the plan, but not one of them")
    for k in odd:
        clause = owners.clause(k)
        if clause not in found and _told(tokens, k, first, last, free, words):
            run = clauses.get(clause, [k])
            found[clause] = Phrase(k, max(run[-1] + 1, k + 1), "not a theme of the plan")
    return list(found.values())


def _listed(tokens: list[Token], first: int, last: int, begin: int, end: int, edges: tuple[set[int], set[int]]) -> bool:
    """Whether the words [begin, end) are an item of a list next to a mention, with no verb of their own."""
    left = begin - 1
    while left >= first and begin - left <= 6 and tokens[left].text in _STEPS - {"and"}:
        left -= 1
    right = end
    while right < last and right - end < 8 and tokens[right].text not in _ITEMS | {".", ":", "("}:
        if tokens[right].text in _FINITE:
            break
        right += 1
    if any(tokens[k].text in _FINITE for k in range(max(first, left + 1), end) if tokens[k - 1].text != "that"):
        return False
    after = right
    while (
        after < last and after - right < 5 and (tokens[after].text in _ITEMS or tokens[after].text in lexicon.ARTICLES)
    ):
        after += 1
    beside = left > first and tokens[left].text == "with" and tokens[left - 1].text in ("together", "along")
    beside = beside or (left >= first and tokens[left].text in ("besides", "alongside"))
    if beside:
        left -= tokens[left].text == "with"
        left -= left > first and tokens[left - 1].text == ","
    joined_left = beside or (left >= first and tokens[left].text in _ITEMS | {"as", "well"})
    skipped = {token.text for token in tokens[left + 1 : begin]}
    if left + 1 in edges[1] and skipped & (_ITEMS | {"as"}):
        return True
    back = left
    while back >= first and left - back < 5 and tokens[back].text in _BACK:
        back -= 1
    return (joined_left and back + 1 in edges[1]) or (
        right < last and tokens[right].text in _ITEMS and after in edges[0]
    )


def _told(tokens: list[Token], k: int, first: int, last: int, free: Sequence[bool], words: Contents) -> bool:
    """Whether the plan is said to hold the word at k: "lists k", "the theme k", "k was admitted"."""
    i = k - 1
    steps = lexicon.ARTICLES | lexicon.THEMES | {":", "also", "both", "“", '"', "as", "-", "well"}
    theme = False
    while i >= first and k - i <= 6 and free[i] and tokens[i].text in steps:
        theme = theme or tokens[i].text in lexicon.SINGULARS - _VAGUE
        i -= 1
    if _held_before(tokens, i, k, first, free, theme):
        return True
    j = k + 1
    while j < last and j - k <= 6 and free[j] and tokens[j].kind == "word" and tokens[j].text not in _TELLS:
        j += 1
    rest = [t.text for t in tokens[j : min(j + 6, last)]]
    near = set(rest[1:5])
    if rest[:1] and rest[0] in ("made", "make", "makes", "entered"):
        return bool(near & (lexicon.WHOLES | lexicon.LISTS))
    if rest[:1] and rest[0] in _TELLS:
        told = bool(near & {"admitted", "listed", "released", "selected", "included", "retained"})
        return told or ("theme" in near and "a" in near) or "among" in near or {"one", "of"} <= near
    return False


def _held_before(tokens: list[Token], i: int, k: int, first: int, free: Sequence[bool], theme: bool) -> bool:
    """Whether the words up to i say that the plan holds k: "the plan lists k", "themes are k", "the theme k"."""
    named = [tokens[j].text if free[j] else "" for j in range(max(first, k - 4), k)]
    for j, text in enumerate(named):
        the = text in lexicon.SINGULARS - _VAGUE and named[j - 1 if j else 0] == "the"
        if the and all(word and word not in _FINITE for word in named[j + 1 :]):
            return True
    if i < first or not free[i]:
        return theme and i == k - 2
    word = tokens[i].text
    before = {t.text for t in tokens[max(first, i - 6) : i]}
    if word in lexicon.TELLING | {"tells", "speaks", "admits"} and before & (_PLAN | {"themes", "it", "also"}):
        return True
    if word in ("is", "are", "include", "includes", "including", "was", "were") and before & lexicon.THEMES:
        return k - i <= 3
    if theme and tokens[k - 1].text == "of":
        return True
    # "also part of the plan: k", "among the released labels we find k"
    opened = ":" in {t.text for t in tokens[i + 1 : k]} or (word in ("find", "see", "meet", "have") and k - i <= 3)
    return opened and bool({t.text for t in tokens[max(first, i - 8) : k]} & (lexicon.WHOLES | {"labels", "themes"}))


def inventions(tokens: list[Token], first: int, last: int, free: Sequence[bool], words: Contents) -> list[Phrase]:
    """Causes and advice told in words from nowhere: "the cooks should ...", "because of ..."."""
    odd = [k for k in range(first, last) if words.strange(k)]
    if not odd:
        return []
    for k in range(first, last):
        if not free[k]:
            continue
        word = tokens[k].text
        if word in lexicon.ADVICE | lexicon.CAUSES and (word != "due" or (k + 1 < last and tokens[k + 1].text == "to")):
            return [Phrase(min(k, odd[0]), max(k, odd[-1]) + 1, "a plan gives no cause and no advice")]
    return []
