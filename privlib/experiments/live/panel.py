"""A panel: controls, what their values show, and the charts that draw it, as plain data for a page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
KINDS = ("linear", "log", "choice")


@dataclass(frozen=True)
class Control:
    """One slider or choice. `name` is the argument it sets; `label` what a reader sees.

    `kind` "linear": `low` to `high` in steps of `step`; "log": `low` to `high` evenly in the logarithm, both above 0,
    shown to two digits; "choice": one of `choices`. `start` is where it stands at first.
    """

    name: str
    label: str
    kind: str
    start: Any
    low: float = 0.0
    high: float = 0.0
    step: float = 1.0
    choices: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {KINDS}, got {self.kind!r}")
        self.checked(self.start)

    def checked(self, value: Any) -> Any:
        """The value, if this control can show it; whole numbers of whole steps stay whole. Raises ValueError."""
        if self.kind == "choice":
            if value not in self.choices:
                raise ValueError(f"{self.name} must be one of {self.choices}, got {value!r}")
            return value
        slack = 1e-9 * (self.high - self.low)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{self.name} must be a number, got {value!r}")
        if not self.low - slack <= value <= self.high + slack:
            raise ValueError(f"{self.name} must lie in [{self.low}, {self.high}], got {value!r}")
        return round(value) if self.kind == "linear" and isinstance(self.step, int) else float(value)

    def plain(self) -> Row:
        names = ("name", "label", "kind", "start", "low", "high", "step", "choices")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite specification over named data, `alt` saying what it draws."""

    name: str
    alt: str
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Number:
    """One number under the controls: `name` for tests, `label` for readers, `text` as it is shown."""

    name: str
    label: str
    value: float
    text: str = ""

    def plain(self) -> Row:
        if not math.isfinite(self.value):
            raise ValueError(f"{self.name} must be finite to be shown, got {self.value!r}")
        return {
            "name": self.name,
            "label": self.label,
            "value": float(self.value),
            "text": self.text or f"{self.value:.4g}",
        }


@dataclass(frozen=True)
class Shown:
    """What one setting shows: `numbers`, and by name the `data` that the charts draw; or a `problem` in words."""

    numbers: tuple[Number, ...] = ()
    data: Mapping[str, list[Row]] = field(default_factory=dict)
    problem: str = ""

    def plain(self) -> Row:
        return {
            "numbers": [number.plain() for number in self.numbers],
            "data": dict(self.data),
            "problem": self.problem,
        }


@dataclass(frozen=True)
class Panel:
    """`compute(**values)` of the `controls` gives a `Shown`, which the `charts` draw."""

    name: str
    title: str
    controls: tuple[Control, ...]
    charts: tuple[Chart, ...]
    compute: Callable[..., Shown]

    def shown(self, values: Mapping[str, Any]) -> Shown:
        """The numbers and rows at these values; a setting that the library refuses comes back as its message.

        Raises ValueError when a control is missing, unknown or out of its range: then the page is wrong.
        """
        if set(values) != {control.name for control in self.controls}:
            raise ValueError(f"values must be of {[control.name for control in self.controls]}, got {sorted(values)}")
        checked = {control.name: control.checked(values[control.name]) for control in self.controls}
        try:
            return self.compute(**checked)
        except ValueError as refused:
            return Shown(problem=str(refused))

    def plain(self) -> Row:
        """What a page needs before Python is there: controls and charts."""
        return {
            "title": self.title,
            "controls": [control.plain() for control in self.controls],
            "charts": [{"name": c.name, "alt": c.alt, "spec": dict(c.spec)} for c in self.charts],
        }
