"""The little language in which a claim says, before any value is computed, what would confirm it.

    rule        = ["seen: "] ["smaller: "] alternative {" else " alternative}
    alternative = "number: " value {"; " value} | "bound: " value {"; " value} | "trend: " trend {"; " trend}
                | "order: " order {"; " order} | "theorem" | "refuted" | "absent" | "setting"
    value       = COLUMN [" where " CONDITIONS] (" is " | " at least " | " at most ") NUMBER
    trend       = COLUMN ("rising" | "falling" | "steady") " over " COLUMN [GROUPS]
    order       = COLUMN " of " CONDITIONS ("above" | "below") CONDITIONS [GROUPS]
    GROUPS      = [" by " COLUMN {", " COLUMN}] [" where " CONDITIONS]
    CONDITIONS  = COLUMN ("=" | "!=" | "<" | "<=" | ">" | ">=") LITERAL {" and " ...}

`number` holds when every selected row agrees within the tolerance: `5%` (the default), `abs X`,
`rounding` (half a unit of the last digit written), `rounded up` (less than one such unit below),
`exact`. `bound` holds when `number` does, and never reproduces: the value is one of another corpus.
`trend` holds when Spearman's correlation is at least .8 in the stated direction in every group;
`steady` when the spread of every group is within the tolerance. `order` holds when the intervals
(columns low and high, or COLUMN_low and COLUMN_high; else the values themselves) are apart in every group.
All parts of an alternative must hold. `smaller:` says that the record is of a smaller
size than the claim, so that a miss is no contradiction; `seen:`, that whoever wrote the rule had seen
values. `theorem`, `refuted`, `absent` and `setting` look at no record: they stand for a test that
proves, a test that shows a counter-example, a value that our copy of the paper lost, and a choice of
the paper that our notebook makes too, with nothing to compute.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from privlib.experiments.workspace import ExperimentError

if TYPE_CHECKING:
    import pandas

SPEARMAN = 0.8
WORDS = ("theorem", "refuted", "absent", "setting")
SEEN = "seen: "  # before a rule that was written after values were seen
CORPUS = ("corpus", "case")  # columns that name a row's corpus; a case begins with it
_OPERATORS = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_CONDITION = re.compile(r"\s*([A-Za-z_]\w*)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*")
_VALUE = re.compile(r"(\w+)(?: where (.+?))? (is|at least|at most) (\S+)")
_TREND = re.compile(r"(\w+) (rising|falling|steady) over (\w+)(?: by (\w+(?:, \w+)*))?(?: where (.+))?")
_ORDER = re.compile(r"(\w+) of (.+?) (above|below) (.+?)(?: by (\w+(?:, \w+)*))?(?: where (.+))?")


class NoRows(ExperimentError):
    """The record's grid has no row that a rule asks for, as may be in a small profile."""


@dataclass(frozen=True)
class Alternative:
    """One way in which a claim can hold: its kind and the text after the colon."""

    kind: str
    body: str


@dataclass(frozen=True)
class Rule:
    alternatives: tuple[Alternative, ...]
    smaller: bool = False
    seen: bool = False

    @property
    def word(self) -> str | None:
        """theorem, refuted, absent or setting, when the rule is one of these."""
        kind = self.alternatives[0].kind
        return kind if kind in WORDS else None


@dataclass(frozen=True)
class Finding:
    """Whether an alternative holds on a record, our value in words, and the corpora of the rows that were judged.

    corpora: in the order of the rows; empty where the table has no column that names them.
    """

    holds: bool
    ours: str
    corpora: tuple[str, ...] = ()


def parse(text: str) -> Rule:
    """Read a rule; raises ExperimentError showing the part that is not in the language."""
    body = text.strip()
    seen = body.startswith(SEEN)
    body = body.removeprefix(SEEN)
    smaller = body.startswith("smaller: ")
    alternatives = tuple(_alternative(part.strip()) for part in body.removeprefix("smaller: ").split(" else "))
    if (seen or smaller or len(alternatives) > 1) and any(a.kind in WORDS for a in alternatives):
        raise ExperimentError(f"{', '.join(WORDS)} stand alone in a rule, got {text!r}")
    return Rule(alternatives, smaller, seen)


def evaluate(alternative: Alternative, rows: pandas.DataFrame, tolerance: str) -> Finding:
    """Hold one alternative against a table; raises ExperimentError for unknown columns, NoRows for no rows."""
    judged = {"number": _number, "bound": _number, "trend": _trend, "order": _order}[alternative.kind]
    found = [judged(part.strip(), rows, tolerance) for part in alternative.body.split("; ")]
    corpora = dict.fromkeys(name for part in found for name in part.corpora)
    return Finding(all(part.holds for part in found), "; ".join(part.ours for part in found), tuple(corpora))


def _alternative(text: str) -> Alternative:
    if text in WORDS:
        return Alternative(text, "")
    kind, _, body = text.partition(": ")
    patterns = {"number": _VALUE, "bound": _VALUE, "trend": _TREND, "order": _ORDER}
    if kind not in patterns or not all(patterns[kind].fullmatch(part.strip()) for part in body.split("; ")):
        raise ExperimentError(f"not a rule: {text!r} (the language is in privlib/experiments/rules.py)")
    return Alternative(kind, body)


def _number(part: str, rows: pandas.DataFrame, tolerance: str) -> Finding:
    column, where, relation, written = _VALUE.fullmatch(part).groups()
    rows = _where(rows, where)
    values = _column(rows, column).tolist()
    expected = float(written)
    if relation == "is":
        holds = all(_agrees(float(value), expected, written, tolerance) for value in values)
    else:
        holds = all(value >= expected if relation == "at least" else value <= expected for value in values)
    return Finding(holds, f"{column} {_span(values)}", _corpora(rows))


def _agrees(value: float, expected: float, written: str, tolerance: str) -> bool:
    unit = 10.0 ** _last_place(written)
    if not math.isfinite(expected) or tolerance == "exact":
        return value == expected
    if tolerance == "rounding":
        return abs(value - expected) <= unit / 2 * (1 + 1e-9)
    if tolerance == "rounded up":
        return -1e-9 * unit <= expected - value < unit
    return abs(value - expected) <= _allowed(tolerance, abs(expected))


def _allowed(tolerance: str, scale: float) -> float:
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)%", tolerance or "5%"):
        return float(match[1]) / 100 * scale
    if match := re.fullmatch(r"abs (\d\S*)", tolerance):
        return float(match[1])
    raise ExperimentError(f"tolerance must be N%, abs X, rounding, rounded up or exact, got {tolerance!r}")


def _last_place(written: str) -> int:
    """Exponent of the last decimal place written: -2 for 1.78, -12 for 8.9e-11."""
    mantissa, _, exponent = written.lower().partition("e")
    return int(exponent or 0) - len(mantissa.partition(".")[2])


def _trend(part: str, rows: pandas.DataFrame, tolerance: str) -> Finding:
    from scipy.stats import spearmanr

    column, direction, over, by, where = _TREND.fullmatch(part).groups()
    holds, ours = True, []
    rows = _where(rows, where)
    for group in _groups(rows, by):
        x, y = _column(group, over), _column(group, column)
        if x.nunique() < 3:
            raise NoRows(f"a trend needs three values of {over}, the record has {x.nunique()}")
        if direction == "steady":
            spread = float(y.max() - y.min())
            holds &= spread <= _allowed(tolerance, abs(float(y.mean())))
            ours.append(spread)
        else:
            sign = 1.0 if direction == "rising" else -1.0
            correlation = sign * float(spearmanr(x, y).statistic) if y.nunique() > 1 else 0.0
            holds &= correlation >= SPEARMAN
            ours.append(sign * correlation)
    what = f"spread of {column}" if direction == "steady" else f"rank correlation of {column} with {over}"
    series = f" ({len(ours)} series, by {by})" if by else ""
    return Finding(bool(holds), f"{what}: {_span(ours)}{series}", _corpora(rows))


def _order(part: str, rows: pandas.DataFrame, tolerance: str) -> Finding:
    column, first, relation, second, by, where = _ORDER.fullmatch(part).groups()
    upper, lower = (first, second) if relation == "above" else (second, first)
    apart = total = 0
    corpora: dict[str, None] = {}
    for group in _groups(_where(rows, where), by):
        try:
            above, below = _where(group, upper), _where(group, lower)
        except NoRows:
            continue  # this group holds one side only
        total += 1
        corpora |= dict.fromkeys(_corpora(above) + _corpora(below))
        apart += bool(_interval(above, column)[0].min() > _interval(below, column)[1].max())
    if not total:
        raise NoRows(f"no group holds both {first} and {second}")
    said = f"{column} {relation} in {apart} of {total} comparison{'s' * (total > 1)}"
    return Finding(apart == total, said, tuple(corpora))


def _corpora(rows: pandas.DataFrame) -> tuple[str, ...]:
    name = next((column for column in CORPUS if column in rows), None)
    return tuple(dict.fromkeys(cell.partition(",")[0] for cell in rows[name])) if name else ()


def _interval(rows: pandas.DataFrame, column: str):
    for low, high in ((f"{column}_low", f"{column}_high"), ("low", "high")):
        if low in rows and high in rows and (column in ("mean", "value") or low != "low"):
            return rows[low], rows[high]
    return _column(rows, column), _column(rows, column)


def _groups(rows: pandas.DataFrame, by: str | None):
    if by is None:
        return [rows]
    names = by.split(", ")
    for name in names:
        _column(rows, name)
    return [group for _, group in rows.groupby(names, sort=True)]


def _where(rows: pandas.DataFrame, conditions: str | None) -> pandas.DataFrame:
    for condition in conditions.split(" and ") if conditions else ():
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise ExperimentError(f"not a condition: {condition!r}")
        name, sign, literal = match.groups()
        cells = _column(rows, name)
        rows = rows[_OPERATORS[sign](cells, _typed(literal, cells.dtype.kind, condition))]
    if not len(rows):
        raise NoRows(f"no row with {conditions}")
    return rows


def _typed(literal: str, kind: str, condition: str):
    """The literal of a condition as a cell of its column would be: number, truth value or text."""
    try:
        if kind in "iuf":
            return float(literal)
        return {"True": True, "False": False}[literal] if kind == "b" else literal
    except (ValueError, KeyError) as error:
        raise ExperimentError(f"condition {condition!r} must compare with a number, True or False") from error


def _column(rows: pandas.DataFrame, name: str):
    if name not in rows:
        raise ExperimentError(f"no column {name!r} in the record, which has {', '.join(rows.columns)}")
    return rows[name]


def _span(values: list[float]) -> str:
    low, high = min(values) + 0.0, max(values) + 0.0  # never "-0"
    return f"{low:.4g}" if math.isclose(low, high, rel_tol=1e-9) else f"{low:.4g} to {high:.4g}"
