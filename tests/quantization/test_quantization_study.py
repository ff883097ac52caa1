"""The grids behind the figures, the metrics they use, and that figures need records only."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privlib import quantization
from privlib.evaluation.text import attribute_match, joint_match
from privlib.experiments.studies import quantization as studies

BOOK = studies.codebook("drug-reviews")
SIZES = BOOK.schema.sizes


def labels(n, seed):
    generator = np.random.default_rng(seed)
    condition = generator.choice(8, n, p=[0.3, 0.2, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05])
    rating = np.where(generator.random(n) < 0.6, 2, condition % 3)
    return np.stack([condition, rating], axis=1)


@pytest.fixture(scope="module")
def rows():
    auxiliary = labels(150, 0)
    return studies.tradeoff(
        labels(160, 1), auxiliary, quantization.chow_liu(auxiliary, BOOK.schema), BOOK.secrets,
        gamma=24, dilutions=[2, 12], epsilons=[1.0], draws=6, public_seed=5, seed=7,
    )  # fmt: skip


def test_every_method_and_secret_has_a_row(rows):
    assert len(rows) == (2 + 1 + 3) * len(BOOK.secrets)
    assert set(rows["method"]) == set(studies.METHODS)
    assert not rows.isna().any(axis=None)
    assert rows["mean"].between(rows["low"] - 1e-12, rows["high"] + 1e-12).all()
    assert rows[["joint", "marginal"]].stack().between(0, 1).all()
    assert (rows["marginal"] >= rows["joint"] - 1e-12).all()


def test_baselines_are_what_they_are_called(rows):
    raw = rows[rows["method"] == "raw"]
    assert (raw["mean"] == 0).all()
    assert (raw["joint"] == 1).all()
    blind = rows[rows["method"] == "auxiliary"].set_index("secret")
    for secret in BOOK.secrets:
        attack = quantization.prior_attack(labels(150, 0), secret, secret(labels(160, 1)))
        assert blind.loc[secret.name, "mean"] == pytest.approx(attack.error)
    assert set(rows[rows["method"].isin(["quantization", "half", "noisy histogram"])]["draws"]) == {6}


def test_every_draw_is_fresh(rows):
    """Trap: one draw repeated. A spread of zero over six releases would show it."""
    moving = rows[rows["method"].isin(["quantization", "half", "noisy histogram"])]
    assert (moving["joint_sd"] > 0).all()
    assert (moving.loc[moving["method"] == "quantization", "sd"] > 0).all()


def test_study_is_deterministic(rows):
    auxiliary = labels(150, 0)
    again = studies.tradeoff(
        labels(160, 1), auxiliary, quantization.chow_liu(auxiliary, BOOK.schema), BOOK.secrets,
        gamma=24, dilutions=[2, 12], epsilons=[1.0], draws=6, public_seed=5, seed=7,
    )  # fmt: skip
    assert again.equals(rows)


def test_error_at_label_level_is_the_labelling_attack():
    private, auxiliary = labels(160, 1), labels(150, 0)
    tree = quantization.chow_liu(auxiliary, BOOK.schema)
    released = quantization.RandomizedQuantization(tree, 24, 12, public_seed=5).release(private, studies.Simulation(1))
    for secret in BOOK.secrets:
        attack = quantization.labelling_attack(released, secret, secret(private))
        assert attack.error == pytest.approx(abs(secret(released.labels) - secret(private)))


def test_the_histogram_baseline_pays_for_its_counts():
    """Trap: label proportions copied to a differentially private baseline without paying."""
    guarantee = studies.histogram_guarantee(SIZES, 0.5)
    assert (guarantee.epsilon, guarantee.unit, guarantee.relation) == (0.5, "record", "add_drop")
    private = labels(160, 1)
    source = studies.Simulation(3)
    exact, noisy = (
        np.mean([joint_match(private, rows, SIZES) for rows in studies._noisy(private, SIZES, epsilon, source, 20)])
        for epsilon in (1e6, 0.05)
    )
    assert noisy < exact - 0.1


def test_trends(rows):
    found = studies.trends(rows)
    assert set(found["secret"]) == {secret.name for secret in BOOK.secrets}
    np.testing.assert_allclose(found["utility_rank_correlation"], 1)
    assert found["relative_spread"].gt(0).all()


def test_bounds_and_exact_leakage():
    trees = {"paper": (studies.paper_tree(), 3000), "one": (studies.single_attribute(2), 600)}
    bounds = studies.bounds(trees, [2, 3, 4])
    paper = bounds[bounds["setting"] == "paper"]
    assert paper["tables"].tolist() == [11] * 3
    assert paper["bound"].round(2).tolist() == [7.62, 12.08, 15.25]
    assert paper["vacuous"].tolist() == [False, True, True]
    assert not bounds[bounds["setting"] == "one"]["vacuous"].any()
    exact = studies.exact_leakage(12, [3, 4], 150, 5)
    np.testing.assert_allclose(exact["secret"], exact["bound"], atol=1e-9)
    np.testing.assert_allclose(exact["seeded"], math.log(12), atol=1e-9)


def test_tweets_have_the_papers_attributes_and_one_more_target():
    sizes = studies.codebook("stance").schema.sizes
    assert sizes == (6, 3, 3)
    star = [quantization.Tree(0, (-1, 0, 0), sizes).tables, quantization.Tree(1, (1, -1, 0), sizes).tables]
    assert star == [13, 10]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: studies.codebook("unknown"), "corpus"),
        (lambda: studies.nearest_for(120, 7), "dilution"),
        (lambda: joint_match(np.zeros((0, 2), int), labels(3, 0), SIZES), "real"),
        (lambda: attribute_match(labels(3, 0), np.zeros(3, int), SIZES), "released"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def test_matches_by_hand():
    real, other = np.array([[0, 0], [1, 1]]), np.array([[0, 1], [1, 0]])
    assert joint_match(real, other, (2, 2)) == 0  # disjoint combinations
    assert attribute_match(real, other, (2, 2)) == 1  # equal marginals
    assert joint_match(real, real[[0, 0, 1, 1]], (2, 2)) == 1
    assert joint_match(real, np.array([[0, 0], [0, 0], [0, 0], [1, 1]]), (2, 2)) == pytest.approx(0.75)


def test_figures_are_drawn_from_records(rows):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from privlib import experiments
    from privlib.experiments.figures import quantization as figures

    experiments.use_style()
    made = {
        figures.draw_tradeoff: rows,
        figures.draw_bounds: studies.bounds({"paper": (studies.paper_tree(), 3000)}, [2, 3, 4]),
        figures.draw_exact: studies.exact_leakage(6, [2, 3], 40, 5),
    }
    for draw, table in made.items():
        record = experiments.record(id="drawn", title="drawn", rows=table, parameters={}, seed=1)
        figure = draw(type(record).from_json(record.to_json()))
        figure.canvas.draw()
        plt.close(figure)


class Corpus:
    """Labelled rows whose texts spell their labels; split in two by position."""

    def __init__(self, rows):
        self.rows, self.attributes = rows, BOOK.schema.decode(rows)
        self.texts = tuple(" ".join(pair) for pair in zip(*self.attributes.values(), strict=True))

    def split(self, seed):
        class Halves:
            auxiliary, target = Corpus(self.rows[::2]), Corpus(self.rows[1::2])

        return Halves


class Answering:
    """A labeller that says "yes" to texts with a word, and otherwise to every m-th text."""

    def __init__(self, every):
        self.every = every

    def fit(self, texts, answers):
        self.yes = {text for text, answer in zip(texts, answers, strict=True) if answer == "yes"}
        return self

    def predict(self, texts):
        wrong = [self.every and i % self.every == 0 for i in range(len(texts))]
        return ["yes" if (text in self.yes) != bad else "no" for text, bad in zip(texts, wrong, strict=True)]

    def confusion(self, texts, gold):
        counts = np.zeros((2, 2), int)
        for truth, answer in zip(gold, self.predict(texts), strict=True):
            counts[int(truth == "yes"), int(answer == "yes")] += 1
        return counts


def test_attackers_that_do_not_beat_the_constant_answer_are_dropped():
    found = studies.attackers(
        Corpus(labels(600, 3)), Corpus(labels(600, 4)), BOOK,
        {"perfect": Answering(0), "careless": Answering(10), "useless": Answering(2)}, seed=2,
    ).set_index(["secret", "attacker", "quantity"])["value"].sort_index()  # fmt: skip
    for secret in BOOK.secrets[:3]:  # the conjunction never holds in these rows
        assert found[secret.name, "perfect", "error"] == 0
        assert found[secret.name, "perfect", "corrected error"] == 0
        assert (secret.name, "useless", "error") not in found.index
        assert (secret.name, "useless", "accuracy") in found.index
    careless = [found[secret.name, "careless"] for secret in BOOK.secrets[:3]]
    assert sum(part["corrected error"] for part in careless) < sum(part["error"] for part in careless)
