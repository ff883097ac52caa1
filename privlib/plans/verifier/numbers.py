"""Numbers in digits and words: what they say, and which released values they may stand for."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass, replace

from privlib.plans.verifier.tokens import Token

SMALL = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
TENS = {
    word: 10 * k
    for k, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "k": 1e3, "m": 1e6, "bn": 1e9}
PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5}
PARTS |= {"sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "tenth": 10, "tenths": 10}
PARTS |= {"ninth": 9, "ninths": 9, "hundredth": 100, "hundredths": 100, "thousandth": 1000, "thousandths": 1000}
PARTS |= {"eleventh": 11, "twelfth": 12, "fourth": 4, "fourths": 4}
PARTS |= {f"{word}th": value for word, value in SMALL.items() if value > 12}
PARTS |= {f"{word[:-1]}ieth": value for word, value in TENS.items()}
PARTS |= {f"{word}s": value for word, value in PARTS.items() if value > 10 and not word.endswith("s")}
DOZEN = {"dozen": 12.0, "dozens": 12.0}
HEDGES = frozenset(
    [
        "about",
        "around",
        "roughly",
        "approximately",
        "nearly",
        "almost",
        "some",
        "circa",
        "approx",
        "ca",
        "close",
        "near",
        "~",
        "≈",
    ]
)
LOWER = frozenset(["over", "above", "exceeding", "exceeds", "exceeded", "beyond", "past"])
UPPER = frozenset(["under", "below", "almost", "nearly"])
_GREATER = frozenset(["more", "greater", "higher", "larger"])
_FEWER = frozenset(["less", "fewer", "lower", "smaller"])
_OR_MORE = [["or", "more"], ["or", "above"], ["or", "over"], ["and", "over"]]
_OR_LESS = [["or", "less"], ["or", "fewer"], ["or", "under"], ["or", "below"]]
_STEPPED = frozenset(["a", "an", "the", "just", "little", "slightly", "well", "far", "about", "roughly"])
_LOOSE = 0.1  # a rounded number in words, or a hedged one, may be off by a tenth of itself
_NEAR = 0.2
_FRACTION = 0.05  # "a quarter" for 24 %, a hedged fraction twice as much
_PAGES = frozenset(
    ("slide", "page", "section", "question", "part", "step", "figure", "table", "chapter", "appendix", "q", "item")
)
_PAGES |= {"week", "day", "edition", "volume", "version", "lecture", "exhibit", "annex", "episode"}
_RATED = frozenset(("figure", "item"))  # in the middle of a sentence they may be said of a theme
_PERCENT = frozenset(("%", "percent", "percentage", "pct"))
_SUMS = frozenset(("add", "adds", "added", "adding", "sum", "sums", "comes", "come", "came"))
_HALVES = frozenset(("lower", "upper", "other", "first", "second", "top", "bottom"))
_SHARE = -1.0  # in place of a unit: the number is a fraction in words


@dataclass(frozen=True)
class Number:
    """A number as claimed: `value` stated to within half of `unit`; `kind` plain, percent or fraction.

    `lower`, `upper`: said to be a bound from below or above. Tokens [first, last).
    """

    value: float
    unit: float
    kind: str
    first: int
    last: int
    lower: bool = False
    upper: bool = False
    hedged: bool = False
    least: float = 0.0  # the unit of its last digit, where `unit` is that of its last digit but zeros
    top: float | None = None  # the other end of a range "between two and three percent"

    def fits(self, released: float) -> bool:
        """Whether `released`, on this number's scale, rounds to it (towards it, where it is said as a bound)."""
        if not math.isfinite(self.value):
            return False
        slack = 1e-9 * max(1e-6, abs(released), abs(self.value))
        gap = released - self.value
        if self.top is not None:
            return -slack <= gap and released <= self.top + slack
        if self.lower or self.upper:
            near = not self.hedged or abs(gap) <= _NEAR * abs(self.value)  # "nearly" is below, and not far
            return near and (gap if self.lower else -gap) >= -slack
        return abs(gap) <= self._tolerance() + slack

    def _tolerance(self) -> float:
        share = _FRACTION * (1 + self.hedged) if self.kind == "fraction" else _LOOSE
        return min(self.unit / 2, max(self.least / 2, share * abs(self.value)))


def read_numbers(tokens: list[Token], first: int, last: int, free: list[bool]) -> list[Number]:
    """Numbers among tokens [first, last) that are `free` (not part of a label), in order."""
    found, i = [], first
    while i < last:
        number = _at(tokens, i, last, free) if free[i] and not _numbers_a_page(tokens, i, first) else None
        if number is None:
            i += 1
        else:
            found.append(number)
            i = number.last
    return _ranges(found, tokens, first)


def _ranges(numbers: list[Number], tokens: list[Token], first: int) -> list[Number]:
    """ "Between two and three percent", "from 2 to 3 %": two numbers read as one range."""
    found: list[Number] = []
    for number in numbers:
        low = found[-1] if found else None
        joined = [t.text for t in tokens[low.last : number.first]] if low is not None else []
        before = {t.text for t in tokens[max(first, low.first - 2) : low.first]} if low is not None else set()
        spread = (joined == ["and"] and "between" in before) or (joined == ["to"] and "from" in before)
        if low is not None and spread and low.kind in ("plain", number.kind) and low.value <= number.value:
            top = number.value
            found[-1] = replace(number, value=low.value, top=top, first=low.first, lower=False, upper=False)
        else:
            found.append(number)
    return found


def _at(tokens: list[Token], i: int, last: int, free: list[bool]) -> Number | None:
    plain = _plain(tokens, i, last, free)
    if plain is None:
        return None
    value, unit, j, zeros = plain
    if [t.text for t in tokens[j : j + 3]] == ["and", "a", "half"] and unit != _SHARE and j + 3 <= last:
        value, unit, zeros, j = value + 0.5, 1.0, 1.0, j + 3
        value, unit, j, zeros = _scaled(tokens, j, last, value, unit)
    kind, least = "plain", unit
    if unit == _SHARE:
        kind, unit, zeros, least = "fraction", 1.0, 1.0, 0.0
    following = [t.text for t in tokens[j : min(j + 4, last)]] + [""] * 4
    denominator = _denominator(tokens, j, last, free)
    if denominator is not None and kind == "plain":
        bottom, j = denominator
        kind, value = "fraction", value / bottom if bottom else math.inf
        unit = zeros = unit / bottom if bottom else 1.0
        least = 0.0
    elif following[0] == "‰" and kind == "plain":
        kind, value, unit, zeros, least, j = "fraction", value / 1000, unit / 1000, zeros / 1000, 0.0, j + 1
    elif following[0] in _PERCENT or (following[0] == "per" and following[1] in ("cent", "hundred")):
        kind, j = "percent", j + 1 + (following[0] == "per")
    elif kind == "fraction" and following[:2] == ["of", "a"] and (following[2] in _PERCENT or following[3] == "cent"):
        kind, unit, zeros, least, j = "percent", 0.1, 0.1, 0.1, j + 3 + (following[2] == "per")
    elif kind == "plain" and _ambiguous_one(tokens, i, j, following[0]):
        return None
    before = [t.text for t in tokens[max(first_of(tokens, i), i - 4) : i]]
    if before and before[-1] in ("-", "−", "minus", "negative") and not _joined(tokens, i):
        value = -value
    lower, upper, hedged = _bound(before)
    after = [t.text for t in tokens[j : min(j + 4, last)]]
    lower, upper = lower or after[:2] in _OR_MORE, upper or after[:2] in _OR_LESS
    short = before[-2:] in (["not", "even"], ["not", "quite"])
    upper, hedged = upper or short, hedged or before[-2:] == ["not", "quite"]
    hedged = hedged or after[:2] == ["or", "so"] or after[:2] == ["give", "or"] or after[1:3] == ["give", "or"]
    if hedged or lower or upper or tokens[i].kind == "word":
        unit = zeros
    return Number(value, unit, kind, i, j, lower, upper, hedged, least)


def _bound(before: list[str]) -> tuple[bool, bool, bool]:
    """Whether the words before a number make it a lower bound, an upper bound, or a rough value."""
    hedged = bool(set(before[-3:]) & HEDGES)
    words = [word for word in before if word not in _STEPPED]
    end, other = ([""] * 2 + words)[-1], ([""] * 2 + words)[-2]
    lower = end in LOWER or (end == "than" and other in _GREATER) or (other == "at" and end == "least")
    lower = lower or (other, end) in (("upwards", "of"), ("excess", "of"), ("north", "of"))
    upper = (
        end in UPPER
        or (end == "than" and other in _FEWER)
        or (other, end) in (("at", "most"), ("short", "of"), ("shy", "of"), ("south", "of"))
        or ((other, end) == ("up", "to") and not set(words) & _SUMS)
    )
    return lower, upper, hedged


def _plain(tokens: list[Token], i: int, last: int, free: list[bool]) -> tuple[float, float, int, float] | None:
    """(value, unit, next token, unit when hedged) of a number in digits or words that begins at i."""
    token = tokens[i]
    if token.kind == "number":
        value, unit = _digits(token.text)
        power = [t.text for t in tokens[i + 1 : min(i + 4, last)]]
        if power[:1] == ["^"] and value == 10:
            sign = power[1:2] in (["-"], ["−"])
            exponent = "".join(power[1 + sign : 2 + sign])
            if exponent.isdecimal() and len(exponent) < 3:
                size = 10.0 ** (-int(exponent) if sign else int(exponent))
                return size, size, i + 3 + sign, size
        return _scaled(tokens, i + 1, last, value, unit)
    if (part := _unit_fraction(tokens, i, last, free)) is not None:
        return part
    if token.text in ("a", "an"):
        follower = tokens[i + 1].text if i + 1 < last and free[i + 1] else ""
        if follower in ("hundred", "thousand", "million", "dozen"):
            return _in_words(tokens, i, last, free)
        return None
    if token.text == "half" and i > 0 and tokens[i - 1].text in _HALVES:
        return None
    if token.text == "half" or token.text in DOZEN:
        return (0.5, _SHARE, i + 1, _SHARE) if token.text == "half" else (12.0, 1.0, i + 1, 10.0)
    return _in_words(tokens, i, last, free)


def _unit_fraction(tokens: list[Token], i: int, last: int, free: list[bool]) -> tuple[float, float, int, float] | None:
    """ "One twentieth", "a four-hundredth", "one twenty-fifth": one part of as many as the words after it say."""
    count, j = 0.0, i + 1
    while tokens[i].text in ("a", "an", "one") and j < min(i + 8, last) and free[j]:
        word = tokens[j].text
        if word in PARTS and (word.endswith(("th", "rd")) or word in ("half", "quarter")):
            size = PARTS[word]
            tens = count in TENS.values() and size < 10
            if count and not tens and size < 100:
                return None
            return 1 / (count + size if tens else max(count, 1.0) * size), _SHARE, j + 1, _SHARE
        if word in SMALL or word in TENS:
            count += SMALL.get(word, 0) + TENS.get(word, 0)
        elif word == "hundred" and count == 0:
            count = 100.0
        elif word != "-":
            return None
        j += 1
    return None


def _in_words(tokens: list[Token], i: int, last: int, free: list[bool]) -> tuple[float, float, int, float] | None:
    total, current, j, seen, decimals = 0.0, 0.0, i, False, None
    while j < last and free[j]:
        word = tokens[j].text
        if j == i and word in ("a", "an"):
            current = 1.0
        elif word in SMALL and (not seen or (current % 10 == 0 and current % 100 != 10)):
            current += SMALL[word]
        elif word in TENS and (not seen or current % 100 == 0):
            current += TENS[word]
        elif word == "hundred" and seen:
            current = max(current, 1.0) * 100
        elif word in DOZEN and seen:
            current = max(current, 1.0) * 12
        elif word in ("thousand", "million", "billion") and seen:
            total, current = total + max(current, 1.0) * SCALES[word], 0.0
        elif word in ("and", "-") and seen and j + 1 < last and free[j + 1] and _continues(current, tokens[j + 1].text):
            j += 1
            continue
        elif word == "point" and seen and j + 1 < last and tokens[j + 1].text in SMALL:
            decimals = ""
            while j + 1 < last and free[j + 1] and SMALL.get(tokens[j + 1].text, 10) < 10:
                decimals += str(SMALL[tokens[j + 1].text])
                j += 1
            j += 1
            break
        else:
            break
        seen, j = True, j + 1
    if not seen:
        return None
    value = total + current
    if decimals:
        digits = decimals[:300]
        return value + float("0." + digits), 10.0 ** -len(digits), j, 10.0 ** -len(digits)
    if j + 1 < last and tokens[j].text == "-" and free[j + 1] and tokens[j + 1].text in PARTS:
        j += 1  # "one-third"
    if j < last and free[j] and tokens[j].text in PARTS and tokens[j].text != "half" and value:
        return value / PARTS[tokens[j].text], _SHARE, j + 1, _SHARE
    return value, 1.0, j, _trailing(value)


def _continues(current: float, word: str) -> bool:
    """Whether "and" or a hyphen joins this word to the number so far ("one hundred and five", "twenty-four")."""
    if word in SMALL:
        return current % 100 == 0 or (current % 10 == 0 and current % 100 >= 20 and 0 < SMALL[word] < 10)
    return word in TENS and current % 100 == 0


def _digits(text: str) -> tuple[float, float]:
    if len(text) == 1 and not text.isdecimal():
        return unicodedata.numeric(text), _SHARE
    mantissa, _, exponent = text.lower().replace(",", "").partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = max(-400, min(400, float(exponent))) if exponent else 0.0
    return float(text.replace(",", "")), 10.0 ** max(-300.0, min(300.0, power - decimals))


def _scaled(tokens: list[Token], j: int, last: int, value: float, unit: float) -> tuple[float, float, int, float]:
    if j < last and tokens[j].text in SCALES and (len(tokens[j].text) > 2 or tokens[j].start == tokens[j - 1].end):
        factor = SCALES[tokens[j].text]
        unit = 0.01 if unit == _SHARE else unit
        value, unit, j = value * factor, unit * factor, j + 1
    if unit == _SHARE:
        return value, unit, j, unit
    return value, unit, j, max(unit, _trailing(value)) if unit >= 1 else unit


def _trailing(value: float) -> float:
    """Largest power of ten that divides a whole number: what "about 480" is rounded to."""
    if not math.isfinite(value) or value == 0 or value != math.floor(value):
        return 1.0
    unit = 1.0
    while value % (unit * 10) == 0 and unit < 1e15:
        unit *= 10
    return unit


def _denominator(tokens: list[Token], j: int, last: int, free: list[bool]) -> tuple[float, int] | None:
    """The q of "p/q", "p in q", "p out of q", with the token after it."""
    texts = [t.text for t in tokens[j : min(j + 3, last)]]
    if texts[:1] == ["/"] and j + 1 < last and tokens[j].end != tokens[j + 1].start:
        return None
    if texts[:1] in (["/"], ["in"], ["per"]):
        k = j + 1
    elif texts[:2] == ["out", "of"]:
        k = j + 2
    else:
        return None
    if texts[:1] in (["out"], ["in"]) and k < last and tokens[k].text in ("every", "the", "a"):
        k += 1
    if (
        k < last
        and free[k]
        and tokens[k].text in ("hundred", "thousand", "million")
        and texts[:2] != ["per", "hundred"]
    ):
        return SCALES[tokens[k].text], k + 1
    if k >= last or not free[k] or (tokens[k].text in ("a", "an") and texts[1:2] != [tokens[k].text]):
        return None
    if texts[:1] == ["per"] and tokens[k].text in ("cent", "hundred"):
        return None
    plain = _plain(tokens, k, last, free)
    return None if plain is None else (plain[0], plain[2])


def _numbers_a_page(tokens: list[Token], i: int, first: int) -> bool:
    """Whether a number counts slides, questions or parts ("Slide 2: ...", "2/ ...")."""
    if i == first and i + 1 < len(tokens) and tokens[i + 1].text == "/" and (i == 0 or tokens[i - 1].kind == "line"):
        return i + 2 >= len(tokens) or tokens[i + 1].end != tokens[i + 2].start
    named = tokens[i - 1].text in _PAGES and i > first
    if i > first and tokens[i - 1].text == "nearest":
        return True  # "rounded to the nearest ten"
    return tokens[i].kind == "number" and named and (i == first + 1 or tokens[i - 1].text not in _RATED)


def _ambiguous_one(tokens: list[Token], i: int, j: int, following: str) -> bool:
    """ "one" as a pronoun ("one of the themes", "this one") is no number."""
    return tokens[i].text == "one" and j == i + 1 and following not in SCALES


def _joined(tokens: list[Token], i: int) -> bool:
    """Whether the mark before i is no sign: it joins ("5-10", "covid-19") or stands apart ("mass - 482")."""
    mark = tokens[i - 1]
    if mark.kind == "word":
        return False
    return mark.end != tokens[i].start or (i >= 2 and tokens[i - 2].end == mark.start)


def first_of(tokens: list[Token], i: int) -> int:
    """Index of the first token of the line that holds i, as far as four tokens back."""
    k = i
    while k > 0 and i - k < 4 and tokens[k - 1].kind != "line":
        k -= 1
    return k
