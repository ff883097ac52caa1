"""What texts made of released centroids are worth: nearness, likelihood, utility, variety."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.evaluation import diversity
from privlib.evaluation import embedding as measures
from privlib.experiments.studies.synthesis_text import EXACT, Case, Centroid, Releases, unit_rows

if TYPE_CHECKING:
    import pandas as pd

    from privlib.synthesis import Inversion

SCORES = ("precision", "recall", "f1", "l2")
# The last bits of an embedding depend on the batch and the machine, and may turn a word and then the rest of a text.
# With two or three texts a mean moves by as much as one text does, its interval by more, a share over its whole range.
_TURNS = 0.5
NEARNESS_BANDS = {name: ("abs", _TURNS) for name in ("cosine", "cosine_exact")} | {"natural": ("abs", 1.0)}
NEARNESS_BANDS |= {name: ("abs", 5.0) for name in ("cosine_low", "cosine_high")}
NEARNESS_BANDS |= {"nll": ("abs", 2.0), "real_nll": ("abs", 0.05)}
NEARNESS_BANDS |= {name: ("abs", 20.0) for name in ("nll_low", "nll_high")}
NEARNESS_BANDS |= {name: ("rel", 20.0) for name in ("ratio", "ratio_low", "ratio_high", "perplexity")}
NEARNESS_BANDS |= {"texts": ("abs", 2.0)}
WEIGHED_BANDS = {name: NEARNESS_BANDS[name] for name in ("cosine", "nll", "real_nll")}
WEIGHED_BANDS |= {name: ("abs", 3.0) for name in ("cosine_low", "cosine_high")}  # of a few texts
WEIGHED_BANDS |= {name: ("abs", 20.0) for name in ("nll_low", "nll_high")}
UTILITY_BANDS = {f"{score}{end}": ("abs", 0.5) for score in SCORES for end in ("", "_low", "_high")}
UTILITY_BANDS |= {"outputs": ("abs", 5.0)}
BUDGET_BANDS = {name: NEARNESS_BANDS[name] for name in ("nll", "real_nll", "texts")}
BUDGET_BANDS |= {"gap": NEARNESS_BANDS["nll"]} | {name: NEARNESS_BANDS["nll_low"] for name in ("gap_low", "gap_high")}
TIME_BANDS = {"seconds": ("rel", 30.0)}  # of the machine at hand, and of how busy it is
VARIETY_BANDS = {"self_bleu": ("abs", 0.5), "texts": ("abs", 8.0), "clusters": ("abs", 3.0)}
Texts = Mapping[tuple[str, str], Sequence[tuple[int, str]]]
"""(kind of centroid, method) -> (place of its centroid among the picked ones, text)."""


def nearness(
    case: Case, picked: Sequence[Centroid], texts: Texts, embed: Callable, score: Callable, real: int = 40
) -> pd.DataFrame:
    """One row a (kind, method): cosine to the centroid that was inverted, and likelihoods.

    cosine: mean over texts, with Student's interval; cosine_exact: to the mean of the cell's records. nll: median a
    token under the language model, with order statistics that enclose it; ratio (and its ends): median perplexity
    over that of `real` protected texts; natural: share with nll at most 6 (the paper's Table 15).
    """
    import pandas as pd

    truth = diversity.fluency(score(real_texts(case, real)))
    rows = []
    for (kind, method), some in texts.items():
        told = [text for _, text in some]
        units, likelihoods = unit_rows(embed(told)), diversity.fluency(score(told))
        aimed, exact = (unit_rows([getattr(picked[i], name) for i, _ in some]) for name in (kind, EXACT))
        mean, low, high = student(np.einsum("ij,ij->i", units, aimed))
        row = {"kind": kind, "method": method, "texts": len(some)}
        row |= {"cosine": mean, "cosine_low": low, "cosine_high": high}
        row["cosine_exact"] = float(np.einsum("ij,ij->i", units, exact).mean())
        row |= {"nll": likelihoods.median, "nll_low": likelihoods.low, "nll_high": likelihoods.high}
        row |= {"ratio": math.exp(likelihoods.median - truth.median)}
        row |= {"ratio_low": math.exp(likelihoods.low - truth.median)}
        row |= {"ratio_high": math.exp(likelihoods.high - truth.median)}
        row |= {"natural": likelihoods.natural, "perplexity": likelihoods.perplexity, "real_nll": truth.median}
        rows.append(row)
    return pd.DataFrame(rows)


def budgets(nearness: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """How far the texts' likelihood is from real texts', by budget: rows of `nearness`, exact centroids at infinity.

    One row a (method, epsilon), of methods that have both: gap = |nll - real_nll| of the medians, in nats
    a token, with the least and the largest that nll's interval allows.
    """
    import pandas as pd

    rows = []
    for method, part in nearness.groupby("method", sort=False):
        if len(part) < 2:
            continue
        for one in part.itertuples():
            ends = one.nll_low - one.real_nll, one.nll_high - one.real_nll
            row = {"method": method, "epsilon": math.inf if one.kind == EXACT else epsilon, "texts": one.texts}
            row |= {"nll": one.nll, "real_nll": one.real_nll, "gap": abs(one.nll - one.real_nll)}
            row["gap_low"] = 0.0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends))
            rows.append(row | {"gap_high": max(map(abs, ends))})
    return pd.DataFrame(rows)


def weighed(
    case: Case,
    picked: Sequence[Centroid],
    found: Mapping[float, Sequence[Inversion]],
    score: Callable,
    real: int = 40,
) -> pd.DataFrame:
    """One row a fluency weight: cosine and likelihood of what was `found` for the same released centroids."""
    import pandas as pd

    truth = diversity.fluency(score(real_texts(case, real)))
    rows = []
    for weight, inversions in found.items():
        some = inversions[: len(picked)]
        mean, low, high = student([one.cosine for one in some])
        nll, nll_low, nll_high = student(score([one.text for one in some]))
        row = {"fluency": weight, "texts": len(some), "cosine": mean, "cosine_low": low, "cosine_high": high}
        rows.append(row | {"nll": nll, "nll_low": nll_low, "nll_high": nll_high, "real_nll": truth.median})
    return pd.DataFrame(rows)


def real_texts(case: Case, count: int) -> list[str]:
    """The first `count` protected texts: what likelihoods are held against. Curator-side."""
    return list(case.target.texts[:count])


class Known:
    """A score that reads each text once: nearest public texts are often the same."""

    def __init__(self, score: Callable):
        self._score, self._read = score, {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        fresh = [text for text in dict.fromkeys(texts) if text not in self._read]
        self._read.update(zip(fresh, self._score(fresh), strict=True))
        return np.array([self._read[text] for text in texts])


def student(values: Sequence[float], alpha: float = 0.05) -> tuple[float, float, float]:
    """Mean and Student's interval at level 1 - alpha; of a single value, the value thrice."""
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    if len(values) == 1:
        return mean, mean, mean
    half = float(stdtrit(len(values) - 1, 1 - alpha / 2) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def utilities(
    case: Case, picked: Sequence[Centroid], texts: Texts, releases: Releases, embed: Callable
) -> pd.DataFrame:
    """Precision, recall, F1 and L2 of all released centroids by seed, and of the picked ones as vectors and as texts.

    Columns: scored ("all" protected texts, "frequent" ones where there are any), level, kind, outputs, then each score
    with its range over seeds; the picked ones are one set, whose range has width 0. "every centroid" of kind exact is
    what the cells' means score without privacy.
    """
    import pandas as pd

    setting = releases.setting
    mask = measures.frequent(case.private, setting.radius, setting.frequency)
    scored = {"all": case.private} | ({"frequent": case.private[mask]} if mask.any() else {})
    sets = [
        ("every centroid", "released", np.concatenate([part.centroids for part in releases.run(seed)]))
        for seed in setting.seeds
    ]
    sets.append(("every centroid", EXACT, releases.exact()[0]))
    sets += [
        ("picked centroids", kind, np.array([getattr(one, kind) for one in picked])) for kind in ("exact", "released")
    ]
    sets += [
        (f"texts: {method}", kind, np.asarray(embed([text for _, text in some]), np.float64))
        for (kind, method), some in texts.items()
    ]
    found = pd.DataFrame([
        {"scored": name, "level": level, "kind": kind}
        | vars(measures.utility(outputs, rows, setting.radius, setting.alpha))
        for level, kind, outputs in sets
        for name, rows in scored.items()
    ])  # fmt: skip
    rows = []
    for (name, level, kind), part in found.groupby(["scored", "level", "kind"], sort=True):
        row = {"scored": name, "level": level, "kind": kind, "seeds": len(part), "outputs": float(part.outputs.mean())}
        for score in SCORES:
            row |= {score: float(part[score].mean()), f"{score}_low": float(part[score].min()),
                    f"{score}_high": float(part[score].max())}  # fmt: skip
        rows.append(row)
    return pd.DataFrame(rows)


def variety(groups: Mapping[str, tuple[Sequence[str], Sequence[int]]]) -> pd.DataFrame:
    """Self-BLEU within clusters, smaller meaning more varied, by source: name -> (texts, the cluster of each)."""
    import pandas as pd

    rows = []
    for source, (texts, clusters) in groups.items():
        made = diversity.self_bleu(texts, clusters)
        rows.append({"source": source, "clusters": made.clusters, "texts": made.texts, "self_bleu": made.mean})
    return pd.DataFrame(rows)
