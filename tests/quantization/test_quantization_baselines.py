"""All methods on one secret: the simulator of private evolution, the comparison, the paper's ordering, Table I."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from privlib import models, quantization
from privlib.experiments.studies import quantization_baselines as studies
from privlib.experiments.studies import quantization_text as text

SCHEMA = quantization.Schema((("mood", ("good", "other")), ("place", ("home", "road"))))
SECRETS = (SCHEMA.share(mood="good"), SCHEMA.share(place="road", mood="good"))
SAID = {"good": ("lovely", "great", "happy"), "other": ("awful", "sad", "bad")}
AT = {"home": ("kitchen", "garden"), "road": ("bus", "train")}


@dataclass(frozen=True)
class Corpus:
    attributes: dict
    texts: tuple

    def __len__(self):
        return len(self.texts)

    def take(self, rows, step):
        chosen = {name: tuple(column[i] for i in rows) for name, column in self.attributes.items()}
        return replace(self, attributes=chosen, texts=tuple(self.texts[i] for i in rows))


def corpus(n, seed, share=0.5):
    coins = np.random.default_rng(seed)
    moods = np.where(coins.random(n) < share, "good", "other").tolist()
    places = np.where(coins.random(n) < 0.5, "home", "road").tolist()
    texts = tuple(
        f"it was {SAID[mood][coins.integers(3)]} on day {coins.integers(10**9)}. we met near the "
        f"{AT[place][coins.integers(2)]} with {coins.integers(10**9)} people"
        for mood, place in zip(moods, places, strict=True)
    )
    return Corpus({"mood": tuple(moods), "place": tuple(places)}, texts)


PUBLIC, SHADOW, PRIVATE = corpus(120, 2), corpus(120, 3), corpus(160, 1, share=0.75)
VECTORS = text.WordVectors.fit(SHADOW.texts, 6)
METHODS = {
    studies.RAW: [0], studies.HALF: [0], studies.PUBLIC: [0], studies.QUANTIZED: [2, 4], studies.ONE_TABLE: [4],
    studies.EVOLVED: [1.0], studies.LABELLED: [1.0, 100.0],
}  # fmt: skip


def case(**changes):
    tree = quantization.chow_liu(PUBLIC, SCHEMA)
    settings = dict(private=PRIVATE, public=PUBLIC, tree=tree, embed=studies.Remembered(VECTORS.embed), gamma=24)
    return studies.Case(
        **settings | dict(public_seed=5, delta=1e-5, iterations=2, population=80, variations=2) | changes
    )


@pytest.fixture(scope="module")
def attackers():
    families = {kind: models.labeller(kind) for kind in ("linear", "bayes")}
    families["neighbours"] = models.labeller("neighbours", VECTORS)
    return text.trained(SHADOW, PUBLIC, SCHEMA, SECRETS, families, "linear")


@pytest.fixture(scope="module")
def found(attackers):
    here = case()
    return studies.compared(here, studies.releases(here, METHODS, 3, 7), SECRETS, attackers, 40, 7)


def error(table, method, strength, attack, secret=SECRETS[0].name):
    rows = table.set_index(["method", "strength", "secret", "attack"])["error"]
    return rows[method, strength, secret, attack]


def test_raw_rows_are_read_exactly_and_half_of_them_nearly(found):
    errors = found[0]
    assert error(errors, studies.RAW, 0, text.COUNT) == 0
    assert error(errors, studies.HALF, 0, text.COUNT) < 0.05
    assert error(errors, studies.RAW, 0, "linear") < 0.03  # these labellers read these texts
    assert set(errors["draws"]) == {1, 3}
    assert (errors.loc[errors["draws"] == 1, "sd"] == 0).all()
    assert (errors.loc[(errors["method"] == studies.HALF) & (errors["attack"] == text.COUNT), "sd"] > 0).all()


def test_public_rows_err_by_the_distance_of_the_shares(found):
    gold, public = (SECRETS[0](SCHEMA.encode(part)) for part in (PRIVATE, PUBLIC))
    assert error(found[0], studies.PUBLIC, 0, text.COUNT) == pytest.approx(abs(gold - public))
    assert error(found[0], studies.PUBLIC, 0, studies.PRIOR) == pytest.approx(abs(gold - public))
    assert (found[0]["attack"] == studies.PRIOR).sum() == len(SECRETS)


def test_texts_without_assigned_labels_have_no_exact_attack(found):
    evolved = found[0][found[0]["method"] == studies.EVOLVED]
    assert text.COUNT not in set(evolved["attack"])
    assert "faithfulness" not in set(found[1].loc[found[1]["method"] == studies.EVOLVED, "quantity"])


def test_labelled_evolution_follows_the_labels_it_paid_for(found):
    """At epsilon 100 the noisy counts are the private ones; unlabelled evolution is not told the share."""
    assert error(found[0], studies.LABELLED, 100, text.COUNT) < 0.04
    assert error(found[0], studies.LABELLED, 100, text.COUNT) < error(found[0], studies.PUBLIC, 0, text.COUNT)


def test_the_mean_labeller_is_the_mean_of_the_families_that_hear(found, attackers):
    for method, strength in ((studies.RAW, 0), (studies.EVOLVED, 1)):
        families = studies.heard(attackers, SECRETS[0])
        assert {"linear", "bayes"} <= set(families)
        for attack, ending in ((studies.COUNTED, ""), (studies.LABELLERS, ", corrected")):
            mean = np.mean([error(found[0], method, strength, family + ending) for family in families])
            assert error(found[0], method, strength, attack) == pytest.approx(mean)


def test_a_labeller_that_hardly_hears_is_left_out_of_the_mean(attackers):
    faint = replace(attackers, labellers={(SECRETS[0].name, "linear"): (None, 0.3, 0.05),
                                          (SECRETS[0].name, "bayes"): (None, 0.3, 0.15)})  # fmt: skip
    assert studies.heard(faint, SECRETS[0]) == ["linear"]
    assert studies.heard(faint, SECRETS[1]) == []


def test_own_words_come_from_the_methods_that_keep_private_texts_only(found):
    own = found[1][found[1]["quantity"] == "own words"].groupby("method")["value"].max()
    assert own[studies.RAW] == own[studies.HALF] == 1
    assert own[studies.QUANTIZED] > 0.2
    assert own[[studies.PUBLIC, studies.EVOLVED, studies.LABELLED]].max() == 0


def test_faithfulness_is_read_off_the_texts(found):
    value = found[1].set_index(["method", "strength", "quantity"])["value"]
    assert value[studies.RAW, 0, "faithfulness"] > 0.9
    assert 0.3 < value[studies.QUANTIZED, 2, "faithfulness"] <= 1
    assert value[studies.RAW, 0, "aggregate"] > value[studies.EVOLVED, 1, "aggregate"]


class Halting:
    """A model that writes the first half of the rows and nothing for the others, however often it is asked."""

    def complete(self, prompts, max_new_tokens, temperature, seed):
        told = range(len(PRIVATE) // 2) if len(prompts) == len(PRIVATE) else ()
        return ["a short note</message>" if row in told else "" for row in range(len(prompts))]


def test_rows_that_a_language_model_gave_up_on_are_counted_release_by_release(attackers):
    here = case()
    methods = {studies.RAW: [0], studies.QUANTIZED: [4], studies.MODEL: [4]}
    drawn = studies.releases(here, methods, 2, 7, model=Halting())
    _, utilities = studies.compared(here, drawn, SECRETS, attackers, 40, 7)
    told = utilities[utilities["quantity"] == "given up"]
    assert told[["method", "value", "sd"]].values.tolist() == [[studies.MODEL, 0.5, 0.0]]


def test_releases_of_a_setting_do_not_depend_on_the_others():
    """The streams are named by method and strength, and each draw is fresh."""
    here = case()
    alone = list(studies.releases(here, {studies.QUANTIZED: [4]}, 2, 7)[studies.QUANTIZED, 4.0])
    among = list(studies.releases(here, METHODS, 2, 7)[studies.QUANTIZED, 4.0])
    assert [one.texts for one in alone] == [one.texts for one in among]
    assert alone[0].texts != alone[1].texts
    with pytest.raises(ValueError, match="methods"):
        next(studies.releases(here, {"magic": [1]}, 1, 7)["magic", 1.0])


def test_the_simulator_writes_from_public_texts_alone():
    simulator = case().simulator
    public, private = ({word for one in part.texts for word in one.split()} for part in (PUBLIC, PRIVATE))
    varied = simulator.vary(simulator.generate(50, 1), 2)
    told = {word for one in varied for word in one.split()}  # every text has numbers that no other has
    assert told <= public
    assert len(private - public) > 300
    assert sum(one in PUBLIC.texts for one in varied) < 25
    drawn = simulator.generate(120, 1)
    assert sorted(drawn) == sorted(PUBLIC.texts)  # each once before any twice
    code = np.ravel_multi_index((0, 1), SCHEMA.sizes)
    pool = {PUBLIC.texts[row] for row in np.flatnonzero(simulator.codes == code)}
    assert set(simulator.generate_for(int(code), 30, 1)) <= pool


def test_every_private_method_states_its_bill():
    here = case()
    for mechanism in (here.evolved(2.0), here.labelled(2.0), here.tuned(2.0, lambda seed: None, 3)):
        assert (mechanism.guarantee.epsilon, mechanism.guarantee.delta) == (2.0, 1e-5)
        assert mechanism.guarantee.unit == "record"
    assert here.tuned(2.0, lambda seed: None, 3).steps == 15


def rows(errors, utilities):
    told = [(m, s, "g", studies.LABELLERS, e) for (m, s), e in errors.items()]
    alike = [(m, s, "aggregate", u) for (m, s), u in utilities.items()]
    return (
        pd.DataFrame(told, columns=["method", "strength", "secret", "attack", "error"]),
        pd.DataFrame(alike, columns=["method", "strength", "quantity", "value"]),
    )


def test_the_papers_ordering_asks_for_both_and_up_to_the_dilution():
    q, p = studies.QUANTIZED, studies.EVOLVED
    errors = {(q, 2.0): 0.3, (q, 8.0): 0.1, (q, 12.0): 0.0, (p, 1.0): 0.2}
    utilities = {(q, 2.0): 0.9, (q, 8.0): 0.9, (q, 12.0): 0.9, (p, 1.0): 0.8}
    table = studies.judged(*rows(errors, utilities))
    assert table["both"].tolist() == [1, 0]
    assert table["dilution"].tolist() == [2.0, 8.0]
    assert studies.judged(*rows(errors, utilities | {(p, 1.0): 0.95}))["both"].tolist() == [0, 0]


def test_table_one_takes_one_setting_a_method(found, attackers):
    chosen = studies.at_table_one(found[0])
    settings = set(zip(chosen["method"], chosen["strength"], strict=True))
    assert settings == {
        (studies.RAW, 0), (studies.HALF, 0), (studies.PUBLIC, 0), (studies.QUANTIZED, 4), (studies.ONE_TABLE, 4),
        (studies.EVOLVED, 1), (studies.LABELLED, 1),
    }  # fmt: skip
    ranks = text.agreement(chosen.rename(columns={"method": "rewriter"}), ["linear", "bayes"])
    assert ranks["correlation"].iloc[0] > 0.6  # both read these texts, so they rank alike
    known = studies.read_by(attackers)
    assert (known["hits"] > known["false_alarms"]).all()


def test_private_shares_are_set_and_every_file_is_compared(attackers):
    settings = dict(public=PUBLIC, tree=quantization.chow_liu(PUBLIC, SCHEMA), embed=VECTORS.embed, gamma=24)
    settings |= dict(public_seed=5, delta=1e-5, iterations=1, variations=2)
    errors, utilities = studies.by_share(
        PRIVATE, settings, SECRETS[0], [0.4, 0.6], {studies.RAW: [0], studies.HALF: [0]}, attackers, 50, 2, 7
    )
    golds = errors.groupby("share")["gold"].first()
    assert golds.tolist() == pytest.approx([0.4, 0.6], abs=0.15)
    assert set(utilities["share"]) == {0.4, 0.6}
