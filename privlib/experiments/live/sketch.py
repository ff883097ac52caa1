"""The small packaged sketch that the page on plans releases: masses of public news texts, one list a sparsity.

Made of the packaged corpus, whose texts are not kept; written again with

    python -m privlib.experiments.live.sketch
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from privlib import plans

FILE = Path(__file__).with_name("sketch.json")
RATE, SEED, ATOMS, SPARSITIES = 0.1, 1, 40, (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class PackagedSketch:
    """Public: `labels` of m atoms, `masses[K - 1]` float[m] of `texts` records assigned to at most K atoms each."""

    corpus: str
    texts: int
    auxiliary_texts: int
    labels: list[str]
    masses: list[list[float]]

    @property
    def universe(self) -> plans.AtomUniverse:
        return plans.AtomUniverse(tuple(self.labels), manifest={"auxiliary_records": self.auxiliary_texts})

    def sketch(self, sparsity: int) -> plans.Sketch:
        return plans.Sketch(self.masses[sparsity - 1], "record", 1.0, self.universe.fingerprint)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def made() -> PackagedSketch:
    """The sketch from the packaged texts: a tenth of the news, half of it auxiliary."""
    from privlib import corpora

    halves = corpora.load("health-news", rate=RATE, seed=SEED).split(seed=SEED)
    universe = plans.phrase_universe(halves.auxiliary, profile="health", size=ATOMS)
    masses = [plans.sketch(halves.target, universe, sparsity=k).masses.tolist() for k in SPARSITIES]
    return PackagedSketch("health-news", len(halves.target), len(halves.auxiliary), list(universe.labels), masses)


@cache
def packaged() -> PackagedSketch:
    """The committed sketch."""
    return PackagedSketch(**json.loads(FILE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    FILE.write_text(made().to_json(), encoding="utf-8")
