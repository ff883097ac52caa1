"""Texts of the same few cells at every budget: the paper's Tables 1, 4, 9 and 15 by epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib import baselines
from privlib.experiments.studies.synthesis_text import EXACT, MEMBER, RELEASED, Case, Centroid, Releases, texts

if TYPE_CHECKING:
    import pandas as pd

    from privlib.experiments.studies.synthesis_text import Published, Setting
    from privlib.experiments.studies.synthesis_text_scores import Texts
    from privlib.synthesis import Inversion, SearchInverter

OURS, CURATOR = "ours", "a curator"


class CuratorReleases(Releases):
    """The same of a trusted curator, who noises the sum of a cell for one record; as released, not denoised.

    Source: Fre-E2T, Section 8, "central DP" (Table 9).
    """

    def __init__(self, case: Case, setting: Setting, epsilon: float):
        super().__init__(case, setting, epsilon)
        self._spectrum = None
        self.mechanism = baselines.CuratorRelease(self.buckets, epsilon, setting.delta, threshold=setting.frequency)


@dataclass(frozen=True)
class Budget:
    """`picked` cells as the `releases` of one epsilon have them, and `texts` of them; exact means where it is inf."""

    releases: Releases
    picked: Sequence[Centroid]
    texts: Texts


def same_cells(picked: Sequence[Centroid], releases: Releases) -> list[Centroid]:
    """What `releases`, of another budget, made of the cells of `picked`, each by the run of its own seed.

    A cell that its run did not release is left out.
    """
    made = []
    for one in picked:
        part = releases.run(one.seed)[one.label]
        for place in np.flatnonzero((part.cells == one.cell).all(axis=1)):
            made.append(Centroid(one.seed, one.label, one.cell, part.centroids[place], one.exact))
    return made


def inverted(
    case: Case,
    picked: Sequence[Centroid],
    by_epsilon: Mapping[float, Releases],
    finder: SearchInverter | Published,
    reword: Callable[[Sequence[Inversion]], Sequence[Sequence[str]]],
    seed: int,
    exact: bool = True,
) -> dict[float, Budget]:
    """Texts of the released cells of `picked` at each epsilon, as found and by `reword`.

    An epsilon whose releases hold none of the cells is left out; with `exact`, texts of the cells' means stand at
    infinity.
    """
    made, every = {}, list(by_epsilon.items())
    for epsilon, releases in [*every, (math.inf, every[0][1])] if exact else every:
        kind = EXACT if epsilon == math.inf else RELEASED
        some = list(picked) if kind == EXACT else same_cells(picked, releases)
        if some:
            found = finder.search(np.array([getattr(one, kind) for one in some]))
            told = texts(case, some, {kind: found}, {kind: reword(found)}, releases, seed)
            outputs = {name: few for name, few in told.items() if name[1] != MEMBER}
            made[epsilon] = Budget(releases, some, outputs)
    return made


def table(told: Mapping[str, Mapping[float, Budget]], scored: Callable[[Budget], pd.DataFrame]) -> pd.DataFrame:
    """What `scored` makes of each budget, by (who released) and epsilon in place of the kind of centroids."""
    import pandas as pd

    parts = []
    for by, budgets in told.items():
        for epsilon, budget in budgets.items():
            rows = scored(budget)
            rows = rows[rows["kind"] == (EXACT if epsilon == math.inf else RELEASED)].drop(columns="kind")
            rows.insert(0, "epsilon", epsilon)
            rows.insert(0, "by", by)
            parts.append(rows)
    return pd.concat(parts, ignore_index=True)
