"""Fre-E2T, Sections 4.1 and 6: what two servers and the inverter add to the bill (claims F044 to F048).

**Theorem (the larger of two, F045 and F046).** Let q = 1 - (1-p)^(v+1), eps_fre = v ln 1/(1-p) with v >= 1, delta_fre
Lemma 1's; let (eps_unre, delta_unre) cover a reported record more in the padded histogram, and (eps_c, delta_c) a
member of a released bucket replaced by another in its noisy sum. The view of dummies, heavy counts and sums is
(max(eps_fre + eps_c, eps_unre), max(delta_fre + delta_c, delta_unre))-DP under adding and dropping a record.
*Proof.* Let e^eps' = 1 + (e^eps - 1)/p and j ~ Bin(N-1, p) be the others' reports. Rare names alone have an excess of
at most p Pr[j <= tau-2] delta_unre, as x counts only if reported (module `dummies`); heavy counts and sums of at most
H_N + p Pr[j >= tau-1] delta_c, H_N the count's own at eps_fre: the stand-in differs with probability n/N.
Only the bucket of x changes; other names and dummies are added to it independently, which costs nothing.
 1. N < tau: nothing is heavy, and p delta_unre is left.
 2. tau - qN <= 1: for k < tau, P'(k)/P(k) = N(1-p)/(N-k) <= (1-p)/(1-q) = e^eps_fre: rare names have no excess.
 3. tau - qN > 1: with theta = ln q(1-p)/p(1-q), E e^(theta k) = e^(eps_fre N), so that
    H_N <= Pr[k >= tau] <= e^(eps_fre N - theta tau) = delta_fre e^(-eps_fre (tau - qN)/q) <= delta_fre e^(-eps_fre)
    <= (1-p) delta_fre, and (1-p) delta_fre + p max(delta_c, delta_unre) is at most the larger of the two.
Dropping: a view with x holds 1-p of the view without it, and eps >= ln 1/(1-p). ∎
"""

from __future__ import annotations

import inspect
import itertools
import math
import typing
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import binom

from privlib.dp import gaussian_delta, hockey_stick, largest_rho, truncated_shifted_discrete_laplace_log_pmf
from privlib.synthesis import Centroids, Inverter, SearchInverter, lemma1, paraphrase
from privlib.synthesis.protocol import dummies, noise, vectors

RATES = (0.1, 0.3, 0.5, 0.8, 0.95)
FACTORS = (1.0, 1.5, 3.0, 5.0)
DUMMIES = ((2, 3, 0.6), (2, 8, 4.0), (3, 2, 0.5), (3, 5, 2.0), (3, 2, 50.0), (4, 2, 1.0))


def padded_histograms(threshold, shift, scale):
    """Law of the histogram with dummies when x's bucket shows k = 0..threshold-1: float[threshold, outcomes]."""
    law = np.exp(truncated_shifted_discrete_laplace_log_pmf(np.arange(2 * shift + 1), shift, scale))
    still, moved = np.append(law, 0.0), np.append(0.0, law)
    laws = []
    for k in range(threshold):
        outcomes = np.ones(1)
        for entry in range(1, threshold):
            outcomes = np.multiply.outer(outcomes, moved if entry == k else still).ravel()
        laws.append(outcomes)
    return np.array(laws)


def excess(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def parts(records, rate, histograms, epsilon, drop=False):
    """Excess of the rare and of the heavy names: every outcome of a bucket with `records`, x among them."""
    threshold, kept = len(histograms), np.arange(records + 1)
    p, q = binom.pmf(kept, records, rate), binom.pmf(kept, records - 1, rate)
    if drop:
        p, q = q, p
    low = min(threshold, records + 1)
    rare = excess(p[:low] @ histograms[:low], q[:low] @ histograms[:low], epsilon)
    return rare, excess(p[threshold:], q[threshold:], epsilon)


def sizes(rate, threshold):
    return range(1, min(40, math.ceil(threshold / rate) + 6))


@pytest.mark.parametrize(("threshold", "shift", "scale"), DUMMIES)
@pytest.mark.parametrize("rate", RATES)
def test_names_cost_the_larger_of_both_parameters(threshold, shift, scale, rate):
    """F045: all outcomes, both directions, four budget factors, epsilons of the dummies from 0 past eps_fre."""
    histograms = padded_histograms(threshold, shift, scale)
    for v in FACTORS:
        eps_fre, delta_fre = lemma1(v, rate, threshold)
        for eps_unre in (0.0, 1 / scale, 2 / scale, eps_fre, 1.5 * eps_fre):
            stated = max(delta_fre, dummies.pair_delta(eps_unre, shift, scale))
            for records, drop in itertools.product(sizes(rate, threshold), (False, True)):
                spent = sum(parts(records, rate, histograms, max(eps_fre, eps_unre), drop))
                assert spent <= stated * (1 + 1e-9)
                assert not drop or spent < 1e-14


@pytest.mark.parametrize(("threshold", "shift", "scale"), DUMMIES)
@pytest.mark.parametrize("rate", RATES)
def test_every_case_of_the_proof(threshold, shift, scale, rate):
    """Each inequality by itself, so that a wrong case cannot hide behind a loose one; all three cases occur."""
    histograms, seen = padded_histograms(threshold, shift, scale), set()
    for v, records in itertools.product(FACTORS, sizes(rate, threshold)):
        eps_fre, delta_fre = lemma1(v, rate, threshold)
        gap = threshold + math.expm1((v + 1) * math.log1p(-rate)) * records  # tau - q N
        rare, heavy = parts(records, rate, histograms, eps_fre)
        assert rare <= rate * dummies.pair_delta(eps_fre, shift, scale) * (1 + 1e-9)
        assert heavy <= delta_fre * (1 + 1e-9)
        if records < threshold:
            seen.add("nothing heavy")
            assert heavy == 0
        elif gap <= 1:
            seen.add("nothing rare")
            assert rare < 1e-14
        else:
            seen.add("heavy names are cheap")
            assert heavy <= (1 - rate) * delta_fre
    assert {"nothing heavy", "nothing rare"} <= seen
    if rate == 0.1:
        assert "heavy names are cheap" in seen


def test_without_the_coin_or_the_dummies_the_larger_of_both_is_not_enough():
    """Negative controls: x reported for certain breaks the statement, and so do dummies that are always s."""
    threshold, shift, scale, rate = 2, 20, 2.0, 0.3
    histograms = padded_histograms(threshold, shift, scale)
    eps_fre, delta_fre = lemma1(5.0, rate, threshold)
    epsilon = max(eps_fre, 2 / scale)
    stated = max(delta_fre, dummies.pair_delta(2 / scale, shift, scale))
    one_other = np.array([1 - rate, rate])
    certain = excess(one_other[:1] @ histograms[1:], one_other @ histograms, epsilon) + one_other[1]
    assert certain > 1.5 * stated
    silent = padded_histograms(threshold, shift, 0.25)
    assert max(sum(parts(records, rate, silent, 1.0)) for records in sizes(rate, threshold)) > 1.3 * stated


def test_the_larger_of_both_is_attained():
    """Power: at a large factor v the exact delta is Lemma 1's, so the statement has no slack to hide an error in."""
    histograms = padded_histograms(2, 8, 4.0)
    epsilon, delta_fre = lemma1(5.0, 0.95, 2)
    assert delta_fre > dummies.pair_delta(2 / 4.0, 8, 4.0)
    assert sum(parts(2, 0.95, histograms, epsilon)) > 0.999 * delta_fre


def heavy_with_sums(records, rate, threshold, user_std, distance, epsilon):
    """Excess of (count, noisy sum on integers): x at `distance` from all others, who stand at one point."""
    total = 0.0
    for kept in range(threshold, records + 1):
        law = np.exp(noise.summed_log_pmf(kept, user_std)[1])
        still, moved = np.append(law, np.zeros(distance)), np.append(np.zeros(distance), law)
        share = kept / records
        larger = binom.pmf(kept, records, rate) * ((1 - share) * still + share * moved)
        total += excess(larger, binom.pmf(kept, records - 1, rate) * still, epsilon)
    return total


@pytest.mark.parametrize(("rate", "threshold"), [(0.3, 2), (0.5, 3), (0.8, 3)])
@pytest.mark.parametrize(("eps_c", "user_std"), [(0.5, 1.5), (1.5, 0.7)])
def test_sums_compose_with_heavy_counts_and_in_parallel_with_rare_names(rate, threshold, eps_c, user_std):
    """F046: dummies, counts and sums of users' discrete Gaussians, enumerated; rare names pay nothing for sums."""
    shift, scale, distance = 4, 1.0, 3
    histograms = padded_histograms(threshold, shift, scale)
    delta_c = noise.summed_delta(eps_c, threshold, user_std, distance)  # fewest contributors: the most
    for v in (1.0, 3.0):
        eps_fre, delta_fre = lemma1(v, rate, threshold)
        for eps_unre in (0.0, 2 / scale, 4.0):
            epsilon = max(eps_fre + eps_c, eps_unre)
            stated = max(delta_fre + delta_c, dummies.pair_delta(eps_unre, shift, scale))
            for records in range(1, 13):
                rare, _ = parts(records, rate, histograms, epsilon)
                heavy = heavy_with_sums(records, rate, threshold, user_std, distance, epsilon)
                assert rare + heavy <= stated * (1 + 1e-9)


@pytest.mark.parametrize(("rate", "threshold", "user_std", "distance"), [(0.3, 8, 0.5, 3), (0.2, 10, 0.5, 5)])
def test_sums_of_heavy_names_add_their_share_of_delta_and_no_less_would_do(rate, threshold, user_std, distance):
    """The second inequality of the proof at every N up to 40; without eps_c or delta_c the bill is broken."""
    eps_fre, delta_fre = lemma1(3.0, rate, threshold)
    spent = {}
    for eps_c in (0.5, 11.0):
        delta_c = noise.summed_delta(eps_c, threshold, user_std, distance)
        for records in range(threshold, 41):
            kept = np.arange(threshold, records + 1)
            counts = excess(binom.pmf(kept, records, rate), binom.pmf(kept, records - 1, rate), eps_fre)
            share = rate * binom.sf(threshold - 2, records - 1, rate)
            spent[records] = heavy_with_sums(records, rate, threshold, user_std, distance, eps_fre + eps_c)
            assert spent[records] <= (counts + share * delta_c) * (1 + 1e-9)
        if eps_c < 1:
            assert delta_fre < max(spent.values()) <= delta_fre + delta_c
            unpaid = max(spent.values())  # at nearly eps_fre alone
        else:
            assert delta_fre + delta_c < unpaid


@pytest.mark.parametrize("user_std", [0.5, 1.5, 3.0])
def test_the_noise_of_a_released_bucket_deviates_by_at_least_its_thresholds_part(user_std):
    """F047: by the enumerated law of the sum; sigma is the deviation of a user's part.

    The discrete Gaussian of parameter s deviates by a little less than s: invisible from 1.5 on, by 10 % at a half.
    """
    points, law = noise.summed_log_pmf(1, user_std)
    part = math.sqrt(float(np.exp(law) @ points**2.0))
    for threshold, contributors in ((1, 1), (5, 5), (5, 12), (10, 40)):
        points, law = noise.summed_log_pmf(contributors, user_std)
        total = math.sqrt(float(np.exp(law) @ points**2.0))
        assert total == pytest.approx(math.sqrt(contributors) * part, rel=1e-9)
        assert total >= math.sqrt(threshold) * part * (1 - 1e-9)
        if contributors > threshold:
            assert total > 1.5 * math.sqrt(threshold) * part
    assert part <= user_std
    assert (part > user_std * (1 - 1e-9)) == (user_std >= noise.SMALLEST_USER_STD)


@pytest.mark.parametrize(("contributors", "dimension"), [(30, 512), (100, 1024)])
def test_a_fine_grid_needs_the_noise_of_continuous_sums_and_a_coarse_one_more(contributors, dimension):
    """F048: deviation per unit of the embedding at equal (epsilon, delta) and one accounting, by the grid's step."""
    epsilon, delta, distance = 3.0, 1e-6, 1.2
    continuous = distance / math.sqrt(2 * largest_rho(epsilon, delta))
    ratios = []
    for step in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5):
        units = vectors.grid_sensitivity(distance, step, dimension)
        discrete = noise.total_std(epsilon, delta, contributors, contributors, units, dimension) * step
        ratios.append(discrete / continuous)
    assert np.all(np.diff(ratios) < 0)
    assert ratios[0] > 10  # too coarse
    assert 1 <= ratios[-1] < 1.001


def test_the_curve_of_summed_discrete_noise_becomes_the_gaussian_one():
    """F048, the law itself: delta of the enumerated sum against that of one Gaussian of the same ratio."""
    epsilon, contributors, gaps = 1.0, 4, []
    wanted = gaussian_delta(epsilon, 2.0, 1.0)
    for distance in (1, 3, 10, 30):
        delta = noise.summed_delta(epsilon, contributors, distance * 2.0 / math.sqrt(contributors), distance)
        gaps.append(abs(delta / wanted - 1))
    assert np.all(np.diff(gaps) < 0)
    assert gaps[0] > 0.02
    assert gaps[-1] < 1e-3


# inversion and paraphrases


def test_inverter_and_paraphraser_take_nothing_of_the_users():
    """F044, by types: centroids, public text, public settings and models; and of a release no array but what is out."""
    assert set(inspect.signature(Inverter.invert).parameters) == {"self", "centroids"}
    assert set(inspect.signature(SearchInverter.invert).parameters) == {"self", "centroids", "progress"}
    settings = {"attempts", "max_new_tokens", "temperature", "seed"}
    assert set(inspect.signature(paraphrase).parameters) == {"texts", "generate", "n"} | settings
    assert {f.name for f in fields(Centroids)} == {
        *("centroids", "counts", "cells", "origins", "noise_std", "guarantee", "kind")
    }
    arrays = {
        f.name for f in fields(SearchInverter) if np.ndarray in typing.get_args(f.type) or "ndarray" in str(f.type)
    }
    assert arrays == {"embed", "pool_vectors"}


POOL = ("warm bread", "cold coffee", "late bus", "long queue")


def embed(texts):
    """Letter counts: any two different texts of the pool lie apart."""
    return np.array([[1.0 + text.count(letter) for letter in "abcdefglou"] for text in texts])


def test_inverting_and_paraphrasing_a_release_raise_no_divergence():
    """F044 enumerated: a release over five lists of centroids under two neighbours, then texts drawn from it.

    Inversion is run; paraphrasing is a kernel on texts. The control draws with a kernel that knows the data.
    """
    lists = [embed([*some]) for some in (POOL[:1], POOL[1:2], POOL[:2], POOL[2:], POOL)]
    inverter = SearchInverter(embed=embed, pool=POOL, edits=0)
    texts = [tuple(inverter.invert(some)) for some in lists]
    assert texts == [tuple(inverter.invert(some.copy())) for some in lists]
    p, q = np.array([0.4, 0.1, 0.2, 0.25, 0.05]), np.array([0.2, 0.2, 0.3, 0.25, 0.05])
    kernel = np.random.default_rng(1).dirichlet(np.ones(4), len(set(texts)))
    names = {text: row for row, text in enumerate(sorted(set(texts)))}
    rows = [names[text] for text in texts]
    for epsilon in (0.0, 0.3, 0.6):
        before = max(hockey_stick(*np.log(pair), epsilon) for pair in ((p, q), (q, p)))
        for channel in (np.eye(len(names)), kernel):
            out = [np.log(law @ channel[rows] + 1e-300) for law in (p, q)]
            after = max(hockey_stick(*pair, epsilon) for pair in (out, out[::-1]))
            assert after <= before + 1e-12
        knowing = [np.log(law @ channel[rows] + 1e-300) for law, channel in ((p, np.eye(5)), (q, np.eye(5)[[4] * 5]))]
        assert max(hockey_stick(*pair, epsilon) for pair in (knowing, knowing[::-1])) > before + 0.05


def test_a_model_or_pool_that_saw_a_users_text_breaks_the_premise():
    """Negative control: with a private text in the pool one centroid gives two texts."""
    centroid = embed(["fee fee flood"])
    clean = SearchInverter(embed=embed, pool=POOL, edits=0).invert(centroid)
    assert SearchInverter(embed=embed, pool=(*POOL, "fee fee flood"), edits=0).invert(centroid) != clean
