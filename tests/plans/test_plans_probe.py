"""The probe is a public coordinate, its support is what was put in, and a text tells of it only if it was admitted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.studies import plans as base
from privlib.experiments.studies import plans_corpora
from privlib.experiments.studies import plans_probe as study

GRID = {"epsilons": [2.0], "plan_size": 10, "delta": 1e-6, "runs": 12}


@pytest.fixture(scope="module")
def case():
    return plans_corpora.prepare("generated", "packaged", universe_size=30)


@pytest.fixture(scope="module")
def rows(case):
    masses = np.sort(plans.record_sketch(case.vectors).masses)[::-1]
    middle = int(0.8 * (masses[4] + masses[7]) / 2)  # strong enough for a plan of ten, too weak for three headlines
    return study.inject([case], **GRID, supports=[0, 20, middle, 800], kept_share=0.8, seed=3)


def test_the_probe_is_a_public_coordinate_that_no_target_text_can_change(case):
    """P024: the list is fixed before the target is touched; admission of a known atom, not discovery."""
    made = study.with_probe(case)
    assert made.universe.labels == (*case.universe.labels, study.LABEL)
    emptied = plans_corpora.Case(
        case.name, case.corpus, case.auxiliary, case.target.take([0]), case.universe, case.sparsity, case.vectors[:1]
    )
    assert study.with_probe(emptied).universe.fingerprint == made.universe.fingerprint
    assert made.vectors[:, [-1]].sum() == 0  # nothing in the corpus speaks of it


def test_probe_records_carry_their_mass_to_the_probe(case):
    made = study.with_probe(case)
    vectors = plans.assign(study.TEXTS, made.universe, 3).toarray()
    assert (vectors[:, -1] > 0.5).all()
    assert (vectors.sum(axis=1) <= 1).all()


def test_injected_support_is_the_mass_and_admission_rises_with_it(rows):
    assert not rows.isna().any().any()
    assert len(rows) == 3 * 4
    assert set(study.BANDS) <= set(rows.columns)
    for _, part in rows.groupby("mechanism"):
        assert part.probe_mass.tolist() == pytest.approx(part.support.tolist(), rel=0.2)
        assert part.plain_rank.is_monotonic_decreasing
        assert part.admitted.iloc[-1] > part.admitted.iloc[0]
    sketches = rows[rows.mechanism != "private_topL"]
    assert (sketches[sketches.support == 800].admitted == 1).all()
    assert (sketches[sketches.support == 0].admitted == 0).all()


def test_the_template_tells_of_all_that_is_admitted_and_headlines_of_less(rows):
    assert rows.mentioned_template.tolist() == rows.admitted.tolist()
    assert (rows.admitted_not_mentioned >= 0).all()
    assert rows.admitted_not_mentioned.max() > 0


def test_rates_lie_within_their_limits(rows):
    for name in study.RATES:
        assert (rows[f"{name}_low"] <= rows[name]).all()
        assert (rows[name] <= rows[f"{name}_high"]).all()


def test_clopper_pearson_limits_cover():
    """Exact binomial coverage of the limits at rate 0.3 over 12 runs is at least 95 %; of the rate alone it is not."""
    from scipy.stats import binom

    cover = 0.0
    for hits in range(13):
        row = study._rates(np.array([[k < hits] * 3 for k in range(12)]))
        cover += binom.pmf(hits, 12, 0.3) * (row["admitted_low"] <= 0.3 <= row["admitted_high"])
    assert 0.95 <= cover < 1


def test_the_shorter_text_still_verifies(case):
    mechanism = base.mechanism("gaussian", case.universe, 4.0, 1e-6, 6)
    sketch = plans.record_sketch(case.vectors, case.universe.fingerprint)
    plan = mechanism.release(sketch, Simulation(1))
    report = plans.report(plan, study.headlines(), universe=case.universe)
    assert not report.fallback
    assert sum(atom.label in report.text for atom in plan.atoms) == study.HEADLINES


def test_rank_of_the_probe_gives_ties_to_the_lower_index():
    assert study.rank_of_probe(np.array([3.0, 1.0, 2.0])) == 2
    assert study.rank_of_probe(np.array([3.0, 2.0, 2.0])) == 3
    assert study.rank_of_probe(np.array([3.0, 2.0, 9.0])) == 1


def test_crossings_are_where_a_rate_stays_above_one_half():
    table = pd.DataFrame(
        {
            "corpus": "a",
            "mechanism": ["x"] * 4 + ["y"] * 4,
            "epsilon": 1.0,
            "support": [0, 10, 20, 40] * 2,
            "admitted": [0.0, 0.6, 0.4, 0.5, 0.5, 0.6, 0.7, 1.0],
            "mentioned_headlines": [0.0, 0.0, 0.1, 0.4, 0.0, 0.5, 0.5, 0.6],
        }
    )
    found = study.crossings(pd.concat([table, table.assign(epsilon=2.0, admitted=0.0)]), 1.0)
    assert found.to_dict("records") == [
        {"corpus": "a", "mechanism": "x", "admitted": "40", "told": "none tried"},
        {"corpus": "a", "mechanism": "y", "admitted": "0", "told": "10"},
    ]


def test_a_probe_that_the_labels_know_is_refused(case):
    universe = plans.AtomUniverse((*case.universe.labels, "black umbrella"), (), case.universe.manifest)
    known = plans_corpora.Case(
        case.name, case.corpus, case.auxiliary, case.target, universe, case.sparsity, case.vectors
    )
    with pytest.raises(ValueError, match="foreign"):
        study.with_probe(known)


def test_the_figure_is_drawn_from_the_record(rows):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_probe as figures

    record = experiments.record(id="plans-test", title="t", rows=rows, parameters={}, seed=3, bands=study.BANDS)
    real = experiments.record(id="plans-test", title="t", rows=rows.assign(corpus="real"), parameters={}, seed=3)
    both = figures.draw_probe(record, 2.0, [real])
    assert [note.get_text() for axis in both.axes for note in axis.texts] == [
        rows.corpus.iloc[0],
        "real (recorded, interactive)",
    ]
    admitted, told = figures.draw_probe(record, 2.0).axes
    assert [len(axis.lines) for axis in (admitted, told)] == [3, 3]
    matplotlib.pyplot.close("all")
