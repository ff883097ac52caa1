"""Text as tokens with character spans: one pass, any string, no failure."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# letters with apostrophes inside, zero-width characters tolerated; numbers with groups and exponent; one mark
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_TOKEN = re.compile(
    r"(?P<vulgar>[¼-¾⅐-⅞])"
    rf"|(?P<word>[^\W\d_](?:[^\W\d_]|[{_INVISIBLE}]|[\u0300-\u036f]|['’](?=[^\W\d_]))*)"
    # digits and commas to their end at once, so that nothing is tried twice; `_GROUPED` judges the grouping
    r"|(?P<number>\d+(?:,\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<line>[\n\r\u2028\u2029]+)"
    r"|(?P<mark>[^\s*_`])"  # marks of emphasis say nothing
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d|,)")
_PIECE = re.compile(r",|[^,]+")
_HARD = frozenset(".!?…。")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` word, number, mark or line; `text` in lower case without accents; `stem` of a word; span in the text."""

    kind: str
    text: str
    stem: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """All tokens of a string in order; blanks, *, _ and ` belong to none. Time linear in its length."""
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        raw = match.group()
        shown = _fold(raw) if kind == "word" else raw
        if kind == "vulgar":
            kind = "number"
        if kind == "number" and "," in raw and not _GROUPED.match(raw):
            for piece in _PIECE.finditer(raw):
                part, start = piece.group(), match.start() + piece.start()
                tokens.append(Token("mark" if part == "," else kind, part, part, start, start + len(part)))
            continue
        tokens.append(Token(kind, shown, stem(shown) if kind == "word" else shown, match.start(), match.end()))
    return tokens


def sentences(tokens: list[Token], text: str) -> list[tuple[int, int]]:
    """Half-open token ranges between line breaks and full stops (a stop inside a number or name ends nothing)."""
    ranges, begin = [], 0
    for i, token in enumerate(tokens):
        ends = (
            token.kind == "line"
            or token.text == ";"
            or (
                token.text in _HARD
                and (token.end >= len(text) or not text[token.end].isalnum())
                and not _lists(tokens, i)
                and not _counts(tokens, i, text)
                and not _leads(tokens, i)
            )
        )
        if ends:
            ranges.append((begin, i))
            begin = i + 1
    ranges.append((begin, len(tokens)))
    return [(first, last) for first, last in ranges if first < last]


def _lists(tokens: list[Token], i: int) -> bool:
    """Whether the mark at i closes the number of a list item ("1." at the start of a line)."""
    before = i - 2
    return (
        i >= 1
        and tokens[i - 1].kind == "number"
        and (before < 0 or tokens[before].kind == "line" or tokens[before].text == ";")
    )


def _counts(tokens: list[Token], i: int, text: str) -> bool:
    """Whether the dot at i closes the number of an item within a line ("in order: 1. cold food, 2. long wait")."""
    number, after = tokens[i - 1], tokens[i + 1 : i + 2]
    if number.text == "no" and i > 0 and after and after[0].kind == "number" and len(after[0].text) <= 2:
        return tokens[i].text == "."  # "no. 2 is cold food"
    item = i > 1 and number.kind == "number" and len(number.text) <= 2 and tokens[i - 2].text in (",", ":")
    return item and tokens[i].text == "." and bool(after) and text[after[0].start].islower()


def _leads(tokens: list[Token], i: int) -> bool:
    """Whether the dot at i is one of a row that leads to a number, as in a table of contents."""
    before, after = tokens[max(0, i - 1) : i], tokens[i + 1 : i + 2]
    row = [t.text for t in (*before, *after)].count(".") > 0
    return tokens[i].text == "." and row and bool(after) and (after[0].text == "." or after[0].kind == "number")


def words_of(text: str) -> list[Token]:
    """The words and numbers of a string."""
    return [token for token in tokenize(text) if token.kind in ("word", "number")]


@lru_cache(maxsize=65536)
def _fold(word: str) -> str:
    """Lower case without accents, width variants, invisible characters and the possessive."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(c for c in decomposed if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    plain = plain.replace("’", "'")
    return plain.removesuffix("'s") or plain


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A rough English stem: plural, -ing, -ed and final e removed, the same for label and mention."""
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= 3 and any(c in "aeiouy" for c in root):
            word = root[:-1] if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
