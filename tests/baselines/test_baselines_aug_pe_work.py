"""How much work private evolution asks for in an iteration (Fre-E2T, Appendix B.1; claim F068)."""

from __future__ import annotations

import numpy as np
import pytest

from privlib.baselines import aug_pe
from privlib.dp import Simulation


@pytest.fixture
def work(monkeypatch):
    """Texts rewritten, texts embedded, and (records, candidates) whose distances were taken: one list each."""
    done = {"rewritten": [], "embedded": [], "compared": []}
    nearest = aug_pe.nearest_candidates

    def compared(rows, candidates, *more):
        done["compared"].append((len(rows), len(candidates)))
        return nearest(rows, candidates, *more)

    monkeypatch.setattr(aug_pe, "nearest_candidates", compared)
    return done


@pytest.mark.parametrize(("population", "variations", "iterations"), [(10, 3, 6), (30, 7, 4)])
def test_an_iteration_rewrites_embeds_and_compares_as_the_paper_says(work, population, variations, iterations):
    """(L-1) N_syn rewrites, L N_syn candidates embedded or kept, N_pri x L N_syn distances; all T times over."""

    def embed(texts):
        work["embedded"].append(len(texts))
        return np.array([[float(part) for part in text.split()] for text in texts])

    def generate(count, seed):
        return [f"{x:.9f} {y:.9f}" for x, y in Simulation(seed).generator.uniform(-1, 1, (count, 2))]

    def vary(texts, seed):
        work["rewritten"].append(len(texts))
        moves = 0.1 * Simulation(seed).generator.standard_normal((len(texts), 2))
        rows = np.array([[float(part) for part in text.split()] for text in texts]) + moves
        return [f"{x:.9f} {y:.9f}" for x, y in rows]

    settings = {"epsilon": 4.0, "delta": 1e-5, "max_norm": 3.0}
    mechanism = aug_pe.AugPE(
        generate=generate, vary=vary, embed=embed, iterations=iterations, population=population,
        variations=variations, **settings,
    )  # fmt: skip
    mechanism.release(np.full((20, 2), 0.3), Simulation(2))
    assert mechanism.candidates == variations * population
    assert sum(work["rewritten"]) == iterations * (variations - 1) * population
    assert work["embedded"] == [variations * population] * iterations
    assert work["compared"] == [(20, variations * population)] * iterations
