"""User-level plans: what a clipping bound B takes away, what noise it asks for, and what the plan then keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as base
from privlib.experiments.studies.plans_corpora import Case, Selection, extent, relation_of, spread

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("mass_retained", "overlap", "loss", "kept_unclipped")
BANDS = {
    **{f"{name}{end}": ("abs", 0.1) for name in METRICS if name != "loss" for end in ("", "_sd", "_low", "_high")},
    **{f"loss{end}": ("rel", 0.25) for end in ("", "_sd", "_low", "_high")},
    "noise_scale": ("rel", 1e-6),
    "clipped_share": ("abs", 1e-6),
}
CLIPPING_BANDS = {"noise_ratio": ("rel", 1e-6), "kept_gain": ("abs", 1e-6)}


def utility(
    cases: Sequence[Case],
    *,
    bounds: Sequence[float],
    ablation_bounds: Sequence[float],
    epsilons: Sequence[float],
    plan_size: int,
    delta: float,
    runs: int,
    kept_share: float,
    seed: int,
    strict_sample_size: bool = False,
) -> pd.DataFrame:
    """One row a (corpus, B, mechanism, epsilon): `METRICS` over `runs` runs, each with its own users and noise.

    A run keeps each target user with probability `kept_share` by hash. mass_retained, overlap and loss are against
    the clipped sketch, as in the paper; kept_unclipped is the share of the best mass of the sketch without clipping.
    clipped_share: mean share of all mass that clipping removes. Numbers of users and records vary between runs, so
    they are group statistics (effective_..._mean, _sd, _min, _max) and no keys: DP-SPIN, Appendices C.9 and E.7.
    """
    import pandas as pd

    rows = []
    for case in cases:
        n = round(kept_share * case.units("user"))
        chosen = [case.select(n, run, "user", strict_sample_size) for run in range(1, runs + 1)]
        counts = extent("effective_users", [len(set(one.corpus.unit_ids)) for one in chosen])
        counts |= extent("effective_records", [len(one.corpus) for one in chosen])
        noise = Simulation(seed).child(case.name)
        for bound in (*bounds, *ablation_bounds):
            pairs = [(one.sketch(case.universe, "user", float(bound)), unclipped(one, case)) for one in chosen]
            clipped = float(np.mean([1 - cut.masses.sum() / whole.masses.sum() for cut, whole in pairs]))
            for name in base.MECHANISMS:
                for epsilon in epsilons:
                    setting = base.mechanism(
                        name,
                        case.universe,
                        float(epsilon),
                        delta,
                        plan_size,
                        relation_of(strict_sample_size),
                        "user",
                        float(bound),
                    )
                    stream = noise.child(f"{bound!r} {name} {float(epsilon)!r}")
                    key = {
                        "corpus": case.name,
                        "unit": "user",
                        "n_units": n,
                        "universe_size": len(case.universe),
                        "sparsity": case.sparsity,
                        "plan_size": plan_size,
                        "contribution_bound": float(bound),
                        "role": "main" if bound in bounds else "ablation",
                        "mechanism": name,
                        "epsilon": float(epsilon),
                        "delta": 0.0 if name == "laplace" else delta,
                        "runs": runs,
                    }
                    more = {"noise_scale": setting.noise_law(stream).scale, "clipped_share": clipped}
                    rows.append(key | _measured(setting, pairs, stream) | more | counts)
    return pd.DataFrame(rows)


def clipping(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a corpus and pair of neighbouring bounds: by how much the larger one's noise and kept mass exceed.

    noise_ratio: of the Gaussian scales at the same budget (the ratio is the same at every epsilon and mechanism).
    kept_gain: share of all mass that the larger bound keeps and the smaller one clips.
    """
    import pandas as pd

    found = []
    budget = rows[(rows.mechanism == "gaussian") & (rows.epsilon == rows.epsilon.min())]
    for corpus, group in budget.groupby("corpus", sort=False):
        ordered = group.sort_values("contribution_bound")
        for (_, small), (_, large) in zip(ordered.iterrows(), list(ordered.iterrows())[1:], strict=False):
            found.append(
                {
                    "corpus": corpus,
                    "smaller_bound": small.contribution_bound,
                    "larger_bound": large.contribution_bound,
                    "noise_ratio": large.noise_scale / small.noise_scale,
                    "kept_gain": small.clipped_share - large.clipped_share,
                }
            )
    return pd.DataFrame(found)


def unclipped(run: Selection, case: Case) -> plans.Sketch:
    """The sum of all assignments of a run, no user cut: a reference on public text, never released."""
    return plans.record_sketch(run.vectors, case.universe.fingerprint)


def _measured(
    setting: plans.mechanisms.PlanMechanism, pairs: Sequence[tuple[plans.Sketch, plans.Sketch]], noise: Simulation
) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    for cut, whole in pairs:
        admitted = base.admit(setting, cut, noise.child("run"))
        found["mass_retained"].append(plans.mass_retained(cut.masses, admitted))
        found["overlap"].append(plans.overlap(cut.masses, admitted))
        found["loss"].append(plans.loss(cut.masses, admitted))
        found["kept_unclipped"].append(plans.mass_retained(whole.masses, admitted))
    return {column: value for name in METRICS for column, value in spread(name, found[name]).items()}
