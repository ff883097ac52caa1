"""What texts made of released centroids are worth: nearness, likelihood, utility, variety, labels learnt from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.evaluation import diversity, downstream
from privlib.evaluation import embedding as measures
from privlib.experiments.studies.synthesis_text import EXACT, Case, Centroid, Releases, unit_rows

if TYPE_CHECKING:
    import pandas as pd

    from privlib.synthesis import Inversion

VOTES = (1, 5, 10, 20)
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
LEARNT_BANDS = {name: ("abs", 0.3) for name in ("accuracy", "accuracy_low", "accuracy_high")}
LEARNT_BANDS |= {"outputs": ("abs", 5.0)}
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


def learnt(case: Case, releases: Releases, groups: Mapping[str, tuple[Sequence[str], Sequence[int]]], embed: Callable):
    """Accuracy on held-out texts by what was learnt from and how, mean over seeds with Student's interval.

    Learnt from: all released centroids, the cells' exact means, as many real texts as centroids, and `groups`: name ->
    (texts, their labels). How: votes of the k nearest (k larger than the outputs left out), and logistic regression.
    """
    import pandas as pd

    sources: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"released centroids": [], "real texts": []}
    for seed in releases.setting.seeds:
        parts = releases.run(seed)
        labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        sources["released centroids"].append((np.concatenate([part.centroids for part in parts]), labels))
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(case.private), len(labels), replace=False)
        sources["real texts"].append((case.private[drawn], case.codes[drawn]))
    sources["exact centroids"] = [releases.exact()]
    sources |= {
        name: [(np.asarray(embed(some), np.float64), np.asarray(codes))] for name, (some, codes) in groups.items()
    }
    rows = []
    for source, runs in sources.items():
        found: dict[str, list[downstream.Accuracy]] = {}
        for outputs, labels in runs:
            votes = [k for k in VOTES if k <= len(outputs)]
            told = downstream.vote_accuracies(outputs, labels, case.tested, case.tested_codes, votes)
            for k, accuracy in told.items():
                found.setdefault(f"vote of {k}", []).append(accuracy)
            if len(np.unique(labels)) > 1:
                told = downstream.classifier_accuracy(outputs, labels, case.tested, case.tested_codes)
                found.setdefault("logistic regression", []).append(told)
        for method, accuracies in found.items():
            mean, low, high = student([one.accuracy for one in accuracies])
            if len(accuracies) == 1:
                low, high = accuracies[0].interval()
            outputs = float(np.mean([len(made) for made, _ in runs]))
            rows.append({"source": source, "method": method, "seeds": len(accuracies), "outputs": outputs,
                         "accuracy": mean, "accuracy_low": low, "accuracy_high": high,
                         "prior": accuracies[0].prior, "held_out": accuracies[0].texts})  # fmt: skip
    return pd.DataFrame(rows)


def variety(groups: Mapping[str, tuple[Sequence[str], Sequence[int]]]) -> pd.DataFrame:
    """Self-BLEU within clusters, smaller meaning more varied, by source: name -> (texts, the cluster of each)."""
    import pandas as pd

    rows = []
    for source, (texts, clusters) in groups.items():
        made = diversity.self_bleu(texts, clusters)
        rows.append({"source": source, "clusters": made.clusters, "texts": made.texts, "self_bleu": made.mean})
    return pd.DataFrame(rows)
