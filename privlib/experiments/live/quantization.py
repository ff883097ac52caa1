"""Dataset-level secrets: what gamma, k and the number of tables promise, against what any attacker could have."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.experiments.live.charts import axis, layer, layered, series
from privlib.experiments.live.panel import Chart, Control, Number, Panel, Shown
from privlib.experiments.style import PALETTE
from privlib.quantization.tables import nearest_candidates

PUBLIC_ROWS, POOL, PUBLIC_SEED = 100, 1200, 5
HALVES = range(2, 25)  # gamma/k from 1 to 12 in halves, as whole gamma at k = 2
BOUNDS = ("bound E ln(γ/k)", "ceiling ln(n + 1)", "ceiling of an attacker who knows public rows")
SHARES = ("others", "k nearest")


def compute(gamma: int, k: int, tables: int, rows: int, share: float) -> Shown:
    """The leakage bound of `tables` choices among k of gamma, its two ceilings, and the shares a release may show.

    `share` is the secret's true proportion; the attacker has seen it among `PUBLIC_ROWS` public rows. The second
    picture is of one table with two categories. Raises ValueError where k is above gamma.
    """
    bound = quantization.sml_bound(tables, gamma, k)
    prior = quantization.share_prior(rows, PUBLIC_ROWS, round(share * PUBLIC_ROWS))
    ceiling, guess = quantization.secret_ceiling(rows), quantization.guess_ceiling(prior)
    best = float(prior.max())
    success = quantization.success_bound(best, tables, gamma, k)
    useful = quantization.useful_dilution(tables, rows, prior)
    shares = _candidates(gamma)
    near = set(nearest_candidates(shares, np.array([share, 1 - share]), k).tolist())
    reached = [float(shares[index, 0]) for index in near]
    numbers = (
        Number("bound", "bound on the leakage, nats", bound),
        Number("ceiling", "ceiling ln(n + 1), nats", ceiling),
        Number("guess_ceiling", "ceiling of an attacker who knows public rows, nats", guess),
        Number("prior", "best guess of the share before the release", best),
        Number("success", "best guess after it, at most", success),
        Number("useful", "the bound says something below γ/k =", useful),
        Number("spread", "released share: largest distance from the truth", max(abs(one - share) for one in reached)),
    )
    ends = (HALVES[0] / 2, HALVES[-1] / 2)
    curves = [
        {"series": BOUNDS[0], "dilution": half / 2, "nats": quantization.sml_bound(tables, half, 2)} for half in HALVES
    ]
    for name, height in ((BOUNDS[1], ceiling), (BOUNDS[2], guess)):
        curves += [{"series": name, "dilution": end, "nats": height} for end in ends]
    candidates = [
        {"series": SHARES[index in near], "share": float(one), "row": SHARES[index in near]}
        for index, one in enumerate(shares[:, 0])
    ]
    data = {
        "curves": curves,
        "here": [{"dilution": gamma / k, "nats": bound}] if gamma / k <= ends[1] else [],
        "candidates": candidates,
        "truth": [{"share": share}],
    }
    return Shown(numbers, data)


@lru_cache(maxsize=64)
def _candidates(gamma: int) -> np.ndarray:
    return quantization.candidates(2, gamma, POOL, 1.0, Simulation(PUBLIC_SEED).child("candidates"))


_X, _Y = axis("dilution", "γ/k"), axis("nats", "nats", scale={"zero": True})
_SHARE = axis("share", "share of the secret in a table", scale={"domain": [0, 1]})
PANEL = Panel(
    name="quantization",
    title="Bound against ceiling",
    controls=(
        Control("gamma", "γ, candidates", "linear", 120, 10, 240, 10),
        Control("k", "k, nearest taken", "linear", 30, 1, 120, 1),
        Control("tables", "E, tables", "linear", 4, 1, 15, 1),
        Control("rows", "n, private rows", "linear", 500, 50, 5000, 50),
        Control("share", "true proportion of the secret", "linear", 0.2, 0.02, 0.98, 0.02),
    ),
    charts=(
        Chart(
            "bounds",
            "Leakage bound against gamma over k, rising, and two flat ceilings; a dot marks this setting. Above "
            "a ceiling the bound says nothing against that attacker.",
            layered(
                [
                    layer(
                        "curves",
                        {"type": "line", "strokeWidth": 2.5},
                        x=_X,
                        y=_Y,
                        **{key: value for key, value in series(BOUNDS).items() if key != "shape"},
                    ),
                    layer("here", {"type": "point", "filled": True, "size": 140, "color": PALETTE[4]}, x=_X, y=_Y),
                ]
            ),
        ),
        Chart(
            "shares",
            "Candidate shares of a two-category secret on a line from 0 to 1: the k nearest to the true share, of "
            "which one is released, and the others; a vertical rule marks the truth.",
            layered(
                [
                    layer(
                        "candidates",
                        {"type": "tick", "thickness": 2},
                        x=_SHARE,
                        y={
                            "field": "row",
                            "type": "nominal",
                            "title": None,
                            "sort": list(SHARES[::-1]),
                            "axis": {"labelLimit": 90},
                        },
                        color={**series(SHARES)["color"], "legend": None},
                    ),
                    layer("truth", {"type": "rule", "strokeWidth": 2, "color": PALETTE[4]}, x=_SHARE),
                ],
                height=90,
            ),
        ),
    ),
    compute=compute,
)
