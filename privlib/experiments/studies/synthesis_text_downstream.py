"""Labels of held-out texts, learnt from outputs: ours by paraphrase temperature, at equal numbers, beside Aug-PE's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib.dp import Simulation
from privlib.evaluation import downstream
from privlib.experiments.studies import synthesis_ssp as ssp
from privlib.experiments.studies.synthesis_text import AGAIN, NEAREST, SEARCH, Case, Centroid, Releases, Setting
from privlib.experiments.studies.synthesis_text_scores import student

if TYPE_CHECKING:
    import pandas as pd

    from privlib.baselines import AugPE
    from privlib.dp import Guarantee

VOTES = (1, 5, 10, 20)
CENTROIDS, PICKED = "released centroids", "picked centroids"
REAL, ALL_REAL = "real texts", "all real texts"
LEARNT_BANDS = {name: ("abs", 0.3) for name in ("accuracy", "accuracy_low", "accuracy_high")}
LEARNT_BANDS |= {"outputs": ("abs", 5.0)}
AGAINST_BANDS = {name: ("abs", 0.15) for name in ("accuracy", "accuracy_low", "accuracy_high", "behind")}
AGAINST_BANDS |= {"outputs": ("abs", 5.0)}
Labelled = tuple[np.ndarray, np.ndarray]
"""Outputs float[m, d] and their labels int[m]."""


def learnt(
    case: Case,
    picked: Sequence[Centroid],
    releases: Releases,
    groups: Mapping[str, tuple[Sequence[str], Sequence[int]]],
    embed: Callable,
) -> pd.DataFrame:
    """Accuracy on held-out texts by what was learnt from and how, mean over seeds with Student's interval.

    Learnt from: all released centroids, the cells' exact means, as many real texts as centroids, all protected texts,
    the `picked` released centroids as vectors, and `groups`: name -> (texts, their labels). How: votes of the k nearest
    (k larger than the outputs left out), and logistic regression.
    """
    import pandas as pd

    sources: dict[str, list[Labelled]] = {CENTROIDS: [], REAL: []}
    for seed in releases.setting.seeds:
        outputs, labels = released(releases, seed)
        sources[CENTROIDS].append((outputs, labels))
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(case.private), len(labels), replace=False)
        sources[REAL].append((case.private[drawn], case.codes[drawn]))
    sources[ALL_REAL] = [(case.private, case.codes)]
    sources["exact centroids"] = [releases.exact()]
    sources[PICKED] = [(np.array([one.released for one in picked]), np.array([one.label for one in picked]))]
    sources |= {
        name: [(np.asarray(embed(some), np.float64), np.asarray(codes))] for name, (some, codes) in groups.items()
    }
    return pd.DataFrame([row for source, runs in sources.items() for row in _accuracies(case, source, runs)])


def temperatures(learnt: pd.DataFrame, heats: Sequence[float]) -> pd.DataFrame:
    """The rows of `learnt` for texts with their paraphrases, by temperature; 0 stands for the texts alone.

    Columns: temperature, method, outputs, accuracy with its interval.
    """
    import pandas as pd

    named = {SEARCH: 0.0} | {f"{AGAIN} at {heat:g}": float(heat) for heat in heats}
    rows = learnt[learnt["source"].isin(named)]
    columns = ["method", "outputs", "accuracy", "accuracy_low", "accuracy_high"]
    return pd.concat([rows["source"].map(named).rename("temperature"), rows[columns]], axis=1)


def against(case: Case, setting: Setting, epsilons: Sequence[float], sizes: ssp.Evolving, seed: int) -> pd.DataFrame:
    """The same accuracy by epsilon: our centroids, the public texts nearest to them, and texts of private evolution.

    Private evolution is labelled as ours is: one run a label on the records of that label; a record has one label, so
    all of them together cost what one does. Of each label its texts with the most votes count, as many as ours has
    centroids (and at most `sizes.population`). It starts from public texts and varies a text by a near public one, so
    its texts and ours are of one kind. behind: its accuracy, learnt in the same way, less that of the row.
    """
    import pandas as pd

    rows = []
    for epsilon in epsilons:
        releases, evolving = Releases(case, setting, epsilon), _evolving(case, setting, epsilon, sizes, seed)
        sources: dict[str, list[Labelled]] = {CENTROIDS: [], NEAREST: [], ssp.AUG_PE: []}
        for one in setting.seeds:
            outputs, labels = released(releases, one)
            nearest = np.argmax(ssp.nearness(outputs, case.pool), axis=1)
            sources[CENTROIDS].append((outputs, labels))
            sources[NEAREST].append((case.pool[nearest], labels))
            sources[ssp.AUG_PE].append(_evolved(case, evolving, np.bincount(labels), one))
        told = pd.DataFrame([row for source, runs in sources.items() for row in _accuracies(case, source, runs)])
        theirs = told[told["source"] == ssp.AUG_PE].set_index("method")["accuracy"]
        told["behind"] = told["method"].map(theirs) - told["accuracy"]
        told.insert(0, "epsilon", epsilon)
        rows.append(told[told["method"].isin(theirs.index)])
    return pd.concat(rows, ignore_index=True)


def promises(
    case: Case, setting: Setting, epsilons: Sequence[float], sizes: ssp.Evolving, seed: int
) -> list[Guarantee]:
    """What each row of `against` spends: at every epsilon that of our release, and of private evolution, a label's run.

    A record has one label, so all labels together cost what one does.
    """
    bills = []
    for epsilon in epsilons:
        bills.append(Releases(case, setting, epsilon).mechanism.guarantee)
        bills.append(_evolving(case, setting, epsilon, sizes, seed).guarantee)
    return bills


def _evolving(case: Case, setting: Setting, epsilon: float, sizes: ssp.Evolving, seed: int) -> AugPE:
    """Private evolution that sees the public texts and their vectors alone, before it is given a label's records."""
    public = ssp.Case(case.target, case.public, case.public, case.private, case.pool, np.zeros(len(case.private), bool))
    return ssp.evolving(public, sizes, epsilon, setting.delta, "near texts", seed)


def released(releases: Releases, seed: int) -> Labelled:
    """All centroids of one run, every label's, and their labels."""
    parts = releases.run(seed)
    labels = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.concatenate([part.centroids for part in parts]), labels


def _evolved(case: Case, evolving: AugPE, counts: Sequence[int], seed: int) -> Labelled:
    """Texts of private evolution, one run a label on its records: the first `counts` of each, and their labels."""
    grown, labels = [], []
    for label in np.flatnonzero(counts):
        noise = Simulation(seed).child(f"{ssp.AUG_PE}, label {label}")
        made = evolving.release(case.private[case.codes == label], noise).texts[: counts[label]]
        grown.append(np.asarray(evolving.embed(made)))
        labels += [label] * len(made)
    return np.concatenate(grown), np.array(labels)


def _accuracies(case: Case, source: str, runs: Sequence[Labelled]) -> list[dict[str, object]]:
    """One row a way of learning from the outputs of `runs`, which stand for one source."""
    found: dict[str, list[downstream.Accuracy]] = {}
    for outputs, labels in runs:
        votes = [k for k in VOTES if k <= len(outputs)]
        told = downstream.vote_accuracies(outputs, labels, case.tested, case.tested_codes, votes)
        for k, accuracy in told.items():
            found.setdefault(f"vote of {k}", []).append(accuracy)
        if len(np.unique(labels)) > 1:
            told = downstream.classifier_accuracy(outputs, labels, case.tested, case.tested_codes)
            found.setdefault("logistic regression", []).append(told)
    rows = []
    for method, accuracies in found.items():
        mean, low, high = student([one.accuracy for one in accuracies])
        if len(accuracies) == 1:
            low, high = accuracies[0].interval()
        outputs = float(np.mean([len(made) for made, _ in runs]))
        rows.append({"source": source, "method": method, "seeds": len(accuracies), "outputs": outputs,
                     "accuracy": mean, "accuracy_low": low, "accuracy_high": high,
                     "prior": accuracies[0].prior, "held_out": accuracies[0].texts})  # fmt: skip
    return rows
