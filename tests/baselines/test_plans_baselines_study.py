"""The comparison itself: tidy, seeded, all methods on the same texts; and the figure is made of the record alone."""

from __future__ import annotations

import math

import pytest

from privlib import baselines, dp
from privlib.dp import Simulation
from privlib.experiments.studies import plans_baselines as study
from privlib.experiments.studies import plans_corpora

GRID = {"epsilons": [1.0, 32.0], "delta": 1e-6, "runs": 3, "seed": 5}


@pytest.fixture(scope="module")
def world(encoder):
    case = plans_corpora.prepare("health-news", "packaged", universe_size=20, texts=2000)
    public = study.public_side(case.auxiliary, case.universe, encoder, "outlet", clusters=4, plan_size=5)
    return case.select(300, 1, "record"), public


@pytest.fixture(scope="module")
def rows(world):
    return study.compare(world[0], "outlet", world[1], **GRID)


def mean(rows, method, metric, epsilon=math.inf):
    found = rows[(rows["method"] == method) & (rows["metric"] == metric) & (rows["epsilon"] == epsilon)]
    assert len(found) == 1
    return float(found["mean"].iloc[0])


def test_rows_are_tidy_reproducible_and_complete(world, rows):
    assert not rows.isna().any().any()
    assert rows.equals(study.compare(world[0], "outlet", world[1], **GRID))
    expected = len(study.PRIVATE) * 2 + len(study.REFERENCES)
    assert len(rows) == expected * len(study.METRICS) + len(study.PLANS) * 2 * len(study.VERIFIED)
    assert set(rows[rows["epsilon"] == math.inf]["method"]) == set(study.REFERENCES)
    assert (rows["runs"] == 3).all()
    assert set(study.BANDS) <= set(rows.columns)


def test_the_exact_plan_is_its_own_reference_and_a_large_budget_comes_near_it(rows):
    for metric in ("atoms_recovered", *study.SIMILARITIES):
        assert mean(rows, study.EXACT, metric) == pytest.approx(1.0)
    assert mean(rows, "plan, Laplace sketch", "atoms_recovered", 32.0) >= 0.8
    assert mean(rows, "plan, Laplace sketch", "atoms_recovered", 32.0) > mean(
        rows, study.CATEGORIES, "atoms_recovered", 32.0
    )


def test_direct_summaries_tell_secrets_and_private_methods_never_do(rows):
    assert mean(rows, study.DIRECT, "marked_secret_told") > 0.5
    assert mean(rows, study.REDACTED, "marked_secret_told") == 0
    assert mean(rows, study.REDACTED, "plain_secret_told") > 0.5
    for name in study.PRIVATE:
        for epsilon in GRID["epsilons"]:
            assert (
                mean(rows, name, "marked_secret_told", epsilon) == mean(rows, name, "plain_secret_told", epsilon) == 0
            )


def test_every_run_has_its_canary_in_texts_categories_and_sketch(world):
    target, public = world
    canary = study.Canary.draw(public.vocabulary, Simulation(1).generator)
    assert canary.plain in canary.text
    assert canary.marked in canary.text
    private = study._with_canary(target, "outlet", canary, public)
    assert private.texts[-1] == canary.text
    assert len(private.texts) == len(private.categories) == len(target.corpus) + 1
    change = private.sketch.masses - target.sketch(public.universe, "record").masses
    assert 0 < change.sum() <= 1
    assert study.Canary.draw(public.vocabulary, Simulation(2).generator).plain != canary.plain


def test_words_that_no_atom_shares_point_to_no_atom(world):
    public = world[1]
    assert study.nearest_atoms([baselines.Theme("unheardofword", 5.0)], public) == frozenset()
    assert study.nearest_atoms([], public) == frozenset()
    label = public.universe.labels[3]
    assert 3 in study.nearest_atoms([baselines.Theme(label, 5.0)], public)
    other = public.universe.labels[7]
    assert study.nearest_atoms(
        [baselines.Theme(label, 0.0), baselines.Theme(other, 1.0)], public
    ) == study.nearest_atoms([baselines.Theme(other, 1.0)], public)


def test_a_silent_summary_counts_as_nothing(world):
    public = world[1]
    private = study._with_canary(world[0], "outlet", study.Canary("they wrote", "marked", "plain"), public)
    silent = study.Told("No theme stands out.", "", frozenset())
    found = study.measures(silent, study.exact_plan(private, public), study.Canary("", "marked", "plain"), public)
    assert found["nothing_told"] == 1
    assert all(found[name] == 0 for name in (*study.SIMILARITIES, "atoms_recovered"))


def test_the_verifier_reads_plans_only_and_accepts_the_template(rows):
    verified = rows[rows["metric"].isin(study.VERIFIED)]
    assert set(verified["method"]) == set(study.PLANS)
    assert (verified[verified["metric"] == "accepted"]["mean"] == 1).all()


def test_every_private_method_promises_no_more_than_the_budget(world):
    target, public = world
    private = study._with_canary(
        target, "outlet", study.Canary.draw(public.vocabulary, Simulation(1).generator), public
    )
    assert set(study.private_methods(public, 1.0, 1e-6)) == set(study.PRIVATE)
    for name, release in study.private_methods(public, 1.0, 1e-6).items():
        told = release(private, Simulation(1))
        assert isinstance(told.text, str)
        if told.plan is not None:
            assert told.plan.guarantee.epsilon <= 1.0, name
    said = study.promises([1.0], 1e-6)
    assert len(said) == len(study.PRIVATE) + 2
    assert said[-2].endswith(": none")
    assert set(study.examples(target, "outlet", public, 1.0, 1e-6, 1)) == {study.EXACT, *study.PRIVATE}


def test_the_ledger_on_the_page_adds_up_to_the_budget_it_was_given(world):
    epsilon, delta = 1.0, 1e-6
    spent = study.ledger(world[0], world[1], epsilon, delta, seed=3)
    assert spent["stage"].tolist() == ["clustering", "clustering", "sizes", "keywords"]
    assert (spent["state"] == "released").all()
    assert (spent["noise"] == "add_gaussian x 1").all()
    assert spent["rho_so_far"].tolist() == pytest.approx(spent["rho"].cumsum().tolist(), rel=1e-12)
    assert spent["epsilon_so_far"].is_monotonic_increasing
    assert 0.999 * epsilon <= spent["epsilon_so_far"].iloc[-1] <= epsilon * (1 + 1e-12)
    assert spent["rho"].sum() == pytest.approx(dp.largest_rho(epsilon, delta), rel=1e-6)


def test_an_empty_text_is_as_unlike_as_can_be(world):
    public = world[1]
    found = study.similarities("", "health care", public.wording, public.encoder.embed)
    assert found == dict.fromkeys(study.SIMILARITIES, 0.0)
    digits = study.similarities("1; 5", "health care", public.wording, public.encoder.embed)
    assert digits["tfidf_cosine"] == digits["token_jaccard"] == 0.0
    same = study.similarities("health care", "health care", public.wording, public.encoder.embed)
    assert same == pytest.approx(dict.fromkeys(study.SIMILARITIES, 1.0))


def test_a_spread_needs_runs(world):
    with pytest.raises(ValueError, match="runs"):
        study.compare(world[0], "outlet", world[1], **{**GRID, "runs": 1})


def test_table_and_figure_are_made_of_a_record(rows):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_baselines as figures

    record = experiments.record(
        id="baselines-test", title="t", rows=rows, parameters={"corpus": "beauty"}, seed=5, bands=study.BANDS
    )
    shown = study.table(record.rows)
    assert list(shown.columns) == list(study.METRICS)
    assert len(shown) == len(study.PRIVATE) * 2 + len(study.REFERENCES)
    assert shown.loc[(study.EXACT, math.inf), "atoms_recovered"] == "1.00 ± 0.00"
    figure = figures.draw_comparison(record, [record.from_json(record.to_json())])
    titles = [axis.get_title(loc="left") for axis in figure.axes if axis.get_title(loc="left")]
    assert titles == ["beauty", f"beauty (recorded, {record.profile})"]
    assert [axis.get_xlabel() for axis in figure.axes] == [label for _, label in figures.PANELS] * 2
    matplotlib.pyplot.close(figure)
