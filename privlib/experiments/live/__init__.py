"""Live figures of the book: what stands behind each slider, computed by the library, in a reader's browser.

A panel is a set of controls, a function from their values to numbers and rows, and charts that draw the rows. The
pages run these functions under pyodide, the tests in an ordinary Python: numpy and scipy are all they need. `twins`
makes the other half, figures whose sliders walk over recorded grids and need no Python at all.
"""

from __future__ import annotations

import importlib
import json

from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown

PANELS = ("calibration", "joint", "plan", "quantization", "integers")

__all__ = ["PANELS", "Chart", "Control", "Number", "Panel", "Shown", "answer", "panel"]


def panel(name: str) -> Panel:
    """The panel called `name`, one of `PANELS`; only its own part of the library is imported."""
    if name not in PANELS:
        raise ValueError(f"name must be one of {PANELS}, got {name!r}")
    return importlib.import_module(f"{__name__}.{name}").PANEL


def answer(name: str, values: str) -> str:
    """What a page draws: JSON text for the panel `name` at the control values of the JSON object `values`.

    A budget that the library refuses is an answer too: {"problem": its message}. Raises as `Panel.shown` where the
    page itself is at fault.
    """
    return json.dumps(panel(name).shown(json.loads(values)).plain(), allow_nan=False)
