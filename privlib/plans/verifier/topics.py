"""What a sentence says the plan speaks of: the words that could name a theme, and the places that hold one."""

from __future__ import annotations

from collections.abc import Sequence

from privlib.plans.verifier import lexicon
from privlib.plans.verifier.owners import Owners
from privlib.plans.verifier.tokens import Token

_TELLS = frozenset(
    ("is", "are", "was", "were", "may", "might", "could", "has", "have", "made", "make", "makes", "entered")
)
_FRAMES = lexicon.ADMISSION - {"appear", "appears", "part", "present", "reported"}
_FRAMES |= {"admission", "selection", "theme", "themes"}
_PLACES = lexicon.HOLDERS | lexicon.WHOLES | {"entry", "cut", "filter", "selection"}
_INTO = frozenset(
    ("in", "on", "onto", "into", "among", "through", "past", "made", "makes", "make", "reached", "entered")
)
_INTO |= {"joined", "passed", "has", "have", "its", "own", "earned"}
_FRAMES |= {"published", "publication", "survived", "picked", "kept", "represented", "chosen", "returned"}
_HEADS = frozenset(("something", "line", "lines", "row", "rows", "entry", "word", "question", "attention"))
_HEADS |= {"devoted", "dedicated", "concern", "writing", "letters", "theme", "topic", "subject", "issue"}
_SAID = lexicon.SPEAKING | {"wrote", "complained", "mentioned", "talked", "asked", "raised"}
_PREPOSITIONS = frozenset(("about", "on", "upon", "of", "to", "for", "concerning", "regarding", "with"))
_SHORT = 24  # tokens of a sentence that says no more than what is in the plan
_VIEWS = frozenset(("dashboard", "overview", "data", "chart", "document", "publication"))
_VAGUE = frozenset(("one", "label", "point", "matter", "entry", "item"))
_PLAN = lexicon.WHOLES | {"themes", "topics"}
_FINITE = lexicon.PLACING | {"has", "have", "had", "does", "do", "did", "will", "would", "can", "could", "may", "might"}
_RELATIVES = frozenset(("that", "who", "which", "whoever"))
_BE = frozenset(("be", "been", "being", "is", "are", "was", "were", "get", "gets", "got"))
_PRONOUNS = frozenset(("i", "we", "you", "they", "he", "she", "it", "us", "me"))
_MODALS = frozenset(("will", "would", "can", "could", "may", "might", "shall", "should", "must", "please"))
_MODALS |= {word for word in lexicon.NEGATIONS if word.endswith("n't")}
_READY = frozenset(("happy", "glad", "pleased", "delighted", "ready", "keen", "eager", "sorry", "welcome", "please"))
_PAPERS = frozenset(
    ("draft", "memo", "note", "notes", "version", "copy", "text", "sketch", "slide", "slides", "letter")
)
_PAPERS |= {"mail", "handout", "briefing", "summary", "report", "minutes", "recap", "script", "update", "outline"}
_TIMED = frozenset(("before", "after", "by", "during", "from"))
_ADDRESS = _TIMED | {"for", "to", "at", "in"}
_ANY = frozenset(("no", "any", "single", "individual", "each", "every", "anybody"))
_ASIDE = frozenset(("from", "by", "in", "at", "outside", "of", "under", "since", "until", "between", "within", "into"))
_ASIDE |= {"with", "without", "like", "through", "during", "behind", "beyond", "than", "per", "via"}
_BY = frozenset(("side", "step", "day", "line", "bit", "case", "point", "piece", "week", "year"))
_NOUNS_IN_LY = frozenset(("family", "supply", "reply", "assembly", "anomaly", "monopoly", "belly", "jelly", "bully"))
_NOUNS_IN_LY |= {"fly", "butterfly", "ally", "italy", "july", "lily", "holly"}


def nameless(tokens: list[Token], k: int, first: int, last: int) -> bool:
    """Whether the unknown word at k can head no name of a theme, by its form or by its place in the sentence.

    An adverb, a superlative of a known word, a contraction; a verb after "we" or "would"; what describes a part of
    the report ("an approximate weight"); who says or did something ("the regulator notes that").
    """
    word = tokens[k].text
    before = tokens[k - 1].text if k > first else ""
    after = tokens[k + 1].text if k + 1 < last else ""
    if word.endswith("ly") and len(word) > 4 and word not in _NOUNS_IN_LY:
        return True
    around = [token.text for token in tokens[max(first, k - 2) : min(k + 3, last)]]
    if word in _BY and around.count(word) > 1 and "by" in around:
        return True  # "side by side"
    if word.partition("'")[1] and word.partition("'")[0] in lexicon.public_words():
        return True
    if word.endswith("est") and {word[:-3], word[:-2], word[:-4], word[:-4] + "y"} & lexicon.plain_words():
        return True
    if before == "to" and k - 1 > first and tokens[k - 2].text in _READY:
        return True  # "happy to walk you through the table"
    if _addressed(tokens, k, first, last):
        return True
    if before in _PRONOUNS | _MODALS or after in lexicon.DOCUMENT or _predicate(tokens, k, first):
        return True
    if word != "longer" and {t.text for t in tokens[max(first, k - 3) : k]} & _ANY:
        return True
    return _speaks(tokens, k, last)


def _addressed(tokens: list[Token], k: int, first: int, last: int) -> bool:
    """Whether the word at k is for whom or when a paper is made: "draft for the newsroom", "a note before lunch".

    It ends the phrase that opens a sentence; before a colon only a time or an author is taken ("note for k: 12").
    """
    near = [token.text for token in tokens[first : min(k, first + 10)]]
    if k - first >= 10 or not _PAPERS & set(near[:6]) or (lexicon.VERBS | _FINITE) & set(near):
        return False
    at = next((j for j in range(k - 1, max(first, k - 4), -1) if tokens[j].text in _ADDRESS), None)
    if at is None or any(token.kind == "mark" for token in tokens[first + 1 : k]):
        return False
    ends = tokens[k + 1].text if k + 1 < last else ""
    timed = tokens[at].text in _TIMED
    pointed = tokens[at + 1].text in ("the", "our", "my", "your", "this")
    return timed if ends == ":" else ends in ("", ",", ".", "!", ")") and (timed or pointed)


def denied_of(tokens: list[Token], k: int, first: int) -> bool:
    """Whether nothing or nobody is the subject of the clause that the word at k stands in: "nothing speaks of k"."""
    i = k
    while i > first and k - i < 14 and tokens[i - 1].text not in lexicon.BREAKS:
        i -= 1
    opening = [token.text for token in tokens[i : min(i + 2, k)]]
    if "that" in {token.text for token in tokens[i:k]}:
        return False  # "nobody doubts that the plan lists k"
    return opening[:1] in (["nothing"], ["nobody"]) and opening[1:2] not in (["but"], ["except"], ["beats"])


def _predicate(tokens: list[Token], k: int, first: int) -> bool:
    """Whether the word at k is what is said of a subject ("it was agreed"), not of one thing ("that was unwrapped")."""
    told = (
        tokens[k].text.endswith("ed") and k > first and tokens[k - 1].text in _BE | {",", "remain", "remains", "stays"}
    )
    return told and not {t.text for t in tokens[max(first, k - 4) : k]} & _RELATIVES


def _speaks(tokens: list[Token], k: int, last: int) -> bool:
    """Whether the noun at k is the subject of an active verb of saying or doing ("landlords kept")."""
    for j in range(k + 1, min(k + 6, last)):
        word = tokens[j].text
        if word in lexicon.BREAKS or word in _RELATIVES or word in _BE or tokens[j].kind == "mark":
            return False
        if word in lexicon.DEEDS and not (word in lexicon.DOCUMENT and tokens[j - 1].text in lexicon.ARTICLES):
            return True  # but not "in the release"
    return False


def framed(
    tokens: list[Token], first: int, last: int, free: Sequence[bool], owners: Owners, places: Sequence[int]
) -> bool:
    """Whether a short sentence about what the plan holds has these words of one clause for its topic.

    The clause must have the frame ("a line is devoted to ..."), or have no verb of its own.
    """
    if last - first > _SHORT:
        return False
    clause = owners.clause(places[0])
    if _aside(tokens, places[0], first, free):
        return False
    framing = [
        k for k in range(first, last) if free[k] and (tokens[k].text in _FRAMES or _placed(tokens, k, places[0], first))
    ]
    if not framing:
        return False
    if any(owners.clause(k) == clause for k in framing):
        return True
    return not any(
        tokens[k].text in _FINITE and tokens[k - 1].text not in _RELATIVES and not _admitting(tokens, k, last)
        for k in range(first, last)
        if owners.clause(k) == clause and free[k]
    )


def _placed(tokens: list[Token], k: int, place: int, first: int) -> bool:
    """Whether the word at k is the list that something stands on: "k figures in the tally", "on the list, k ..."."""
    if tokens[k].text not in _PLACES:
        return False
    return bool({t.text for t in tokens[max(first, k - 4, place + 1 if place < k else first) : k]} & _INTO)


def _aside(tokens: list[Token], k: int, first: int, free: Sequence[bool]) -> bool:
    """Whether a preposition puts the word at k beside what the sentence is about ("the visitors of this library")."""
    for j in range(k - 1, max(first, k - 4) - 1, -1):
        if not free[j] or tokens[j].kind == "mark" or tokens[j].text in _FINITE:
            return False
        made = tokens[j].text == "for" and tokens[first].text in ("i", "we") and tokens[j + 1].text in ("the", "our")
        if tokens[j].text in _ASIDE or (made and tokens[j - 1].text not in lexicon.THEMES | _HEADS | {"place", "room"}):
            return True
    return False


def _admitting(tokens: list[Token], k: int, last: int) -> bool:
    return bool({t.text for t in tokens[k + 1 : min(k + 4, last)]} & (lexicon.ADMISSION | {"found", "seen", "its"}))


def spoken_of(tokens: list[Token], k: int, first: int, free: Sequence[bool]) -> bool:
    """Whether the phrase of the word at k is what something is about: "wrote about k", "something on k".

    A further item may repeat the preposition ("about A, and about k").
    """
    at = k - 1
    while at > first and k - at <= 5 and free[at] and tokens[at].text not in _PREPOSITIONS - {"of"}:
        if tokens[at].text in lexicon.BREAKS or tokens[at].text in _FINITE:
            return False
        at -= 1
    word = tokens[at].text
    if at <= first or not free[at] or word not in _PREPOSITIONS:
        return False
    if word == "of" and tokens[at - 1].text in ("matter", "question") and tokens[max(first, at - 3)].text in _BE:
        return True  # "then there is the matter of k"
    told = _HEADS | (_SAID if word in ("about", "of", "on", "upon", "concerning", "regarding") else frozenset())
    for j in range(at - 1, max(first, at - 30) - 1, -1):
        if tokens[j].text in told and (free[j] and (at - j <= 5 or _repeated(tokens, j, at, word))):
            return True
    return False


def _repeated(tokens: list[Token], j: int, at: int, word: str) -> bool:
    """Whether the same preposition stands right after the head at j, and again at `at` after "and" or a comma."""
    again = {t.text for t in tokens[max(j, at - 4) : at]}
    return word in {t.text for t in tokens[j + 1 : min(j + 4, at)]} and bool(again & {"and", ","})


def added(tokens: list[Token], k: int, first: int, last: int, free: Sequence[bool]) -> bool:
    """Whether the word at k begins what a sentence adds: "then there is k", "next to k, ...", "what else? k"."""
    i = k - 1
    while i > first and k - i <= 3 and free[i] and tokens[i].text in lexicon.ARTICLES - {"of", "to", "on"}:
        i -= 1
    before = [t.text for t in tokens[max(first, i - 1) : i + 1]]
    if before in (["next", "to"], ["apart", "from"], ["addition", "to"]):
        return i - 1 <= first + 1
    if before[:1] == ["there"] and before[1:] and before[1] in ("is", "are", "was", "were"):
        return bool(
            {t.text for t in tokens[max(first, k - 12) : min(k + 12, last)]}
            & {"then", "also", "too", "besides", "further"}
        )
    if tokens[k - 1].text == ":" and tokens[max(first, k - 2)].text in ("forgotten", "overlooked", "ignored", "missed"):
        return True  # "not to be forgotten: k"
    mark = next((j for j in range(k - 1, max(first, k - 4), -1) if tokens[j].text == "?"), None)
    return (
        mark is not None
        and tokens[first].text == "what"
        and not any(t.text in _FINITE for t in tokens[mark : min(k + 12, last)])
    )


def told(tokens: list[Token], k: int, first: int, last: int, free: Sequence[bool]) -> bool:
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
    if rest[:1] and rest[0] in _TELLS and (rest[0] in _BE or {"be", "been", "one", "a", "its"} & near):
        if rest[0] == "has" and near & {"row", "line", "entry", "place"}:
            return True
        kept = bool(near & {"admitted", "listed", "released", "selected", "included", "retained"})
        return kept or ("theme" in near and "a" in near) or "among" in near or {"one", "of"} <= near
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
    if word in _BE | {"does", "do", "did", "has", "have"} and i > first and tokens[i - 1].text in ("so", "as"):
        return True  # "A is listed, and so is k"
    before = {tokens[j].text for j in range(max(first, i - 6), i) if free[j]}
    if word in lexicon.SHOWING and i > first and tokens[i - 1].text in lexicon.WHOLES | lexicon.HOLDERS | _VIEWS:
        return True
    if word in lexicon.CHOOSING and before & {"mechanism", "selection", "filter", "algorithm", "procedure"}:
        return True
    if word in lexicon.TELLING | {"tells", "speaks", "admits"} and before & (_PLAN | {"themes", "it", "also"}):
        return True
    if word in ("is", "are", "include", "includes", "including", "was", "were", "reads") and before & lexicon.THEMES:
        return k - i <= 3
    if theme and tokens[k - 1].text == "of":
        return True
    # "also part of the plan: k", "among the released labels we find k"
    opened = ":" in {t.text for t in tokens[i + 1 : k]} or (word in ("find", "see", "meet", "have") and k - i <= 3)
    return opened and bool({t.text for t in tokens[max(first, i - 8) : k]} & (lexicon.WHOLES | {"labels", "themes"}))
