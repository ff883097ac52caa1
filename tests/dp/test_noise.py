"""The simulated source: streams, laws and refusals; laws that both sources share."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy.special import ndtr

from privlib.dp import Secure, Simulation


def first(source: Simulation) -> float:
    return float(source.generator.random())


def test_same_seed_same_draws():
    for seed in (0, 7, (7, 1), [3, 2, 1], np.int64(5)):
        again = Simulation(seed).child("a").add_gaussian(np.zeros(5), 1.0)
        assert np.array_equal(Simulation(seed).child("a").add_gaussian(np.zeros(5), 1.0), again)


def test_no_stream_is_handed_out_twice():
    root = Simulation(7)
    streams = [root, Simulation((7, 0)), Simulation((0, 7)), Simulation(8)]
    for name in ("a", "b", "a#1", "a#1#0", "", "a/b"):
        streams += [root.child(name) for _ in range(3)]
    streams += [root.child("a").child("b"), root.child("b").child("a")]
    assert len({first(stream) for stream in streams}) == len(streams)


def test_a_child_does_not_depend_on_other_names_or_draws():
    plain = first(Simulation(7).child("votes"))
    busy = Simulation(7)
    busy.child("other")
    busy.add_laplace(np.zeros(10), 1.0)
    assert first(busy.child("votes")) == plain
    assert first(busy.child("votes")) != plain


def test_children_are_uncorrelated():
    root, n = Simulation(1), 20_000
    draws = np.array([root.child("x").add_gaussian(np.zeros(n), 1.0) for _ in range(6)])
    off_diagonal = np.corrcoef(draws)[np.triu_indices(6, 1)]
    assert np.abs(off_diagonal).max() < 6 / np.sqrt(n)


def test_children_are_cheap():
    root = Simulation(3)
    start = time.process_time()
    for _ in range(2000):
        root.child("step").integers(5)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("seed", ["7", b"7", (), 1.5, None, True, (1, 2.0)])
def test_seeds_of_other_types_are_refused(seed):
    with pytest.raises(TypeError, match="seed"):
        Simulation(seed)


def test_negative_seeds_and_nameless_children_are_refused():
    with pytest.raises(ValueError, match="seed"):
        Simulation(-1)
    for source in (Simulation(1), Secure()):
        with pytest.raises(TypeError, match="name"):
            source.child(3)


def cells(draws, quantiles):
    return np.bincount(np.searchsorted(quantiles, draws), minlength=len(quantiles) + 1)


def laplace_cdf(x):
    return np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


LAWS = {"laplace": laplace_cdf, "gaussian": ndtr}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("factor", [1.0, 0.7, 1.2])
def test_noise_has_the_law_it_is_billed_for(source, law, factor, fits):
    """Pearson over 20 cells, 8,000 draws; power: noise times 0.7 or 1.2 (a wrong bill) must be caught."""
    edges, scale = np.linspace(-3, 3, 19), 3.0
    draws = getattr(source, f"add_{law}")(np.full((80, 100), 5.0), scale * factor)
    assert draws.shape == (80, 100)
    probabilities = np.diff(np.concatenate([[0.0], LAWS[law](edges), [1.0]]))
    assert fits(cells((draws.ravel() - 5.0) / scale, edges), probabilities) == (factor == 1.0)


def softmax(scores, scale):
    weights = np.exp((scores - np.max(scores)) / scale)
    return weights / weights.sum()


def test_argmax_gumbel_is_the_exponential_mechanism(source, fits):
    """Pearson, 6,000 draws; power: the law of half or twice the scale, or of a lost exclusion, must be caught."""
    scores, scale = np.array([0.0, 1.0, -np.inf, 2.0, 2.5]), 1.5
    observed = np.bincount([source.argmax_gumbel(scores, scale) for _ in range(6000)], minlength=5)
    assert fits(observed, softmax(scores, scale))
    for wrong in (
        softmax(scores, 2 * scale),
        softmax(scores, scale / 2),
        softmax(np.array([0, 1.0, 0, 2, 2.5]), scale),
    ):
        assert not fits(observed, wrong)


def test_permute_and_flip_is_not_mistaken_for_the_exponential_mechanism(fits):
    """OpenDP's noisy maximum under pure DP draws exponential noise: the test of fit above can tell."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    scores, scale = [0.0, 1.0, 2.0, 2.5], 1.5
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    flip = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
    observed = np.bincount([flip(scores) for _ in range(6000)], minlength=4)
    assert not fits(observed, softmax(np.array(scores), scale))


@pytest.mark.parametrize("probability", [0.0, 1e-300, 0.3, 0.5, 1 - 2**-53, 1.0])
def test_bernoulli(source, probability, fits):
    draws = source.bernoulli(probability, (50, 200))
    assert draws.shape == (50, 200)
    assert draws.dtype == bool
    if 0.01 < probability < 0.99:
        assert fits([draws.sum(), (~draws).sum()], [probability, 1 - probability])
        assert not fits([draws.sum(), (~draws).sum()], [probability + 0.06, 0.94 - probability])
    else:  # the unlikely value has probability 1e-12 or less in all draws together
        assert draws.all() == (probability > 0.5)
        assert draws.any() == (probability > 0.5)


def test_integers(source, fits):
    draws = source.integers(7, (70, 100))
    assert draws.dtype == np.int64
    assert draws.shape == (70, 100)
    assert fits(np.bincount(draws.ravel(), minlength=7), np.full(7, 1 / 7))
    assert not fits(np.bincount(np.where(draws == 6, 0, draws).ravel(), minlength=7), np.full(7, 1 / 7))
    assert isinstance(source.integers(3), int)
    assert source.integers(1, 5).tolist() == [0] * 5
    assert source.integers(1 << 63, 3).min() >= 0


def test_categorical(source, fits):
    probabilities = np.array([0.1, 0.0, 0.2, 0.7])
    draws = source.categorical(probabilities, 4000)
    assert draws.dtype == np.int64
    assert fits(np.bincount(draws, minlength=4), probabilities)
    assert not fits(np.bincount(draws, minlength=4), [0.1, 0.0, 0.3, 0.6])
    assert source.categorical([0.0, 1.0, 0.0]) == 1
    assert isinstance(source.categorical([0.5, 0.5]), int)


def test_permutation(source, fits):
    """All 24 orders of 4, 6,000 draws; power: an order that never moves the last place must be caught."""
    index = {order: i for i, order in enumerate(itertools.permutations(range(4)))}
    drawn = [source.permutation(4) for _ in range(6000)]
    assert fits(np.bincount([index[tuple(p)] for p in drawn], minlength=24), np.full(24, 1 / 24))
    lazy = [(*(p[p != 3]), 3) for p in drawn]
    assert not fits(np.bincount([index[p] for p in lazy], minlength=24), np.full(24, 1 / 24))
    assert source.permutation(0).tolist() == []
    assert source.permutation(1).tolist() == [0]
    assert np.array_equal(np.sort(source.permutation(100_000)), np.arange(100_000))


@pytest.mark.parametrize("size", [0, (0, 3), 5, (2, 3)])
def test_shapes(source, size):
    shape = (size,) if isinstance(size, int) else size
    assert source.add_laplace(np.zeros(shape), 1.0).shape == shape
    assert source.add_gaussian(np.zeros(shape), 1.0).shape == shape
    assert source.bernoulli(0.5, size).shape == shape
    assert source.integers(3, size).shape == shape
    assert source.categorical([0.5, 0.5], size).shape == shape


@pytest.mark.parametrize(
    "draw",
    [
        lambda source: source.add_laplace([0.0], -1.0),
        lambda source: source.add_gaussian([0.0], float("nan")),
        lambda source: source.add_gaussian([0.0], float("inf")),
        lambda source: source.argmax_gumbel([0.0], 0.0),
        lambda source: source.argmax_gumbel([], 1.0),
        lambda source: source.argmax_gumbel([-np.inf], 1.0),
        lambda source: source.argmax_gumbel([np.nan, 1.0], 1.0),
        lambda source: source.argmax_gumbel([np.inf, 1.0], 1.0),
        lambda source: source.bernoulli(1.5, 3),
        lambda source: source.bernoulli(float("nan"), 3),
        lambda source: source.integers(0),
        lambda source: source.categorical([0.5, 0.4]),
        lambda source: source.categorical([1.5, -0.5]),
        lambda source: source.categorical([]),
        lambda source: source.categorical([np.nan, 1.0]),
        lambda source: source.permutation(-1),
        lambda source: source.laplace_scale(0.0, 1.0, 3),
        lambda source: source.laplace_scale(1.0, 0.0, 3),
        lambda source: source.gaussian_std(1.0, 0.0, 1.0, 3),
        lambda source: source.gaussian_std(1.0, 1e-6, 1.0, 0),
    ],
)
def test_arguments_outside_their_range_are_refused(source, draw):
    with pytest.raises(ValueError, match="must"):
        draw(source)
