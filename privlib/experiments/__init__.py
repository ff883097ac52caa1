"""Running notebooks, recording results, drawing figures, judging claims.

A notebook needs `record`, `recorded_elsewhere` and `use_style`; `python -m privlib.experiments` runs the
notebooks of a profile and checks what they recorded. Everything heavy is imported when used.
"""

from __future__ import annotations

from privlib.experiments.records import Record, record, recorded, recorded_elsewhere
from privlib.experiments.style import use_style
from privlib.experiments.workspace import Workspace

__all__ = ["Record", "Workspace", "record", "recorded", "recorded_elsewhere", "use_style"]
