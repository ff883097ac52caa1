"""Sliders for JupyterLab: what gamma, k, the number of tables and the private share do to one hidden share.

Everything is computed, nothing is drawn at random: exact leakage by enumeration, error as a mean over the k nearest.
ipywidgets is imported when used; the static book shows none of this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.experiments.style import PALETTE
from privlib.quantization.tables import nearest_candidates

if TYPE_CHECKING:
    import ipywidgets

ROWS = 600  # of the private file, as in the paper's dialogues
MOST_CANDIDATES = 120
MOST_TABLES = 13
PUBLIC_SEED = 5
LEFT, RIGHT, SCALE = 150, 560, 13.0  # the picture's bars: x of 0 and of SCALE nats


@dataclass(frozen=True, eq=False)
class ShownChoice:
    """The choice of one binary table and what E such choices may leak, in nats.

    Args:
        gamma, k, tables, share: as set.
        bound: E ln(gamma/k); ceiling: ln(ROWS + 1); exact: leakage of one table alone, enumerated.
        shares: float[gamma], the candidates' shares; near: bool[gamma], those among which one is drawn.
    """

    gamma: int
    k: int
    tables: int
    share: float
    bound: float
    ceiling: float
    exact: float
    shares: np.ndarray
    near: np.ndarray

    @property
    def error(self) -> float:
        """Mean distance of the drawn candidate's share to the private one."""
        return float(np.abs(self.shares[self.near] - self.share).mean())

    @property
    def vacuous(self) -> bool:
        return self.bound >= self.ceiling

    def text(self) -> str:
        """One line for a reader."""
        if self.vacuous:
            says = "the bound is vacuous: no release of so few rows could leak more"
        else:
            says = f"a best guess gains a factor of at most {math.exp(self.bound):.4g}"
        whole = f"; all {self.tables} leak between that and {min(self.bound, self.ceiling):.3g}" * (self.tables > 1)
        return (
            f"γ/k = {self.gamma}/{self.k}, {ROWS} rows: bound {self.bound:.3g} nats, "
            f"ceiling {self.ceiling:.3g}, {says}. "
            f"One table leaks exactly {self.exact:.3g}{whole}. "
            f"A private share of {self.share:.2f} is released {self.error:.3f} away on average."
        )


def shown_choice(gamma: int, k: int, tables: int, share: float) -> ShownChoice:
    """The numbers behind the sliders; the root of the tree has two categories, the second one's share is the secret.

    Raises ValueError as `sml_bound` does, and for a share outside [0, 1].
    """
    if not 0 <= share <= 1:
        raise ValueError(f"share: expected a share in [0, 1], got {share}")
    bound = quantization.sml_bound(tables, gamma, k)
    table, exact = _table(gamma), _exact(gamma, k)
    near = np.zeros(gamma, dtype=bool)
    near[nearest_candidates(table, np.array([1 - share, share]), k)] = True
    return ShownChoice(gamma, k, tables, share, bound, quantization.secret_ceiling(ROWS), exact, table[:, 1], near)


def choice_svg(shown: ShownChoice) -> str:
    """Candidates on the line of shares above, bound, exact leakage and ceiling as bars below, as SVG text."""
    place = LEFT + (RIGHT - LEFT) * shown.shares
    private = LEFT + (RIGHT - LEFT) * shown.share
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 190" width="640" font-family="sans-serif" '
        'font-size="13">',
        _label(LEFT - 10, 34, "candidates"),
        f'<line x1="{LEFT}" y1="30" x2="{RIGHT}" y2="30" stroke="#999"/>',
        *(
            f'<circle cx="{x:.1f}" cy="30" r="{4 if near else 3}" stroke="{PALETTE[0]}" '
            f'fill="{PALETTE[0] if near else "white"}"/>'
            for x, near in zip(place, shown.near, strict=True)
        ),
        f'<path d="M{private:.1f} 16 l-5 -10 h10 z" fill="{PALETTE[4]}"/>',
        _label(LEFT - 10, 62, "share"),
        *(
            f'<text x="{LEFT + (RIGHT - LEFT) * tick:g}" y="62" text-anchor="middle">{tick:g}</text>'
            for tick in (0, 0.25, 0.5, 0.75, 1)
        ),
    ]
    bars = {
        f"bound, E = {shown.tables}": (shown.bound, PALETTE[6] if shown.vacuous else PALETTE[0], shown.vacuous),
        "exact, one table": (shown.exact, PALETTE[1], False),
    }
    for row, (name, (value, color, hollow)) in enumerate(bars.items()):
        y = 88 + 30 * row
        width = (RIGHT - LEFT) * min(value, SCALE) / SCALE
        over = f"{value:.3g}" + " →" * (value > SCALE)
        parts += [
            _label(LEFT - 10, y + 14, name),
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="18" stroke="{color}" '
            f'fill="{"white" if hollow else color}"/>',
            f'<text x="{LEFT + width + 6:.1f}" y="{y + 14}">{over}</text>',
        ]
    edge = LEFT + (RIGHT - LEFT) * shown.ceiling / SCALE
    parts += [
        f'<line x1="{edge:.1f}" y1="80" x2="{edge:.1f}" y2="146" stroke="{PALETTE[4]}" stroke-dasharray="4 3"/>',
        f'<text x="{edge:.1f}" y="162" text-anchor="middle">ceiling ln(n + 1) = {shown.ceiling:.3g}</text>',
        f'<text x="{LEFT}" y="184">nats; filled marks: the k nearest to the private share (triangle)</text>',
        "</svg>",
    ]
    return "".join(parts)


def choice_sliders() -> ipywidgets.VBox:
    """Sliders for gamma, k, the number of tables and the private share; redrawn while they move.

    k follows gamma down: it never exceeds it.
    """
    import ipywidgets

    gamma = ipywidgets.IntSlider(value=24, min=2, max=MOST_CANDIDATES, description="γ")
    k = ipywidgets.IntSlider(value=6, min=1, max=24, description="k")
    tables = ipywidgets.IntSlider(value=1, min=1, max=MOST_TABLES, description="tables E")
    share = ipywidgets.FloatSlider(value=0.3, min=0, max=1, step=0.01, description="share")
    line, picture = ipywidgets.HTML(), ipywidgets.HTML()

    def update(_change=None) -> None:
        k.max = gamma.value  # lowers k where it must, which calls this again
        shown = shown_choice(gamma.value, k.value, tables.value, share.value)
        line.value, picture.value = shown.text(), choice_svg(shown)

    for slider in (gamma, k, tables, share):
        slider.observe(update, names="value")
    update()
    return ipywidgets.VBox([gamma, k, tables, share, line, picture])


@lru_cache(maxsize=MOST_CANDIDATES)
def _table(gamma: int) -> np.ndarray:
    return quantization.candidates(2, gamma, 10 * MOST_CANDIDATES, 1.0, Simulation(PUBLIC_SEED))


@lru_cache(maxsize=4096)
def _exact(gamma: int, k: int) -> float:
    return quantization.exact_sml(_table(gamma), k, 1, ROWS)


def _label(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="end">{text}</text>'
