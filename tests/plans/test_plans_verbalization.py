"""The study of decoders: tidy rows from reports, the last own text and not the fallback's, figures from records."""

from __future__ import annotations

import re

import numpy as np
import pytest

from privlib import plans
from privlib.experiments.studies import plans_verbalization as study

LABELS = ("long wait", "rude staff", "cold food", "dirty room", "late refund", "loud music")
UNIVERSE = plans.AtomUniverse(LABELS, manifest={"auxiliary_records": 1000})
SKETCH = plans.Sketch(np.array([400.0, 300.0, 200.0, 100.0, 50.0, 5.0]), "record", 1.0, UNIVERSE.fingerprint)
MECHANISM = plans.GaussianPlan(UNIVERSE, epsilon=2.0, delta=1e-6, plan_size=4, unit="record", relation="add_drop")
CASES = study.cases(SKETCH, MECHANISM, 3, seed=5)


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


def test_cases_are_independent_releases_beside_the_exact_plan():
    assert len({case.plan.to_json() for case in CASES}) == 3
    again = study.cases(SKETCH, MECHANISM, 3, seed=5)
    assert [case.plan.to_json() for case in again] == [case.plan.to_json() for case in CASES]
    for case in CASES:
        assert [atom.mass for atom in case.exact.atoms] == [400.0, 300.0, 200.0, 100.0]
        assert [atom.bin for atom in case.exact.atoms] == ["high", "high", "high", "high"]


def test_acceptance_is_the_share_of_plans_by_attempt(reports):
    rows = study.acceptance(reports, 2)
    assert len(rows) == 8
    share = {(row.decoder, row.attempt): row.accepted for row in rows.itertuples()}
    assert share[study.TEMPLATE, 1] == share[study.LIKELIEST, 1] == share[study.CLAIMS, 1] == 1.0
    assert share[study.DRAWN, 1] == share[study.DRAWN, 2] == 0.0


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
    rows = study.texts(CASES, reports).set_index("decoder")
    assert rows.loc[study.DRAWN, "fallback"] == 1.0
    assert rows.loc[study.DRAWN, "mention_rate"] == 0.0
    assert rows.loc[study.TEMPLATE, "mention_rate"] == rows.loc[study.LIKELIEST, "mention_rate"] == 1.0
    assert rows.loc[study.TEMPLATE, "token_jaccard"] > rows.loc[study.DRAWN, "token_jaccard"]
    assert not rows.isna().any().any()
    assert rows.attempts.tolist() == [1.0, 1.0, 2.0, 1.0]


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
        "texts": (study.texts(CASES, reports), study.TEXT_BANDS, None),
    }
    for name, (rows, bands, draw) in tables.items():
        grid = {"decoder", "attempt", "plans", "kind"}
        assert set(rows.columns) - set(bands) <= grid
        record = experiments.record(id=f"told-{name}", title="t", rows=rows, parameters={}, seed=1, bands=bands)
        if draw is not None:
            figure = draw(record)
            texts = [text.get_text() for text in figure.legends[0].get_texts()]
            assert texts == [figures.NAMES[name] for name in reports]
            matplotlib.pyplot.close(figure)
