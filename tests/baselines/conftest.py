"""A small world: an encoder that looks at single texts, texts on five topics, and the public things made of them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import pytest

from privlib import baselines

TOPICS = ("flu vaccine winter", "heart disease risk", "sleep hours night", "sugar diet weight", "cancer study drug")


@dataclass(frozen=True)
class ToyEncoder:
    """Words are hashed to unit directions; a text is the scaled sum of its words'."""

    dimension: int = 12

    def embed(self, texts):
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row += np.random.default_rng(zlib.crc32(word.encode())).standard_normal(self.dimension)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def texts(count: int, seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    topics = generator.choice(5, size=count, p=[0.4, 0.25, 0.2, 0.1, 0.05])
    return [f"{TOPICS[k]} report {generator.integers(10**6)}" for k in topics]


@pytest.fixture(scope="session")
def encoder():
    return ToyEncoder()


@pytest.fixture(scope="session")
def vocabulary():
    return baselines.public_vocabulary(TOPICS, 30)


@pytest.fixture(scope="session")
def space(encoder):
    return baselines.PublicSpace.fit(encoder.embed(texts(200, seed=1)), dims=4, clusters=5, seed=1)


@pytest.fixture(scope="session")
def target():
    return texts(1500, seed=2)
