"""Texts of the same few cells at every budget: the paper's Tables 1, 4, 9 and 15 by epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib.experiments.studies.synthesis_text import EXACT, MEMBER, RELEASED, Case, Centroid, Releases, texts

if TYPE_CHECKING:
    import pandas as pd

    from privlib.experiments.studies.synthesis_text import Published
    from privlib.experiments.studies.synthesis_text_scores import Texts
    from privlib.synthesis import Inversion, SearchInverter


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
) -> dict[float, Budget]:
    """Texts of the released cells of `picked` at each epsilon, and of their exact means, as found and by `reword`.

    An epsilon whose releases hold none of the cells is left out; exact means stand at infinity.
    """
    made = {}
    for epsilon, releases in [*by_epsilon.items(), (math.inf, next(iter(by_epsilon.values())))]:
        kind = EXACT if epsilon == math.inf else RELEASED
        some = list(picked) if kind == EXACT else same_cells(picked, releases)
        if some:
            found = finder.search(np.array([getattr(one, kind) for one in some]))
            told = texts(case, some, {kind: found}, {kind: reword(found)}, releases, seed)
            outputs = {name: few for name, few in told.items() if name[1] != MEMBER}
            made[epsilon] = Budget(releases, some, outputs)
    return made


def table(budgets: Mapping[float, Budget], scored: Callable[[Budget], pd.DataFrame]) -> pd.DataFrame:
    """What `scored` makes of each budget, with a leading column epsilon in place of the kind of centroids."""
    import pandas as pd

    parts = []
    for epsilon, budget in budgets.items():
        rows = scored(budget)
        rows = rows[rows["kind"] == (EXACT if epsilon == math.inf else RELEASED)].drop(columns="kind")
        rows.insert(0, "epsilon", epsilon)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)
