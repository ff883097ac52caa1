"""A probe: one public atom that nothing in the corpus speaks of, and records about it put into the target half."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.stats import beta

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as base
from privlib.experiments.studies.plans_corpora import Case

if TYPE_CHECKING:
    import pandas as pd

    from privlib.plans.decoders import Decoder

LABEL = "violet umbrella"
TEXTS = (
    "a violet umbrella again",
    "the violet umbrella was there",
    "they had one violet umbrella",
    "where is my violet umbrella",
    "nothing but that violet umbrella",
)
RATES = ("admitted", "mentioned_template", "mentioned_headlines")
BANDS = {
    **{f"{name}{end}": ("abs", 0.15) for name in RATES for end in ("", "_low", "_high")},
    "admitted_not_mentioned": ("abs", 0.15),
    "probe_mass": ("rel", 1e-6),
    "plain_rank": ("rel", 1e-6),
}
CONFIDENCE = 0.95
HEADLINES = 3
MOST_RUNS = 0.5


def with_probe(case: Case) -> Case:
    """The case with the probe as one more public atom, fixed before any record about it is inserted.

    Raises ValueError when the corpus already holds a word of the probe among its labels.
    """
    if set(LABEL.split()) & {word for label in case.universe for word in label.lower().split()}:
        raise ValueError(f"the probe {LABEL!r} must be foreign to the labels of {case.name!r}")
    labels = (*case.universe.labels, LABEL)
    universe = plans.AtomUniverse(
        labels,
        (*case.universe.descriptions, ""),
        {**case.universe.manifest, "probe": LABEL, "size": len(labels)},
        plans.Tfidf.fit([*case.auxiliary, *labels]),
    )
    return replace(case, universe=universe, vectors=plans.assign(case.target, universe, case.sparsity))


def headlines(count: int = HEADLINES) -> Decoder:
    """A decoder that may leave admitted atoms out: it tells of the first `count` alone."""

    def decode(plan: plans.SemanticPlan, attempts: object) -> str:
        lines = [f"{atom.rank}. “{atom.label}”: mass {atom.mass:.1f}." for atom in plan.atoms[:count]]
        return "\n".join(lines) + "\n"

    return decode


def inject(
    cases: Sequence[Case],
    *,
    supports: Sequence[int],
    epsilons: Sequence[float],
    plan_size: int,
    delta: float,
    runs: int,
    kept_share: float,
    seed: int,
) -> pd.DataFrame:
    """One row a (corpus, mechanism, epsilon, support s): how often the probe is admitted, and told.

    A run keeps each target record with probability `kept_share` by hash, adds s records about the probe and draws one
    plan. admitted, mentioned_template, mentioned_headlines: shares of the `runs`, with 95 % Clopper-Pearson limits.
    plain_rank: mean rank of the probe in the true sketch (1 is the first). Record level, add/drop.
    Source: DP-SPIN, Section 6.3 and Appendix B.8.
    """
    import pandas as pd

    rows = []
    for case in map(with_probe, cases):
        n = round(kept_share * case.units("record"))
        chosen = [case.select(n, run, "record").vectors for run in range(1, runs + 1)]
        probes = plans.assign([TEXTS[k % len(TEXTS)] for k in range(max(supports))], case.universe, case.sparsity)
        noise = Simulation(seed).child(case.name)
        for support in supports:
            sketches = [
                plans.record_sketch(sparse.vstack([one, probes[:support]], format="csr"), case.universe.fingerprint)
                for one in chosen
            ]
            plain = {
                "probe_mass": float(np.mean([sketch.masses[-1] for sketch in sketches])),
                "plain_rank": float(np.mean([rank_of_probe(sketch.masses) for sketch in sketches])),
            }
            for name in base.MECHANISMS:
                for epsilon in epsilons:
                    setting = base.mechanism(name, case.universe, float(epsilon), delta, plan_size)
                    stream = noise.child(f"{support} {name} {float(epsilon)!r}")
                    seen = [_seen(setting.release(sketch, stream.child("run"))) for sketch in sketches]
                    key = {
                        "corpus": case.name,
                        "unit": "record",
                        "n_units": n,
                        "universe_size": len(case.universe),
                        "sparsity": case.sparsity,
                        "plan_size": plan_size,
                        "contribution_bound": 1.0,
                        "mechanism": name,
                        "epsilon": float(epsilon),
                        "delta": 0.0 if name == "laplace" else delta,
                        "support": int(support),
                        "runs": runs,
                    }
                    rows.append(key | _rates(np.array(seen)) | plain)
    return pd.DataFrame(rows)


def crossings(rows: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """For each corpus and mechanism the least support from which on half of the runs or more admit, and tell of, it.

    One row a (corpus, mechanism): admitted, told (by the text of `HEADLINES` themes); "none tried" where no support is.
    """
    import pandas as pd

    found = []
    for (corpus, name), part in rows[rows.epsilon == epsilon].groupby(["corpus", "mechanism"], sort=False):
        row = {"corpus": corpus, "mechanism": name}
        for title, column in (("admitted", "admitted"), ("told", "mentioned_headlines")):
            short = part.support[part[column] < MOST_RUNS].max()  # NaN when the rate is never below
            enough = part.support[~(part.support <= short)]
            row[title] = str(enough.min()) if len(enough) else "none tried"
        found.append(row)
    return pd.DataFrame(found)


def rank_of_probe(masses: np.ndarray) -> int:
    """Rank of the last atom, ties to the lower index as everywhere."""
    return 1 + int((masses[:-1] >= masses[-1]).sum())


def _seen(plan: plans.SemanticPlan) -> tuple[bool, ...]:
    texts = [decoder(plan, ()) for decoder in (plans.template(), headlines())]
    return (any(atom.label == LABEL for atom in plan.atoms), *(LABEL in text.lower() for text in texts))


def _rates(seen: np.ndarray) -> dict[str, float]:
    row: dict[str, float] = {}
    for name, column in zip(RATES, seen.T, strict=True):
        hits, total = int(column.sum()), len(column)
        tail = (1 - CONFIDENCE) / 2
        row |= {
            name: hits / total,
            f"{name}_low": float(beta.ppf(tail, hits, total - hits + 1)) if hits else 0.0,
            f"{name}_high": float(beta.ppf(1 - tail, hits + 1, total - hits)) if hits < total else 1.0,
        }
    return row | {"admitted_not_mentioned": row["admitted"] - row["mentioned_headlines"]}
