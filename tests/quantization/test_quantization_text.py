"""The text-level study: attackers trained on public rows, skewed private files, attacks, agreement, utility."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from privlib import models, quantization
from privlib.dp import Simulation
from privlib.experiments.studies import quantization_text as studies

SCHEMA = quantization.Schema((("mood", ("good", "other")),))
SECRET = SCHEMA.share(mood="good")
GOOD, OTHER = ("lovely", "great", "fine", "happy"), ("awful", "sad", "hateful", "bad")


@dataclass(frozen=True)
class Corpus:
    attributes: dict
    texts: tuple

    def __len__(self):
        return len(self.texts)

    def take(self, rows, step):
        column = self.attributes["mood"]
        return replace(
            self, attributes={"mood": tuple(column[i] for i in rows)}, texts=tuple(self.texts[i] for i in rows)
        )


def corpus(n, seed, share=0.5):
    generator = np.random.default_rng(seed)
    moods = tuple(np.where(generator.random(n) < share, "good", "other").tolist())
    kinds = {"good": GOOD, "other": OTHER}
    texts = tuple(
        ". ".join(f"it was {kinds[mood][generator.integers(4)]} on day {generator.integers(10**9)}" for _ in range(2))
        for mood in moods
    )
    return Corpus({"mood": moods}, texts)


TARGET, PUBLIC, SHADOW = corpus(300, 1), corpus(150, 2), corpus(150, 3)
FAMILIES = {kind: models.labeller(kind) for kind in ("linear", "bayes")} | {
    "neighbours": models.labeller("neighbours", studies.WordVectors.fit(SHADOW.texts, 4))
}


@pytest.fixture(scope="module")
def attackers():
    return studies.trained(SHADOW, PUBLIC, SCHEMA, [SECRET], FAMILIES, "linear")


@pytest.fixture(scope="module")
def found(attackers):
    made = studies.rewriters(["changed rows afresh", "half afresh", "every row afresh"], PUBLIC, SCHEMA)
    return studies.by_share(
        TARGET, PUBLIC, SHADOW, SECRET, SCHEMA, [0.3, 0.7], made, attackers,
        gamma=24, nearest=12, draws=8, shadow_draws=2, public_seed=5, seed=7,
    )  # fmt: skip


def test_three_families_beat_the_constant_answer_on_public_rows(attackers):
    assert {family for _, family in attackers.labellers} == {"linear", "bayes", "neighbours"}
    assert attackers.reader_accuracy > 0.9
    scrambled = replace(SHADOW, texts=SHADOW.texts[::-1])
    assert not studies.trained(scrambled, PUBLIC, SCHEMA, [SECRET], {"linear": FAMILIES["linear"]}, "linear").labellers


def test_skewed_files_have_the_wanted_share():
    for share in (0.3, 0.5, 0.7):
        part = studies.skewed(TARGET, SCHEMA, SECRET, share, 5)
        assert SECRET(SCHEMA.encode(part)) == pytest.approx(share, abs=0.01)
        assert len(part) > 150


def test_provenance_undoes_the_choice_and_the_defence_stops_it(found):
    errors, _ = found
    mean = errors.groupby(["rewriter", "attack"])["error"].mean()
    assert mean["changed rows afresh", studies.PROVENANCE] < 0.02
    assert mean["changed rows afresh", studies.COUNT] > 0.05
    every = mean["every row afresh"]
    assert studies.PROVENANCE not in every or every[studies.PROVENANCE] > 0.5 * every[studies.COUNT]
    assert mean["half afresh", studies.PROVENANCE] > mean["changed rows afresh", studies.PROVENANCE]
    assert (errors["sd"] >= 0).all()
    assert not errors.isna().any(axis=None)


def test_the_price_is_private_wording(found):
    _, costs = found
    own = costs[costs["quantity"] == "own words"].groupby("rewriter")["value"].mean()
    assert own["changed rows afresh"] > own["half afresh"] > own["every row afresh"] == 0


def test_labelling_attackers_agree_on_easy_text_with_each_other_and_with_exact_reading(found):
    errors, _ = found
    mean = errors.groupby("attack")["error"].mean()
    for family in FAMILIES:
        assert abs(mean[family] - mean[studies.COUNT]) < 0.03
    raw = errors[errors["rewriter"] == studies.RAW].set_index(["share", "attack"])["error"]
    assert raw[0.3, studies.COUNT] == raw[0.7, studies.COUNT] == 0
    made = studies.agreement(errors, list(FAMILIES))
    assert len(made) == 3
    assert (made["correlation"] > 0.3).all()


def test_agreement_is_spearman_averaged_over_secrets():
    rows = pd.DataFrame(
        [(r, a, s, e) for s in ("x", "y") for a, scale in (("one", 1), ("two", 2), ("three", -1))
         for r, e in (("p", 0.1 * scale), ("q", 0.2 * scale), ("r", 0.3 * scale))],
        columns=["rewriter", "attack", "secret", "error"],
    )  # fmt: skip
    found = studies.agreement(rows, ["one", "two", "three"]).set_index(["one", "other"])
    assert found.loc[("one", "two"), "correlation"] == pytest.approx(1)
    assert found.loc[("one", "three"), "correlation"] == pytest.approx(-1)
    assert found["secrets"].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="errors"):
        studies.agreement(rows, ["one", "four"])


def test_utility_scores_equal_sizes_and_reads_labels_from_texts(attackers):
    private = corpus(120, 9, 0.3)
    vectors = FAMILIES["neighbours"].encoder
    releases = {"raw": private.texts, "shuffled moods": corpus(240, 10, 0.9).texts}
    rows = studies.utility(private, releases, SCHEMA, attackers.readers, vectors.embed, Simulation(1))
    scored = rows.set_index("method")
    assert set(scored["n"]) == {120}
    assert scored.loc["raw", "attributes"] > 0.95
    assert scored.loc["shuffled moods", "attributes"] < 0.8
    assert scored.loc["raw", "aggregate"] > scored.loc["shuffled moods", "aggregate"]
    assert scored[["precision", "recall", "frechet", "attributes"]].stack().between(0, 1).all()


class Parrot:
    """A model that completes with the notes it was given; its likelihood is that of nothing."""

    def complete(self, prompts, max_new_tokens, temperature, seed):
        notes = [prompt.split("Notes: ")[-1].split("\n")[0].replace("|", "and") for prompt in prompts]
        return [f"{note} indeed</message>" for note in notes]

    def score(self, texts):
        return np.array([float(len(text)) for text in texts])


def test_a_language_model_goes_through_the_same_study(attackers):
    made = studies.rewriters([studies.MODEL], PUBLIC, SCHEMA, Parrot())
    errors, _ = studies.by_share(
        TARGET, PUBLIC, SHADOW, SECRET, SCHEMA, [0.5], made, attackers,
        gamma=24, nearest=12, draws=2, shadow_draws=1, public_seed=5, seed=7,
    )  # fmt: skip
    assert set(errors["rewriter"]) == {studies.RAW, studies.HALF, studies.MODEL}
    assert made[studies.MODEL][0].report.rows > 0
    assert {studies.PRIOR, studies.COUNT, studies.PROVENANCE} <= set(errors["attack"])


class Halting(Parrot):
    """Writes half of the rows of a private file, on which it is asked for more than 200 at once, and no others."""

    def complete(self, prompts, max_new_tokens, temperature, seed):
        told = len(prompts) // 2 if len(prompts) > 200 else 0
        written = super().complete(prompts, max_new_tokens, temperature, seed)
        return written[:told] + [""] * (len(prompts) - told)


def test_private_rows_that_a_model_gave_up_on_are_counted_and_no_shadow_rows(attackers):
    made = studies.rewriters([studies.MODEL, "every row afresh"], PUBLIC, SCHEMA, Halting())
    _, costs = studies.by_share(
        TARGET, PUBLIC, SHADOW, SECRET, SCHEMA, [0.5], made, attackers,
        gamma=24, nearest=12, draws=2, shadow_draws=1, public_seed=5, seed=7,
    )  # fmt: skip
    told = costs[costs["quantity"] == "given up"]
    assert told[["rewriter", "value"]].values.tolist() == [[studies.MODEL, 0.5]]
    assert made[studies.MODEL][0].report.given_up > len(SHADOW)


def test_figures_are_drawn_from_records(found):
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from privlib import experiments
    from privlib.experiments.figures import quantization_text as figures

    experiments.use_style()

    def recorded(rows):
        made = experiments.record(id="drawn", title="drawn", rows=rows, parameters={}, seed=1)
        return type(made).from_json(made.to_json())

    errors, costs = map(recorded, found)
    for figure in (figures.draw_shares(errors), figures.draw_price(errors, costs), figures.draw_families(errors)):
        figure.canvas.draw()
        plt.close(figure)
