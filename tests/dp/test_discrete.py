"""Laws on the integers: normalisation against exact sums, draws of both sources against the pmf, the exact curve."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from privlib.dp import (
    Secure,
    Simulation,
    discrete_gaussian_delta,
    discrete_gaussian_log_pmf,
    discrete_laplace_log_pmf,
    hockey_stick,
    integers,
    truncated_shifted_discrete_laplace_log_pmf,
)

SCALES = [1e-3, 0.1, 0.49, 0.999, 1.0, 1.001, 2.5, 40.0]


def twin_log_pmf(x: int, log_weight, reach: int) -> float:
    """ln of weight(x) / sum of weights, 60 digits, term by term."""
    with mpmath.workdps(60):
        weights = mpmath.fsum(mpmath.exp(log_weight(mpmath.mpf(k))) for k in range(-reach, reach + 1))
        return float(log_weight(mpmath.mpf(x)) - mpmath.log(weights))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("x", [0, 1, -3, 40])
def test_log_pmfs_agree_with_60_digits(scale, x):
    b = mpmath.mpf(scale)
    gauss = twin_log_pmf(x, lambda k: -(k**2) / (2 * b**2), 12 + int(14 * scale))
    assert float(discrete_gaussian_log_pmf(x, scale)) == pytest.approx(gauss, rel=1e-14, abs=1e-15)
    laplace = twin_log_pmf(x, lambda k: -abs(k) / b, 12 + int(60 * scale))
    assert float(discrete_laplace_log_pmf(x, scale)) == pytest.approx(laplace, rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("scale", [0.01, 0.7, 3.0, 500.0])
@pytest.mark.parametrize("shift", [1, 2, 7, 60])
def test_the_truncated_law_is_the_conditional_one(shift, scale):
    if scale > 100 * (shift + 1):
        with pytest.raises(ValueError, match="scale must be at most 100"):
            truncated_shifted_discrete_laplace_log_pmf(0, shift, scale)
        return
    x = np.arange(-2, 2 * shift + 3)
    log_pmf = truncated_shifted_discrete_laplace_log_pmf(x, shift, scale)
    assert (log_pmf[:2] == -np.inf).all()
    assert (log_pmf[-2:] == -np.inf).all()
    assert math.fsum(np.exp(log_pmf)) == pytest.approx(1, abs=1e-13)
    inside = discrete_laplace_log_pmf(x[2:-2] - shift, scale)
    assert log_pmf[2:-2] == pytest.approx(inside - np.log(np.exp(inside).sum()), rel=1e-12, abs=1e-12)


def test_wide_laws_are_near_their_continuous_forms_and_normalised():
    x = np.arange(-20_000, 20_001)
    log_density = -(x**2) / (2 * 2000.0**2) - math.log(2000.0) - math.log(2 * math.pi) / 2
    assert discrete_gaussian_log_pmf(x, 2000.0) == pytest.approx(log_density, rel=1e-13)
    assert math.fsum(np.exp(discrete_gaussian_log_pmf(x, 2000.0))) == pytest.approx(1, abs=1e-12)
    assert math.fsum(np.exp(discrete_laplace_log_pmf(x, 400.0))) == pytest.approx(1, abs=1e-12)
    assert np.isfinite(discrete_gaussian_log_pmf([0, 1 << 46], 2.0**40)).all()


LAWS = {
    "discrete_laplace": (discrete_laplace_log_pmf, lambda source, scale, n: source.add_discrete_laplace(n, scale)),
    "discrete_gaussian": (discrete_gaussian_log_pmf, lambda source, scale, n: source.add_discrete_gaussian(n, scale)),
    "truncated": (
        lambda x, scale: truncated_shifted_discrete_laplace_log_pmf(x, 6, scale),
        lambda source, scale, n: source.truncated_shifted_discrete_laplace(6, scale, n.shape),
    ),
}


def cells(log_pmf, draws, n):
    """Counts and probabilities of single integers, those expected fewer than 5 times pooled by side."""
    x = np.arange(-400, 401)
    p = np.exp(log_pmf(x))
    common = np.flatnonzero(p * n >= 5)
    low, high = common[0], common[-1]
    counts = np.bincount(np.clip(draws + 400, low, high) - low, minlength=high - low + 1)
    pooled = np.concatenate([[p[: low + 1].sum()], p[low + 1 : high], [p[high:].sum()]])
    return counts, pooled / pooled.sum()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [0.4, 3.0, 30.0])
def test_draws_have_the_stated_law(source, law, scale, fits):
    """Pearson on every integer, 8,000 draws (Secure) or 100,000; the law of scale x 0.8 must be told apart.

    On 13 integers a truncated law of scale 30 is nearly uniform: there a clipped law must be told apart.
    """
    log_pmf, draw = LAWS[law]
    shape = (80, 100) if source.kind == "secure" else (1000, 100)
    n = math.prod(shape)
    draws = draw(source, scale, np.zeros(shape, dtype=np.int64))
    assert draws.dtype == np.int64
    assert draws.shape == shape
    assert fits(*cells(lambda x: log_pmf(x, scale), draws.ravel(), n))
    if law != "truncated" or scale < 30:
        assert not fits(*cells(lambda x: log_pmf(x, scale * 0.8), draws.ravel(), n))
    else:
        clipped = np.clip(source.add_discrete_laplace(np.full(n, 6), scale), 0, 12)
        assert not fits(*cells(lambda x: log_pmf(x, scale), clipped, n))


def test_tiny_scales_are_dominated_by_zero_and_large_ones_have_their_variance(source):
    zeros = np.zeros(1000, dtype=np.int64)
    assert not source.add_discrete_gaussian(zeros, 1e-3).any()  # Pr[not 0] is e^-500000
    assert not source.add_discrete_laplace(zeros, 1e-2).any()  # e^-100
    for std in (1e6, 2.0**40):
        gauss = source.add_discrete_gaussian(zeros, std) / std
        laplace = source.add_discrete_laplace(zeros, std) / std
        assert 0.7 < np.mean(gauss**2) < 1.3  # 6.7 deviations
        assert 1.3 < np.mean(laplace**2) < 3.0  # below 1e-8, by convolution: squares have a heavy tail


def test_sums_saturate_and_never_wrap_round(source):
    largest, smallest = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    for add in (source.add_discrete_laplace, source.add_discrete_gaussian):
        assert (add(np.full(400, largest), 3.0) > largest - 400).all()
        assert (add(np.full(400, smallest), 3.0) < smallest + 400).all()
    wrapped = integers.add_saturating(np.array([largest, smallest, 5]), np.array([1, -1, -7]))
    assert wrapped.tolist() == [largest, smallest, -2]


def test_shapes_of_integer_noise(source):
    for shape in ((), (0,), (0, 3), (2, 3)):
        for add in (source.add_discrete_laplace, source.add_discrete_gaussian):
            noisy = add(np.zeros(shape, dtype=np.int32), 2.0)
            assert noisy.shape == shape
            assert noisy.dtype == np.int64
        assert source.truncated_shifted_discrete_laplace(3, 1.0, shape).shape == shape
    assert isinstance(source.truncated_shifted_discrete_laplace(3, 1.0), int)


def test_noise_switched_off_is_for_simulations_only():
    values = np.arange(4)
    for name in ("add_discrete_laplace", "add_discrete_gaussian"):
        off = getattr(Simulation(1), name)(values, 0.0)
        assert np.array_equal(off, values)
        assert off is not values
        with pytest.raises(ValueError, match="above 0"):
            getattr(Secure(), name)(values, 0.0)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda source: source.add_discrete_laplace([0], -1.0), "scale"),
        (lambda source: source.add_discrete_gaussian([0], math.inf), "std"),
        (lambda source: source.add_discrete_gaussian([0], 2.0**41), "std must be at most 2\\^40"),
        (lambda source: source.add_discrete_laplace(np.array([1 << 63], np.uint64), 1.0), "64-bit"),
        (lambda source: source.truncated_shifted_discrete_laplace(0, 1.0), "shift"),
        (lambda source: source.truncated_shifted_discrete_laplace(1, 0.0), "scale"),
        (lambda source: source.truncated_shifted_discrete_laplace(1, 201.0), "scale must be at most 100"),
        (lambda source: source.truncated_shifted_discrete_laplace((1 << 40) + 1, 1.0), "shift"),
    ],
)
def test_integer_noise_refuses_what_is_out_of_range(source, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(source)


def test_floats_are_refused_as_integers_without_their_values(source):
    for add in (source.add_discrete_laplace, source.add_discrete_gaussian):
        with pytest.raises(TypeError, match="values must be an array of integers, got dtype float64") as refusal:
            add([987654.25], 1.0)
        assert "98765" not in str(refusal.value)


# -------------------------------------------------------------------------------------------- the exact curve
def twin_delta(epsilon: float, std: float, shift: int) -> float:
    """Sum of max(0, p - e^epsilon q) with 60 digits."""
    with mpmath.workdps(60):
        reach = 60 + shift + int(20 * std)
        law = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(std) ** 2)) for k in range(-reach, reach + 1)]
        total, ratio = mpmath.fsum(law), mpmath.exp(mpmath.mpf(epsilon))
        terms = (law[i - shift] - ratio * law[i] for i in range(shift, 2 * reach + 1))
        return float(mpmath.fsum(term for term in terms if term > 0) / total)


@pytest.mark.parametrize("std", [0.2, 0.5, 1.0, 4.3, 25.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.3, 2.0, 12.5, 100.0])
@pytest.mark.parametrize("shift", [1, 4])
def test_the_curve_agrees_with_60_digits_and_is_never_below(epsilon, std, shift):
    exact, got = twin_delta(epsilon, std, shift), discrete_gaussian_delta(epsilon, std, shift)
    assert got >= exact * (1 - 1e-15)
    edge = round(epsilon * std**2 / shift - shift / 2)  # where the loss is epsilon itself, only rounding up is left
    assert got == pytest.approx(exact, rel=1e-9, abs=1e-12 * math.exp(discrete_gaussian_log_pmf(edge, std)) + 1e-300)


@pytest.mark.parametrize("std", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_a_larger_shift_costs_more_and_both_directions_the_same(epsilon, std):
    x = np.arange(-200, 201)
    laws = [discrete_gaussian_log_pmf(x - shift, std) for shift in range(5)]
    assert hockey_stick(laws[3], laws[0], epsilon) == pytest.approx(hockey_stick(laws[0], laws[3], epsilon), rel=1e-9)
    stated = [discrete_gaussian_delta(epsilon, std, shift) for shift in range(1, 5)]
    assert stated == sorted(stated)
    assert stated == pytest.approx([hockey_stick(law, laws[0], epsilon) for law in laws[1:]], rel=1e-9, abs=1e-300)


def test_corners_of_the_curve():
    assert discrete_gaussian_delta(math.inf, 1.0, 1) == 0.0
    assert discrete_gaussian_delta(5.0, 1e-100, 1) == 1.0
    assert discrete_gaussian_delta(1e6, 1.0, 1) == math.ulp(0.0)
    assert discrete_gaussian_delta(0.0, 2.0**14, 1) == pytest.approx(1 / (2.0**14 * math.sqrt(2 * math.pi)), rel=1e-6)
    assert discrete_gaussian_delta(1.0, 1.0, 1 << 40) == 1.0
    for bad in ((-1.0, 1.0, 1), (1.0, 0.0, 1), (1.0, 2.0**15, 1), (1.0, 1.0, 0), (1.0, 1.0, 1 << 41), (math.nan, 1, 1)):
        with pytest.raises(ValueError, match="must"):
            discrete_gaussian_delta(*bad)
    with pytest.raises(TypeError, match="sensitivity"):
        discrete_gaussian_delta(1.0, 1.0, 1.0)
