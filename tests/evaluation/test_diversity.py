"""Self-BLEU against another implementation, and summaries of likelihoods."""

from __future__ import annotations

import numpy as np
import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from scipy.stats import binom

from privlib.dp import Simulation
from privlib.evaluation.diversity import bleu, fluency, self_bleu


def test_bleu_against_nltk():
    generator = Simulation(1).generator
    words = [f"w{j}" for j in range(6)]
    scores = []
    for _ in range(60):
        text, *references = [list(generator.choice(words, generator.integers(4, 12))) for _ in range(4)]
        ours = bleu(text, references)
        assert ours == pytest.approx(sentence_bleu(references, text, smoothing_function=SmoothingFunction().method1))
        scores.append(ours)
    assert np.std(scores) > 0.05


def test_bleu_by_hand():
    assert bleu(["a", "b"], [["a", "b"]]) == 1.0  # shorter than four words: orders 1 and 2 only
    assert bleu(["a", "a", "a"], [["a", "b", "c"]]) == pytest.approx((1 / 3 * 0.1 / 2 * 0.1 / 1) ** (1 / 3))
    assert bleu(["a", "b"], [["a", "b", "c", "d"]]) == pytest.approx(np.exp(-1))
    for text, references in (([], [["a"]]), (["a"], [])):
        with pytest.raises(ValueError, match="empty"):
            bleu(text, references)


def test_copies_score_one_and_clusters_weigh_alike():
    copies, varied = ["the wait was long"] * 3, ["nice soup", "rude clerk at noon"]
    assert self_bleu(copies, [0] * 3).mean == 1.0
    apart = self_bleu(varied, [1] * 2).mean
    assert apart < 0.3
    both = self_bleu([*copies, *varied, "alone here", "!!"], [0] * 3 + [1] * 2 + [2, 2])
    assert (both.mean, both.clusters, both.texts) == (pytest.approx((1 + apart) / 2), 2, 5)
    with pytest.raises(ValueError, match="at least two texts"):
        self_bleu(["alone here", "!!"], [0, 0])
    with pytest.raises(ValueError, match="one key a text"):
        self_bleu(["a"], [])


def test_likelihoods_are_summed_up_and_one_odd_text_rules_the_mean_perplexity_only():
    nlls = np.append(np.full(99, 4.0), 20.0)
    found = fluency(nlls)
    assert (found.median, found.low, found.high, found.natural, found.texts) == (4.0, 4.0, 4.0, 0.99, 100)
    assert found.perplexity == pytest.approx((99 * np.exp(4) + np.exp(20)) / 100)
    assert fluency([6.0, 7.0]).natural == 0.5  # at most 6: the limit itself is in
    with pytest.raises(ValueError, match="nlls"):
        fluency([])
    with pytest.raises(ValueError, match="nlls"):
        fluency([1.0, np.nan])


@pytest.mark.parametrize("n", [6, 25, 200])
def test_the_interval_of_the_median_is_the_narrowest_that_covers(n):
    ranks = np.arange(n, dtype=float)
    low = int(fluency(ranks + 1).low) - 1

    def covered(left_out):
        return 1 - 2 * binom.cdf(left_out, n, 0.5)

    assert covered(low) >= 0.95
    assert covered(low + 1) < 0.95
    assert fluency(ranks + 1).high == n - low
