"""A small stage for whole runs: 3 anchored buckets in 4 dimensions, parties as objects of the test's process."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from privlib.dp import NoiseSource, Simulation
from privlib.synthesis import AnchoredBuckets
from privlib.synthesis.protocol import messages as m
from privlib.synthesis.protocol.channel import Channel
from privlib.synthesis.protocol.hosts import UserHost, user_address
from privlib.synthesis.protocol.run import drive
from privlib.synthesis.protocol.settings import Settings
from privlib.synthesis.protocol.summing import SynthesisServer
from privlib.synthesis.protocol.tagging import TaggingServer
from privlib.synthesis.protocol.users import ServerKeys, User

ANCHORS = np.eye(4)[:3]
SETTINGS = Settings(
    AnchoredBuckets.at(ANCHORS, 0.5),
    rate=1.0,
    threshold=4,
    report_epsilon=2.0,
    centroid_epsilon=3.0,
    centroid_delta=1e-6,
    max_users=1000,
    dummy_shift=1,
    dummy_scale=1.0,
)


@dataclass
class Stage:
    """One run: `members` users in each bucket, unless `records` gives every user's own."""

    directory: Path
    members: tuple[int, ...] = (8, 5, 3)
    settings: Settings = SETTINGS
    seed: int = 1
    records: list[np.ndarray] | None = None
    source: NoiseSource | None = None
    tagging: object = field(init=False)

    def __post_init__(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        if self.records is None:
            draw = Simulation(self.seed).child("data").generator
            anchors = self.settings.buckets.anchors
            cells = np.repeat(np.arange(len(self.members)), self.members)
            points = anchors[cells] + 0.1 * draw.standard_normal((len(cells), anchors.shape[1]))
            self.records = [point[None, :] for point in points]
        self.synthesis = self.new_synthesis()
        self.tagging = self.new_tagging()
        self.key = self.tagging._key  # a copy: the server deletes its own
        self.boxes = {m.TAGGING: self.tagging._box, m.SYNTHESIS: self.synthesis._box}
        keys = ServerKeys(self.tagging.public_key, self.tagging.box_key, self.synthesis.box_key)
        self.addresses = [user_address(number) for number in range(len(self.records))]
        self.users = {
            address: User(address, self.settings, keys, record, self.noise(f"user {number}"))
            for number, (address, record) in enumerate(zip(self.addresses, self.records, strict=True))
        }
        self.host = UserHost(list(self.users.values()))
        places = self.settings.bucket_cap
        self.channel = Channel({**dict.fromkeys(self.addresses, places), m.TAGGING: None}, self.noise("channel"))

    def noise(self, name: str) -> NoiseSource:
        return (self.source or Simulation(self.seed)).child(name)

    def new_tagging(self) -> TaggingServer:
        return TaggingServer(
            self.settings, self.directory / "tagging.log", self.noise("tagging"), self.synthesis.box_key
        )

    def new_synthesis(self) -> SynthesisServer:
        return SynthesisServer(self.settings, self.directory / "synthesis.log", self.noise("synthesis"))

    def run(self):
        return drive(self.settings, self.tagging, self.synthesis, self.channel, [(set(self.addresses), self.host)])

    def refused(self) -> list[str]:
        return self.tagging.refused + self.synthesis.refused


@pytest.fixture
def stage(tmp_path):
    """stage(name="a", **changes of the settings; members, seed, records, source) -> Stage."""

    def make(name="run", members=(8, 5, 3), seed=1, records=None, source=None, **changes):
        return Stage(tmp_path / name, members, replace(SETTINGS, **changes), seed, records, source)

    return make
