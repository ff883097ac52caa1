"""The study of decoders: tidy rows from reports, the last own text and not the fallback's, figures from records."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import sparse

from privlib import plans
from privlib.corpora import Corpus, Provenance
from privlib.experiments.studies import plans_baselines, plans_corpora
from privlib.experiments.studies import plans_verbalization as study

LABELS = ("long wait", "rude staff", "cold food", "dirty room", "late refund", "loud music")
COUNTS = (400, 300, 200, 100, 50, 5)
TEXTS = [label for label, count in zip(LABELS, COUNTS, strict=True) for _ in range(count)]
WORDING = plans.Tfidf.fit([*LABELS, "A support is a noisy mass over the public denominator."])
UNIVERSE = plans.AtomUniverse(LABELS, manifest={"auxiliary_records": 1000}, representation=WORDING)
PUBLIC = Corpus(
    "complaints", TEXTS, [f"record {k}" for k in range(len(TEXTS))], None, {}, Provenance("made up", "0" * 64, "none")
)
ROWS = sparse.csr_array(np.repeat(np.eye(len(LABELS)), COUNTS, axis=0))
CORPUS = plans_corpora.Case("complaints", PUBLIC, PUBLIC, PUBLIC, UNIVERSE, 1, ROWS)
MECHANISM = plans.GaussianPlan(UNIVERSE, epsilon=2.0, delta=1e-6, plan_size=4, unit="record", relation="add_drop")
CASES = study.cases(CORPUS, MECHANISM, 3, kept_share=0.5, seed=5)


def embed(texts):
    """Letters counted: enough of an encoder to compare texts with."""
    return np.array([[1.0, *(text.lower().count(letter) for letter in "aeiourst")] for text in texts])


class Model:
    """Repeats the facts when it takes its likeliest words; drawn ones are wrong; its JSON has one wrong claim."""

    def generate(self, prompts, max_new_tokens, temperature=0.0, seed=0):
        assert max_new_tokens in (70, 90)
        return [self.answer(prompt, temperature, max_new_tokens) for prompt in prompts]

    def answer(self, prompt, temperature, tokens):
        if tokens == 90:
            return prompt.partition("\n\n")[2] + '\n{"claim": "rank", "theme": "cold food", "rank": 4}'
        return "Loud music is low." if temperature else "\n".join(re.findall(r"^The theme .*\.$", prompt, re.MULTILINE))


@pytest.fixture(scope="module")
def reports():
    decoders = study.decoders(Model(), max_new_tokens=70, claim_tokens=90, temperature=0.7, atoms_at_once=2, seed=1)
    return study.tell(CASES, UNIVERSE, decoders, max_attempts=2)


def test_each_case_has_texts_and_noise_of_its_own_beside_its_exact_plan():
    assert len({case.plan.to_json() for case in CASES}) == 3
    again = study.cases(CORPUS, MECHANISM, 3, kept_share=0.5, seed=5)
    assert [case.plan.to_json() for case in again] == [case.plan.to_json() for case in CASES]
    exact = [[atom.mass for atom in case.exact.atoms] for case in CASES]
    for run, masses in enumerate(exact, 1):
        chosen = CORPUS.select(round(0.5 * len(TEXTS)), run, "record").corpus
        assert masses == [float(chosen.texts.count(label)) for label in LABELS[:4]]  # the true masses of what was kept
    assert len(set(map(tuple, exact))) == 3
    errors = {
        tuple(atom.mass - dict(zip(LABELS, masses, strict=False))[atom.label] for atom in case.plan.atoms)
        for case, masses in zip(CASES, exact, strict=True)
    }
    assert len(errors) == 3


def test_plans_over_all_texts_of_a_large_corpus_would_be_one_text():
    """The control of the kept share: with noise that no decimal shows, six plans are one, of halves they differ."""
    many = ROWS[np.tile(np.arange(len(TEXTS)), 100)]
    ids = [f"record {k}" for k in range(many.shape[0])]
    large = plans_corpora.Case(
        "complaints", *[Corpus("c", TEXTS * 100, ids, None, {}, PUBLIC.provenance)] * 3, UNIVERSE, 1, many
    )
    setting = plans.GaussianPlan(
        UNIVERSE, epsilon=2.0, delta=1e-6, plan_size=3, unit="record", relation="add_drop", public_denominator=1e5
    )
    shown = {}
    for share in (1.0, 0.5):
        told = study.cases(large, setting, 6, share, seed=5)
        shown[share] = {tuple((atom.label, round(100 * atom.support, 1)) for atom in case.plan.atoms) for case in told}
    assert len(shown[1.0]) == 1
    assert len(shown[0.5]) >= 5


def test_acceptance_is_the_share_of_plans_by_attempt(reports):
    rows = study.acceptance(reports, 2)
    assert len(rows) == 8
    share = {(row.decoder, row.attempt): row.accepted for row in rows.itertuples()}
    assert share[study.TEMPLATE, 1] == share[study.LIKELIEST, 1] == share[study.CLAIMS, 1] == 1.0
    assert share[study.DRAWN, 1] == share[study.DRAWN, 2] == 0.0
    limits = {(row.decoder, row.attempt): (row.low, row.high) for row in rows.itertuples()}
    reach = 0.025 ** (1 / 3)  # three of three, or none: the exact binomial limit solves p^3 = 2.5 %
    assert limits[study.CLAIMS, 1] == pytest.approx((reach, 1.0))
    assert limits[study.DRAWN, 2] == pytest.approx((0.0, 1 - reach))
    assert study.shares(rows).loc[(study.DRAWN, 3), 2] == "0.00 [0.00, 0.71]"
    assert [name for name, _ in study.shares(rows).index] == list(reports)


def test_a_mended_text_counts_from_the_attempt_that_was_accepted():
    def second(plan, attempts):
        return plans.template()(plan, ()) if attempts else "Loud music."

    rows = study.acceptance(study.tell(CASES, UNIVERSE, {"second": second}, 3), 3)
    assert rows.accepted.tolist() == [0.0, 1.0, 1.0]


def test_reasons_tell_rejected_texts_from_dropped_claims(reports):
    rows = study.reasons(reports).set_index(["decoder", "kind"])
    assert set(rows.index.get_level_values("kind")) == set(study.REASONS)
    assert rows.loc[(study.DRAWN, "atom"), "rejected"] == 1.0
    assert rows.loc[(study.DRAWN, "atom"), "dropped"] == 0.0
    assert rows.loc[study.CLAIMS].rejected.sum() == 0.0
    assert rows.loc[(study.CLAIMS, "rank"), "dropped"] == 4.0
    assert rows.loc[study.TEMPLATE].to_numpy().sum() == 0.0


def test_wording_is_of_the_last_own_text_and_not_of_the_fallback(reports):
    rows = study.texts(CASES, reports, WORDING, embed).set_index("decoder")
    assert rows.loc[study.DRAWN, "fallback"] == 1.0
    assert rows.loc[study.DRAWN, "mention_rate"] == 0.0
    assert rows.loc[study.TEMPLATE, "mention_rate"] == rows.loc[study.LIKELIEST, "mention_rate"] == 1.0
    assert rows.loc[study.TEMPLATE, "token_jaccard"] > rows.loc[study.DRAWN, "token_jaccard"]
    assert not rows.isna().any().any()
    assert rows.attempts.tolist() == [1.0, 1.0, 2.0, 1.0]
    assert rows.attempts_sd.tolist() == [0.0] * 4


def test_distinct_counts_texts_of_first_attempts_and_not_plans(reports):
    rows = study.texts(CASES, reports, WORDING, embed).set_index("decoder")
    assert rows.distinct[study.TEMPLATE] == rows.distinct[study.LIKELIEST] == 3
    assert rows.distinct[study.DRAWN] == 1  # the model writes one sentence whatever it is asked
    twice = {study.TEMPLATE: [reports[study.TEMPLATE][0]] * 3}
    assert study.texts([CASES[0]] * 3, twice, WORDING, embed).distinct.tolist() == [1]


def test_means_and_spreads_are_of_the_plans(reports):
    given = reports[study.LIKELIEST]
    row = study.texts(CASES, {study.LIKELIEST: given}, WORDING, embed).iloc[0]
    each = [
        plans_baselines.similarities(one.text, plans.template()(case.exact, ()), WORDING, embed)
        for one, case in zip(given, CASES, strict=True)
    ]
    assert list(each[0]) == list(plans_baselines.SIMILARITIES)
    for name in plans_baselines.SIMILARITIES:
        values = [one[name] for one in each]
        assert 0 < row[name] == pytest.approx(np.mean(values))
        assert row[f"{name}_sd"] == pytest.approx(np.std(values, ddof=1))
    shown = study.table(study.texts(CASES, reports, WORDING, embed))
    assert list(shown.columns) == ["plans", "distinct", *study.MEASURES]
    assert shown.loc[study.DRAWN, "mention_rate"] == "0.00 ± 0.00"


def test_a_spread_needs_two_plans(reports):
    one = {name: given[:1] for name, given in reports.items()}
    with pytest.raises(ValueError, match="told must hold at least 2 plans"):
        study.texts(CASES[:1], one, WORDING, embed)


def test_what_the_page_shows(reports):
    accepted, rejected = study.shown(reports[study.DRAWN])
    assert accepted == ""
    assert rejected.feedback
    accepted, rejected = study.shown(reports[study.TEMPLATE])
    assert accepted == plans.template()(CASES[0].plan, ())
    assert rejected is None


def test_figures_are_drawn_from_records(reports):
    import matplotlib

    matplotlib.use("agg")
    from privlib import experiments
    from privlib.experiments.figures import plans_verbalization as figures

    tables = {
        "acceptance": (study.acceptance(reports, 2), study.ACCEPTANCE_BANDS, figures.draw_acceptance),
        "reasons": (study.reasons(reports), study.REASON_BANDS, figures.draw_reasons),
        "texts": (study.texts(CASES, reports, WORDING, embed), study.TEXT_BANDS, None),
    }
    for name, (rows, bands, draw) in tables.items():
        grid = {"decoder", "attempt", "plans", "kind"}
        assert set(rows.columns) - set(bands) <= grid
        record = experiments.record(
            id=f"told-{name}", title="t", rows=rows, parameters={"corpus": name}, seed=1, bands=bands
        )
        if draw is not None:
            figure = draw(record)
            texts = [text.get_text() for text in figure.legends[0].get_texts()]
            assert texts == [figures.NAMES[name] for name in reports]
            matplotlib.pyplot.close(figure)
        if name == "acceptance":
            figure = draw(record, record)
            assert [axes.get_title(loc="left") for axes in figure.axes] == ["acceptance", "acceptance"]
            matplotlib.pyplot.close(figure)
