"""Vega-Lite specifications in the book's look: series differ by colour, dash and shape at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privlib.experiments.style import PALETTE

DASHES = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [1, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
Spec = dict[str, Any]


def axis(field: str, title: str, log: bool = False, kind: str = "quantitative", **more: Any) -> Spec:
    """Channel definition of one axis; `more` goes into it as it is."""
    scale = {"type": "log", "nice": False} if log else {"zero": False}
    channel = {"field": field, "type": kind, "title": title, **more}
    if kind == "quantitative":
        channel["scale"] = {**scale, **more.get("scale", {})}
        channel["axis"] = {"tickCount": 6, **more.get("axis", {})}
    return channel


def series(names: Sequence[str] = ()) -> Spec:
    """Colour, dash and shape by "series", one legend for all three; without `names` the page lists them."""
    channel = {"field": "series", "type": "nominal", "title": None}
    looks = {"color": PALETTE, "strokeDash": DASHES, "shape": SHAPES}
    domain = {"domain": list(names)} if names else {}
    return {name: {**channel, "scale": {**domain, "range": list(values)}} for name, values in looks.items()}


def layered(layers: Sequence[Spec], height: int = 260) -> Spec:
    """Layers over the named data that they mention, as wide as the page."""
    names = dict.fromkeys(layer["data"]["name"] for layer in layers)
    return {
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "datasets": {name: [] for name in names},
        "layer": list(layers),
    }


def layer(data: str, mark: str | Spec, **encoding: Any) -> Spec:
    """One mark over the named `data`."""
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}
