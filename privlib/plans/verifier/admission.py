"""What a sentence says about who is in the plan: names from nowhere, admitted ones denied, causes and advice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from privlib.plans.verifier import lexicon, topics
from privlib.plans.verifier.owners import Owners
from privlib.plans.verifier.promises import UNTRUE, negated
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

_NOT = frozenset(w for w in lexicon.NEGATIONS if w not in ("no", "nor", "hardly", "without", "neither", "nowhere"))
_GAINS = frozenset(("has", "have", "had", "gets", "got", "earned", "earns", "found", "finds", "won", "wins", "takes"))
_GAINS |= {"took", "holds", "held", "given", "gained", "received", "receives", "makes", "made", "deserved", "claims"}
_SPOTS = frozenset(("row", "line", "entry", "mention", "rank", "place", "spot"))
_KEPT = _SPOTS | lexicon.SINGULARS | {"mention", "trace", "sign", "place", "room", "space", "line", "row"}
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
_GONE = frozenset(
    ("dropped", "discarded", "removed", "rejected", "struck", "suppressed", "withheld", "cut", "eliminated", "barred")
)
_LEAVES |= {"rejected", "rejects", "stopped", "stops", "refused", "blocked", "missed"}
DENYING = (lexicon.NEGATIONS - {"nor"}) | lexicon.FAILURES | lexicon.ABSENT | _LEAVES | _GONE
DENYING |= {"suppress", "drop", "reject", "remove", "withhold", "discard", "deny"}
DENYING |= {"nobody", "none", "nothing", "silent", "outside", "unlike", "vain", "lack", "lacking"}
_BE = frozenset(("been", "was", "were", "is", "are", "got", "be"))
_AWAY = {word: ("over", "back", "out", "off", "aside") for word in ("passed", "held", "kept", "filtered", "ruled")}
_AWAY |= dict.fromkeys(
    ("screened", "weeded", "struck", "crossed", "sorted", "turned", "shut", "thrown"), ("out", "off", "away")
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
_LOST = frozenset(
    [
        ("left", "off"),
        ("turned", "down"),
        ("fell", "through"),
        ("fell", "victim"),
        ("falls", "victim"),
        ("slipped", "through"),
    ]
)
_SPENT = frozenset(("devoted", "is", "was", "said", "say", "released", "written", "heard", "goes", "went", "speaks"))
_SPENT |= {"tells", "talks", "reports", "speak", "says"}
_MUTE = frozenset(("silent", "mute", "quiet"))
_WRITERS = frozenset(("i", "we", "my", "our"))
_SHOWN = frozenset(("featured", "feature", "shown", "represented", "pass", "occur", "covered"))
_COMES = frozenset(("come", "came", "get", "got", "turn", "turned", "show", "crop"))
_CHOSEN = frozenset(("chosen", "picked", "kept", "returned", "published", "let"))
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
        after = [t.text if free[i] else "" for i, t in enumerate(tokens[k + 1 : min(k + 9, last)], k + 1)] + [""] * 6
        end = None
        if (word in _NOT or word in lexicon.FAILURES) and after[0] not in ("only", "just", "merely"):
            end = _denied(after)
            if end is None and after[0] in ("have", "has", "hold") and "" in after[1:3]:
                end = 1 if {t.text for t in tokens[max(first, k - 4) : k]} & _PLAN else None
        elif word == "no" and after[0] in _KEPT and after[1] in _ABOUT:
            end = 1
        elif word == "no" and k + 1 < last and not free[k + 1]:
            end = 0  # "there is no A"
        elif word == "no" and k > first and tokens[k - 1].text in _GAINS:
            plan = {t.text for t in tokens[max(first, k - 4) : k]} & _PLAN
            end = 0 if (after[0] in _SPOTS and _ends(after[1:])) or (after[0] == "" and plan) else None
        elif (reach := _missing(tokens, k, first, last, free, after)) is not None:
            end = None if negated(tokens, free, first, k) else reach
        elif word in _LEAVES and "" in after[:3] and not negated(tokens, free, first, k):
            end = 0 if {t.text for t in tokens[max(first, k - 5) : k]} & (_PLAN | {"selection", "mechanism"}) else None
        elif word in ("left", "fell", "falls", "dropped", "drops") and after[0] == "out":
            end = 1
        if end is not None and not any(i in claimed for i in range(k, min(k + end + 5, last))):
            found.append(Phrase(k, min(k + 1 + end, last), "the plan admits this"))
    return found


def _missing(tokens: list[Token], k: int, first: int, last: int, free: Sequence[bool], after: list[str]) -> int | None:
    """How far words reach after k that say without a "not" that something was not admitted: "absent", "passed over"."""
    word = tokens[k].text
    told = k > first and tokens[k - 1].text in _BE
    if word in lexicon.ABSENT and (set(after[1:4]) & lexicon.WHOLES and after[0] in ("from", "in", "on")):
        return 3
    if (word in _GONE and told) or (word == "vain" and after[0] == "for"):
        return 0
    unsaid = word[:2] == "un" and word[2:] in lexicon.ADMISSION | {"published", "ranked", "named", "recorded"}
    if (unsaid or word in lexicon.ABSENT - {"nowhere"}) and _ends(after) and not all(free[max(first, k - 40) : k]):
        return 0 if told or tokens[k - 1].text in ("remains", "remained", "goes", "went", "left") else None
    if word in ("but", "except", "save") and k > first and tokens[k - 1].text in ("all", "everything"):
        listed = {t.text for t in tokens[k : min(k + 12, last)]} & (lexicon.ADMISSION | {"ranked", "named", "kept"})
        return 0 if after[0] == "" and listed else None
    if word == "nowhere" and after[:2] == ["to", "be"]:
        return 2
    plan = {t.text for t in tokens[max(first, k - 4) : k]} & _PLAN
    if word in ("without", "missing") and plan and "" in after[:2]:
        return 0
    if word == "outside" and set(after[:3]) & lexicon.WHOLES:
        return 2
    if word == "nothing" or (word == "no" and after[0] in ("row", "line", "entry", "word")):
        reach = next((i for i, text in enumerate(after[:7]) if text in ("about", "on", "to", "of")), None)
        if reach is not None and "" in after[reach + 1 : reach + 3] and set(after[:reach]) & _SPENT:
            return reach + 1
    if (word, after[0]) in _LOST or (word == "lost" and after[0] == "its" and after[1] in ("place", "row")):
        return 1
    if word == "out" and tokens[k - 1].text in _BE | {"stays", "remains"} and k > first:
        left = after[0] == "of" and set(after[1:4]) & lexicon.WHOLES
        return 0 if left or after[0] in ("", ".", ",") else None
    if word in ("leaves", "leave") and plan and "" in after[:3]:
        return 1 if "out" in {t.text for t in tokens[k : min(k + 12, last)]} else None
    if (word == "not" and after[:2] == ["a", "word"]) or (word == "no" and after[0] in ("mention", "trace", "sign")):
        return 2 if "" in after else None
    had = k - first > 1 and tokens[k - 1].text in ("has", "have", "had") and not free[k - 2]
    if had and word == "nothing" and after[0] == "on":
        return None  # "A has nothing on B"
    if word in ("nowhere", "nothing") and "" in after:
        named = after[0] in ("about", "on", "of", "concerning") and "" in after[1:3]
        return 1 if named or (word == "nowhere" and set(after) & (lexicon.TELLING | _SEES)) else None
    if word == "missed" and after[0] == "the" and after[1] in ("cut", "list", "plan", "selection", "threshold"):
        return 2
    if (word in _AWAY and after[0] in _AWAY[word] and after[1] != "to") or (
        word in _MUTE
        and not _told_by_writer(tokens, k, first)
        and after[0] in ("on", "about", "regarding")
        and not all(free[k + 2 : min(k + 5, last)])
    ):
        return 1
    said = {t.text for t in tokens[k : min(k + 14, last)]} & (lexicon.ADMISSION | {"kept"})
    return 1 if word in UNTRUE and after[0] in ("to", "that") and said else None


def _told_by_writer(tokens: list[Token], k: int, first: int) -> bool:
    """Whether the writer is the subject of the words at k: "I have kept silent on ..."."""
    return not _WRITERS.isdisjoint(token.text for token in tokens[max(first, k - 5) : k])


def _ends(after: list[str]) -> bool:
    """Whether a clause ends here, or tells from what."""
    return after[0] in ("", ",", ".", ")", "and", "but", "from", "in", "on", "here") or after[0] in lexicon.BREAKS


def _denied(after: list[str]) -> int | None:
    """How far a denial of admission reaches after its negation, or None where it denies something else."""
    for i, word in enumerate(after[:4]):
        if word == "":
            return None
        if word in _SEES and "" in after[i + 1 : i + 3]:
            return i + 1
        if word == "let" and after[i + 1] in ("us", "you", "one", "me"):
            return None
        if (word == "ranked" and _ends(after[i + 1 :])) or (word in ("rank", "ranks") and not any(after[i + 1 :])):
            return i + 1
        if word in lexicon.ADMISSION | _CHOSEN or word in _MENTION or word in ("survive", "qualify", "figure"):
            return i + 1
        if (word in ("make", "made") and after[i + 1] == "it") or (
            word in ("get", "got") and after[i + 1] == "through"
        ):
            return i + 2
        if word in _SHOWN or (word in _COMES and after[i + 1] in ("through", "in", "up")):
            return i + 1 + (word in _COMES)
        if word == "hear" and after[i + 1] in ("of", "about") and "" in after[i + 2 : i + 4]:
            return i + 2
        if word == "there" and i == 0 and after[1] in ("", ".", ","):
            return i + 1
        if word == "any" and i == 0 and after[1] == "":
            return i + 1
        if (word == "in" and after[i + 1] in ("there", "here")) or (word == "on" and after[i + 1] == "it"):
            return i + 2
        if word == "one" and after[i + 1] == "of" and set(after[i + 2 : i + 4]) & ({"them", "these"} | lexicon.THEMES):
            return i + 3
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
    odd = [k for k in range(first, last) if words.unknown(k) and k not in claims]
    if not odd:
        return []
    own = lexicon.form_words()
    found: dict[int, Phrase] = {}
    clauses: dict[int, list[int]] = {}
    for k in odd:
        if not words.strange(k) or topics.nameless(tokens, k, first, last) or topics.denied_of(tokens, k, first):
            continue
        if tokens[k].stem in own:
            continue
        clauses.setdefault(owners.clause(k), []).append(k)
    held = {owners.clause(group.first) for group in owners.groups}
    told = {owners.clause(k) for k in claims}
    # "tall trees: forty", "tall trees (4 %)": what follows the mark is said of what stands before it
    opened = {owners.clause(k): k for k in range(last - 1, first, -1) if tokens[k].text in _OPENED}
    told |= {clause - 1 for clause in opened if clause in told and clause not in held}
    # ... and "third: tall trees" the other way round
    told |= {c for c, k in opened.items() if tokens[k].text == ":" and c - 1 in told and c - 1 not in held}
    edges = {group.first for group in owners.groups}, {group.last for group in owners.groups}
    for clause, places in clauses.items():
        if clause in held:
            continue
        begin, end = places[0], places[-1] + 1
        if clause in told:
            found[clause] = Phrase(begin, end, "a claim about what the plan does not name")
        elif (
            any(topics.added(tokens, k, first, last, free) for k in places)
            or topics.framed(tokens, first, last, free, owners, places)
            or any(topics.spoken_of(tokens, k, first, free) for k in places)
        ):
            found[clause] = Phrase(begin, end, "said to be in the plan, which does not name it")
        elif _listed(tokens, first, last, begin, end, edges):
            found[clause] = Phrase(begin, end, "named beside themes of the plan, but not one of them")
    for k in odd:
        clause = owners.clause(k)
        if topics.nameless(tokens, k, first, last) or (clause in held and not all(free[k : min(k + 5, last)])):
            continue  # what stands before a name describes it: "delivery to the wrong doorstep"
        if clause not in found and not topics.denied_of(tokens, k, first) and topics.told(tokens, k, first, last, free):
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
