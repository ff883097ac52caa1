"""What stands in the place of a topic: as subject, object or item of a sentence that tells what the plan holds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from privlib.plans.verifier import lexicon, topics
from privlib.plans.verifier.admission import DENYING, Phrase
from privlib.plans.verifier.clauses import BESIDE, clauses
from privlib.plans.verifier.tokens import Token
from privlib.plans.verifier.words import Contents

_BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "remains", "stays", "became", "becomes"))
_AUX = _BE | {"has", "have", "had", "does", "do", "did", "will", "would", "can", "could", "may", "might", "must"}
_MOVES = frozenset(("got", "get", "gets", "came", "come", "comes", "went", "goes", "go", "let", "turn", "turns"))
_MOVES |= {"turned", "show", "shows", "showed", "crop", "crops", "cropped", "pop", "pops", "brought", "slipped", "put"}
_THROUGH = frozenset(("through", "in", "up", "forward", "across", "past", "forth", "down"))
_KEEPS = frozenset(("has", "have", "had", "gets", "get", "got", "takes", "took", "takes", "holds", "held", "finds"))
_KEEPS |= {"found", "earned", "earns", "deserved", "deserves", "won", "wins", "fills", "filled", "occupies", "gains"}
_KEEPS |= {"gained", "claims", "claimed", "receives", "received", "given", "makes", "made", "reached", "reaches"}
_KEEPS |= {"cleared", "clears", "beat", "joins", "joined", "entered", "enters", "passed", "passes", "survived"}
_GATES = lexicon.WHOLES | lexicon.HOLDERS | {"bar", "cut", "filter", "selection", "output", "agenda", "place", "spot"}
_GATES |= {"space", "room", "grade", "gate", "hurdle", "publication", "release", "vocabulary", "final", "mention"}
_INTO = frozenset(("in", "on", "into", "onto", "among", "amongst", "through", "past", "over", "inside", "of", "within"))
_PASSES = lexicon.ADMISSION | {"kept", "picked", "chosen", "published", "named", "raised", "discussed", "written"}
_PASSES |= {"survived", "survives", "qualified", "qualifies", "features", "featured", "figures", "surfaced", "emerged"}
_PASSES |= {"surfaces", "emerges", "arises", "arose", "occurs", "occurred", "exists", "belongs"}
_PASSES |= {"noted", "recorded", "told", "heard", "spoken", "represented", "matters", "mattered", "disclosed", "shown"}
_PASSES |= {"acknowledged", "entered", "cited", "addressed", "among", "topped", "stands"}
_SPEECH = lexicon.SPEAKING | lexicon.DEEDS | lexicon.THEMES | lexicon.HOLDERS | lexicon.RECORDS | lexicon.WHOLES
_SPEECH |= {"read", "reads", "hear", "hears", "talk", "talks", "talked", "speaks", "remark", "remarks", "comment"}
_SPEECH |= {"comments", "word", "words", "something", "feedback", "question", "questions", "thought", "thoughts"}
_SPEECH |= {"touches", "touched", "letter", "letters", "remarked", "commented", "wondering", "wonder", "wondered"}
_SPEECH |= {"discussion", "discussions", "concern", "concerned", "story", "matter", "cared", "silent", "nothing"}
_PLACE = frozenset(("row", "rows", "line", "entry", "place", "room", "space", "case", "mention", "slot", "spot"))
_LOOKS = frozenset(("look", "looks", "looking", "looked", "search", "searching", "searched", "glance"))
_GIVEN = frozenset(("devoted", "dedicated", "granted", "refer", "refers", "referred", "belongs", "given", "attention"))
_GIVEN |= {"relates", "related", "turned", "turns", "came", "comes", "goes", "due", "relating", "pointed", "pointing"}
# prepositions before a topic, and what stands before them
_ABOUT = dict.fromkeys(("about", "on", "of", "upon", "concerning", "regarding", "around", "over"), _SPEECH)
_ABOUT |= {"for": _PLACE | _LOOKS, "at": _LOOKS, "to": _GIVEN, "with": {"deal", "deals", "dealt", "concerned", "do"}}
_TELLS = lexicon.TELLING | lexicon.SHOWING | lexicon.CHOOSING | lexicon.SPEAKING | lexicon.DEEDS
_TELLS |= {"concern", "concerns", "concerned", "called", "include", "featured", "keep", "feature", "raise", "raises"}
_TELLS |= {"admit", "believe", "brings", "published", "lists", "shows", "hold", "held", "up", "sees"}
_TELLS |= {"presents", "offers", "gives", "covers", "cites", "touches", "noticed", "notice", "discussed", "discusses"}
_TELLS |= {"released", "reports", "reported", "recorded", "listed", "included", "named", "covered", "contained", "took"}
_TELLS |= {"spot", "spots", "spotted", "detect", "detects", "detected", "uncovers", "uncovered"}
_TELLS -= {"note", "notes", "say", "says", "said", "ask", "asks", "asked", "tell", "tells", "told", "write", "release"}
_NAMED = lexicon.SINGULARS | lexicon.PLURALS | {"another", "one", "others", "rest", "label", "labels", "rows", "row"}
_VERBS = _AUX | lexicon.VERBS_MORE | lexicon.VERBS_LESS | lexicon.PLACING | lexicon.DEEDS | lexicon.TELLING | _MOVES
_VERBS |= lexicon.SHOWING | lexicon.CHOOSING | _KEEPS | {"i", "you", "we", "they", "it", "he", "she", "this", "that"}
_FRAME = _GATES | _PASSES | _SPEECH | _PLACE | _LOOKS | _GIVEN | _KEEPS | DENYING
_STOPS = _AUX | {"in", "from", "by", "under", "at", "before", "after", "during", "without", "than", "per", "between"}
_DEEDS = frozenset(("being", "having", "getting", "going", "doing", "taking", "making", "leaving", "finding"))
_RELATIVES = frozenset(("that", "which", "who"))
_ADJUNCTS = (["by"], ["in"], ["at"], ["for"], ["to"], ["from"], ["with"], ["under"], ["per"], ["without"], ["of"])
_TOLD = _PASSES | _NAMED | _MOVES | lexicon.WHOLES | {"yes", "indeed"}
_BACK = 40  # tokens that a look back reaches
_AT_END = 14  # tokens of a predicate that are looked at


def vacant(tokens: list[Token], first: int, last: int, free: Sequence[bool], words: Contents) -> list[Phrase]:
    """Phrases with words from nowhere in the place of a topic, where no label stands in their clause.

    A place is the subject of a predicate of admission ("k cleared the bar"), the object of what tells or holds ("the
    list has k", "remarks on k"), what is called a theme ("another is k"), or an item beside such a place. Nouns of a
    report about itself (`lexicon.report_words`) are no topics, and what is said not to be in the plan is none of it.
    """
    spans = clauses(tokens, first, last)
    bare = all(free[first:last])
    told = [_told(tokens, begin, end, free) for begin, end, _ in spans]
    near = not bare or any(told)  # something that a phrase of company can stand beside
    denied = [0, *accumulate(token.text in DENYING for token in tokens[first:last])]
    found = []
    for at, (begin, end, _) in enumerate(spans):
        if not all(free[begin:end]):
            continue
        inner = _contents(tokens, begin, end, words)
        deed = [begin] if _gerund(tokens, begin, end) else []
        if not deed and not inner:
            continue
        inner = inner or deed
        left, right = inner[0], inner[-1] + 1
        scope = (first, last) if bare or tokens[begin].text == "neither" else (begin, end)
        rest = end if tokens[min(right, end - 1)].text in _RELATIVES else right  # "the air that nobody changes"
        denials = denied[left - first] - denied[scope[0] - first] + denied[scope[1] - first] - denied[rest - first]
        if denials % 2:
            continue
        head = [token.text for token in tokens[begin:left]]
        tail = [token.text for token in tokens[right : min(end, right + _AT_END)]]
        alone = light(head) and light(tail) and head[:1] not in _ADJUNCTS
        again = bool(at) and _repeated(head, tokens[max(first, begin - _BACK) : begin])
        if (
            any(_admitted([t.text for t in tokens[k + 1 : min(end, k + 1 + _AT_END)]]) for k in inner)
            or (not _AUX & set(tail) and (again or _governed(head)))
            or (alone and _placed(tokens, spans, at, free, told, near))
        ):
            found.append(Phrase(left, right, "in the place of a theme, and none of the plan"))
    return found


def is_topic(tokens: list[Token], begin: int, end: int, words: Contents) -> bool:
    """Whether the tokens [begin, end) could name a theme, and none of the plan."""
    return bool(_contents(tokens, begin, end, words)) or _gerund(tokens, begin, end)


def light(words: Sequence[str]) -> bool:
    """Whether there is no verb among these words."""
    return not _VERBS.intersection(words)


def _contents(tokens: list[Token], begin: int, end: int, words: Contents) -> list[int]:
    """The words that can make the name of a theme: two at least, or one that no list of ordinary words knows."""
    inner = [k for k in range(begin, end) if _content(tokens, k, begin, end, words)]
    return inner if len(inner) > 1 or (inner and words.strange(inner[0])) else []


def _content(tokens: list[Token], k: int, first: int, last: int, words: Contents) -> bool:
    """Whether a word can head or make the name of a theme."""
    word, stem = tokens[k].text, tokens[k].stem
    if not words.unknown(k) or stem in lexicon.report_words() or len(word) < 3 or word in _FRAME:
        return False
    if words.plain[k] and not {word, stem} & lexicon.plain_nouns():
        return False
    if word.endswith("ed") and k > first and tokens[k - 1].text in lexicon.DOCUMENT | {"has", "have", "had"}:
        return False  # "figures copied", "could have swapped"
    attributive = word.endswith("ly") and k > first and tokens[k - 1].text in ("the", "a", "an")
    return attributive or not topics.nameless(tokens, k, first, last)


def _gerund(tokens: list[Token], begin: int, end: int) -> bool:
    """Whether a clause begins with a deed, named by a verb too common to be a word from nowhere ("being billed")."""
    return end - begin > 2 and tokens[begin].text in _DEEDS


def _admitted(tail: list[str]) -> bool:
    """Whether a predicate says of its subject that it is in the plan, or was spoken of."""
    if tail[:1] and tail[0] in _RELATIVES:
        return False
    for i, word in enumerate(tail):
        near = tail[i + 1 : i + 6]
        if word in _PASSES or word in DENYING - lexicon.NEGATIONS:
            return True
        if word in ("make", "made", "makes") and near[:1] == ["it"]:
            return True
        if word in _MOVES and _THROUGH & set(near[:2]):
            return True
        if word in _KEEPS and _GATES & set(near):
            return True
        if word in _BE and (lexicon.THEMES & set(near) or near[:1] in (["there"], ["in"], ["here"], ["one"])):
            return True
        if word in _BE and near[:1] in (["on"], ["among"], ["part"]) and (_GATES & set(near) or not near[1:]):
            return True
    return False


def _governed(head: list[str]) -> bool:
    """Whether the words before a phrase end in a verb or preposition that takes a topic."""
    for i in range(len(head) - 1, max(0, len(head) - 6), -1):
        word, before = head[i], head[max(0, i - 6) : i]
        if word in _ABOUT and _ABOUT[word] & set(before):
            return True
        if word == "by" and {"held", "taken", "occupied", "filled", "followed"} & set(before):
            return True
        asked = before[:1] == ["what"] and not _SPEECH.isdisjoint(before)  # "what people wrote about was k"
        if word in _BE and (asked or _NAMED & set(before) or before[-1] in ("so", "there")):
            return True
        if word in ("does", "do", "did", "has", "have") and before[-1] == "so":
            return True
        noun = before[-1] in lexicon.ARTICLES  # "the list", "a show"
        if not noun and (word in _TELLS or word in ("let", "lets", "has", "have")):
            return True
        if word in _STOPS:
            return False
    return False


def _repeated(head: list[str], earlier: list[Token]) -> bool:
    """Whether the preposition that opens a clause stood before a topic of an earlier one ("about A, and about k")."""
    return head[:1] in (["about"], ["on"], ["concerning"]) and head[0] in {token.text for token in earlier}


def _placed(
    tokens: list[Token],
    spans: list[tuple[int, int, str]],
    at: int,
    free: Sequence[bool],
    told: Sequence[bool],
    near: bool,
) -> bool:
    """Whether a clause that is no more than a phrase is an item beside a label, or what a clause beside it is about."""
    if spans[at][2] in BESIDE and (near):
        return True
    heading = spans[at][2] == "&" and at + 1 < len(spans) and spans[at + 1][2] == ":"  # "food & drink: ..."
    if at and not free[spans[at - 1][1] - 1] and not heading:
        return True
    if at + 1 < len(spans):
        begin, end, opener = spans[at + 1]
        opens = next((k for k in range(begin, end) if tokens[k].text not in lexicon.ARTICLES), begin)
        if not free[opens]:
            return opener != ":"  # "safe: A is first", a heading
        if all(free[begin:end]) and _admitted([t.text for t in tokens[begin : min(end, begin + _AT_END)]]):
            return True
    back = at - 1
    while back > max(0, at - 4) and light([token.text for token in tokens[spans[back][0] : spans[back][1]]]):
        back -= 1
    if back < 0 or told[back]:
        return back >= 0
    spoke = {token.text for token in tokens[spans[back][0] : spans[back][1]]} & (lexicon.SPEAKING | lexicon.DEEDS)
    return spans[at][2] == ":" and bool(spoke)  # "on the minds of those who wrote: k"


def _told(tokens: list[Token], begin: int, end: int, free: Sequence[bool]) -> bool:
    """Whether a clause without a label speaks of what the plan holds, or of what people said."""
    said = {token.text for token in tokens[begin:end]}
    return all(free[begin:end]) and bool(said & _TOLD)
