"""Wrong arguments of synthesis: each is refused by its own name, private ones by type and shape."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.dp import Simulation
from privlib.synthesis import (
    AnchoredBuckets,
    CentroidRelease,
    JLBuckets,
    PublicSpectrum,
    SearchInverter,
    UserRelease,
    collision_probability,
    lemma_delta,
    paraphrase,
    threshold_count,
)

BUCKETS = AnchoredBuckets.at(np.eye(3), radius=0.5)
PUBLIC = dict(epsilon=4.0, delta=1e-6, rate=0.3, threshold=30)
RELEASE = CentroidRelease(BUCKETS, **PUBLIC)
USERS = UserRelease(BUCKETS, **PUBLIC)
ROWS = np.zeros((3, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: USERS.release(ROWS, "abc", Simulation(1)), TypeError, "^owners must be a sequence of ids, got str"),
        (
            lambda: USERS.release(ROWS, None, Simulation(1)),
            TypeError,
            "^owners must be a sequence of ids, got NoneType",
        ),
        (lambda: RELEASE.release(ROWS, 7), TypeError, "^noise must be a source, .* got int"),
        (lambda: RELEASE.release(ROWS, Simulation), TypeError, "^noise must be a source, .* got the class Simulation"),
        (lambda: USERS.release(ROWS, ["a"] * 3, None), TypeError, "^noise must be a source, .* got NoneType"),
        (
            lambda: CentroidRelease(None, **PUBLIC),
            TypeError,
            "^buckets must be AnchoredBuckets or JLBuckets, got NoneType",
        ),
        (lambda: CentroidRelease("jl", **PUBLIC), TypeError, "^buckets must be AnchoredBuckets or JLBuckets, got str"),
        (lambda: UserRelease("jl", **PUBLIC), TypeError, "^buckets must be AnchoredBuckets or JLBuckets, got str"),
        (lambda: JLBuckets(4, 0.5, None, dimension=3), TypeError, "^public_seed must be an integer, got None"),
        (
            lambda: AnchoredBuckets(["public"] * 3, 2, 0.5),
            TypeError,
            "^auxiliary must be an array of real .* got texts",
        ),
        (
            lambda: RELEASE.release(ROWS, Simulation(1)).denoised(None),
            TypeError,
            "^spectrum must be a PublicSpectrum, got NoneType",
        ),
        (lambda: PublicSpectrum.fit(["public"]), TypeError, "^vectors must be an array of real numbers, got texts"),
        (lambda: threshold_count("abc", 100), ValueError, "^rate must be a probability .* got 'abc'"),
        (lambda: threshold_count(None, 100), ValueError, "^rate must be a probability .* got None"),
        (lambda: threshold_count("1/0", 100), ValueError, "^rate must be a probability .* got '1/0'"),
        (lambda: collision_probability("far", 1.0, 4), TypeError, "^distance must hold real numbers, got texts"),
        (lambda: lemma_delta(1.0, 0.3, 30, "5"), TypeError, "^largest_v must be a number, got '5'"),
        (lambda: paraphrase(None, lambda *_: []), TypeError, "^texts must be a sequence of str, got NoneType"),
        (lambda: paraphrase(["a"], lambda *_: [], max_new_tokens="9"), TypeError, "^max_new_tokens must be an integer"),
        (lambda: SearchInverter(len, None), TypeError, "^pool must be a sequence of str, got NoneType"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("longest", [5, 56])
@pytest.mark.parametrize("owned", [False, True], ids=["records", "users"])
def test_texts_are_refused_without_the_length_of_the_longest(longest, owned):
    """numpy names an array of texts by its longest entry, a private fact."""
    texts = ["abc", "x" * longest]
    arguments = (texts, ["a", "b"], Simulation(1)) if owned else (texts, Simulation(1))
    with pytest.raises(TypeError, match=r"got texts; embed them first$") as caught:
        (USERS if owned else RELEASE).release(*arguments)
    assert str(longest) not in str(caught.value)
