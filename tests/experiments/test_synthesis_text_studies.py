"""The studies of texts and of support protection on made-up vectors: no model, no corpus."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from privlib import baselines, models
from privlib.dp import Simulation
from privlib.evaluation import embedding as measures
from privlib.experiments import rules
from privlib.experiments.figures import synthesis_ssp as figures
from privlib.experiments.studies import synthesis_ssp as ssp
from privlib.experiments.studies import synthesis_ssp_rows as tables
from privlib.experiments.studies import synthesis_text as study
from privlib.experiments.studies import synthesis_text_budgets as by_budget
from privlib.experiments.studies import synthesis_text_downstream as downstream
from privlib.experiments.studies import synthesis_text_norms as lengths
from privlib.experiments.studies import synthesis_text_scores as scores

D = 12
RNG = np.random.default_rng(3)
CENTRES = np.eye(D)[:4]


def around(centre, count, spread=0.05):
    rows = centre + spread * RNG.standard_normal((count, D))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Texts(list):
    """A corpus: its texts name its rows."""

    @property
    def texts(self):
        return tuple(self)


def text_case() -> study.Case:
    private = np.concatenate([around(centre, 200) for centre in CENTRES])
    tested = np.concatenate([around(centre, 30) for centre in CENTRES])
    public = np.concatenate([around(centre, 20, 0.2) for centre in CENTRES])
    names = [Texts(f"{kind} {row}" for row in range(len(rows)))
             for kind, rows in (("own", private), ("held", tested), ("public", public))]  # fmt: skip
    codes = [np.repeat([0, 0, 1, 1], size) for size in (200, 30)]
    return study.Case(*names, private, tested, public, *codes)


CASE = text_case()
SETTING = study.Setting(0.6, 50, 1e-5, 4, tuple(range(10)))
RELEASES = study.Releases(CASE, SETTING, 8.0)
ROWS = {name: row for part, rows in ((CASE.target, CASE.private), (CASE.public, CASE.pool))
        for name, row in zip(part, rows, strict=True)}  # fmt: skip


def embed(texts):
    return np.array([ROWS[text] for text in texts])


def test_a_record_moves_the_release_of_its_own_label_only():
    whole, first = RELEASES.run(3), np.flatnonzero(CASE.codes == 0)[0]
    keep = np.arange(len(CASE.private)) != first
    less = study.Case(CASE.target, CASE.held_out, CASE.public, CASE.private[keep], CASE.tested, CASE.pool,
                      CASE.codes[keep], CASE.tested_codes)  # fmt: skip
    other = study.Releases(less, SETTING, 8.0).run(3)
    np.testing.assert_array_equal(whole[1].centroids, other[1].centroids)
    assert not np.array_equal(whole[0].centroids, other[0].centroids)


def test_picked_centroids_come_from_seeds_of_their_own_and_know_their_cells_mean():
    picked = RELEASES.picked(4)
    assert [one.seed for one in picked] == [0, 1, 2, 3]
    assert [one.label for one in picked] == [0, 1, 0, 1]
    cells = RELEASES.buckets.assign(CASE.private)[:, 0]
    for one in picked:
        rows = CASE.private[(CASE.codes == one.label) & (cells == one.cell)]
        np.testing.assert_allclose(one.exact, rows.mean(axis=0))
    with pytest.raises(ValueError, match="invert fewer"):
        RELEASES.picked(40)


def test_a_label_whose_cells_are_used_up_is_passed_over():
    keep = np.r_[0:200, 400:800]  # one of the two places of label 0
    left = dataclasses.replace(CASE, private=CASE.private[keep], codes=CASE.codes[keep])
    assert [one.label for one in study.Releases(left, SETTING, 8.0).picked(3)] == [0, 1, 1]


def test_the_papers_grid_is_released_as_it_is_and_a_cell_is_all_its_coordinates():
    setting = study.Setting(1.2, 100, 1e-5, 4, (0, 1), dims=3)
    made = study.Releases(CASE, setting, 8.0)
    assert (made.mechanism.rate, made.mechanism.threshold) == (0.5, 50)
    raw = made.mechanism.release(CASE.private[CASE.codes == 1], Simulation(1).child("label 1"))
    np.testing.assert_array_equal(made.run(1)[1].centroids, raw.centroids)  # not denoised
    tags = made.buckets.assign(CASE.private)
    assert len(np.unique(tags[:, 0])) < len(np.unique(tags, axis=0))  # one coordinate names no cell
    means, labels = made.exact()
    expected = []
    for label in (0, 1):
        for cell in np.unique(tags[CASE.codes == label], axis=0):
            rows = CASE.private[(CASE.codes == label) & np.all(tags == cell, axis=1)]
            expected += [(label, *rows.mean(axis=0))] if len(rows) >= 100 else []
    np.testing.assert_allclose(np.column_stack([labels, means]), expected)
    picked = made.picked(3)
    found = {study.RELEASED: [SimpleNamespace(text="own 1", start="public 1")] * 3}
    real, _ = study.clusters(CASE, picked, found, {0.7: [()] * 3}, made)["real texts"]
    drawn = study.texts(CASE, picked, found, {}, made, 1)[study.EXACT, study.MEMBER]
    for place, one in enumerate(picked):
        mine = np.flatnonzero((CASE.codes == one.label) & np.all(tags == one.cell, axis=1))
        np.testing.assert_allclose(one.exact, CASE.private[mine].mean(axis=0))
        assert ROWS[real[place]].tolist() == CASE.private[mine[0]].tolist()
        assert int(drawn[place][1].split()[1]) in mine


class Written:
    """An inverter that writes given texts, and reads texts as the case does, at lengths of its own."""

    def invert(self, centroids):
        return [f"own {400 * row}" for row in range(len(centroids))]

    def embed(self, texts):
        return 3.0 * embed(texts)


def test_vec2text_stands_beside_the_nearest_public_text_and_is_the_same_at_every_weight(monkeypatch):
    monkeypatch.setattr(models, "vec2text_inverter", Written)
    made = study.finders("vec2text", CASE, None, None, [0.0, 0.1], 1, near=3)
    assert made[0.0] is made[0.1]
    centroids = 2.0 * CENTRES[[0, 2]]
    for row, (one, target) in enumerate(zip(made[0.0].search(centroids), CENTRES[[0, 2]], strict=True)):
        assert (one.text, one.cosine) == (f"own {400 * row}", pytest.approx(CASE.private[400 * row] @ target))
        assert one.start == CASE.public[int((CASE.pool @ target).argmax())]
        assert one.start_cosine == pytest.approx((CASE.pool @ target).max())
    with pytest.raises(ValueError, match="'search' or 'vec2text'"):
        study.finders("oracle", CASE, None, None, [0.0], 1)


def test_the_search_is_made_at_every_weight_with_its_settings():
    writer = SimpleNamespace(score=None, name="none", checksum="0")
    encoder = SimpleNamespace(embed=embed, checksum="1", pooled=False)
    made = study.finders("search", CASE, encoder, writer, [0.0, 0.1], 5, near=3)
    assert [made[weight].fluency for weight in made] == [0.0, 0.1]
    assert [(one.near, one.seed, one.writer) for one in made.values()] == 2 * [(3, 5, writer)]


def test_a_killed_run_keeps_its_texts_and_their_times_for_the_same_models_only(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVLIB_CACHE", str(tmp_path))
    calls = []

    def counted(texts):
        calls.append(texts)
        return np.array([ROWS.get(text, CENTRES[0]) for text in texts])

    def finder(**changed):
        encoder = SimpleNamespace(**dict(embed=counted, checksum="1", pooled=False) | changed)
        writer = SimpleNamespace(name="none", checksum="0")
        settings = dict(near=2, vocabulary=2, edits=1, batch=4, drafts=0)
        return study.finders("search", CASE, encoder, writer, [0.0], 5, **settings)[0.0]

    picked = RELEASES.picked(2)
    first, spent = study.invert(picked, finder())
    asked = len(calls)
    second, again = study.invert(picked, finder())
    assert (second, again, len(calls)) == (first, spent, asked)
    assert all(row["seconds"] > 0 for row in spent)
    study.invert(picked, finder(checksum="2"))
    assert len(calls) == 2 * asked
    study.invert(picked, finder(pooled=True))
    assert len(calls) == 3 * asked


def test_both_kinds_of_centroids_are_inverted_and_their_cpu_time_is_told():
    picked, asked = RELEASES.picked(3), []

    def search(centroids):
        asked.append(centroids)
        return [SimpleNamespace(text="own 1", seconds=float(row)) for row in range(len(centroids))]

    found, spent = study.invert(picked, SimpleNamespace(search=search))
    for kind, centroids in zip((study.EXACT, study.RELEASED), asked, strict=True):
        np.testing.assert_array_equal(centroids, [getattr(one, kind) for one in picked])
        assert len(found[kind]) == 3
    assert [(row["kind"], row["texts"]) for row in spent] == [("exact", 3), ("released", 3)]
    assert [row["seconds"] for row in spent] == [1.0, 1.0]


def test_nearness_is_measured_to_what_was_inverted_and_likelihood_against_real_texts():
    picked = RELEASES.picked(2)
    nearest = {kind: [(i, CASE.public[int(np.argmax(CASE.pool @ getattr(one, kind)))]) for i, one in enumerate(picked)]
               for kind in ("exact", "released")}  # fmt: skip
    calls = []

    def score(texts):
        calls.append(list(texts))
        return np.array([1.0 if text.startswith("own") else 1.0 + np.log(2) for text in texts])

    texts = {(kind, study.NEAREST): some for kind, some in nearest.items()}
    rows = scores.nearness(CASE, picked, texts, embed, scores.Known(score)).set_index("kind")
    for kind, some in nearest.items():
        expected = np.mean([ROWS[text] @ getattr(picked[i], kind) / np.linalg.norm(getattr(picked[i], kind))
                            for i, text in some])  # fmt: skip
        assert rows.loc[kind, "cosine"] == pytest.approx(expected)
        assert rows.loc[kind, "ratio"] == pytest.approx(2.0)
    asked = [text for call in calls for text in call]
    assert len(asked) == len(set(asked))


def test_the_gap_to_real_texts_is_told_by_budget_and_is_never_below_zero():
    table = pd.DataFrame({
        "kind": ["exact", "exact", "released", "exact"],
        "method": [study.SEARCH, study.NEAREST, study.SEARCH, study.MEMBER],
        "texts": 5, "nll": [2.0, 3.0, 5.0, 3.0], "nll_low": [1.0, 3.0, 4.0, 2.0], "nll_high": [2.5, 3.0, 6.0, 4.0],
        "real_nll": 3.0,
    })  # fmt: skip
    rows = scores.budgets(table, 4.0).set_index("epsilon")
    assert list(rows["method"]) == [study.SEARCH] * 2
    told = rows[["gap", "gap_low", "gap_high"]]
    assert told.loc[np.inf].tolist() == [1.0, 0.5, 2.0]
    assert told.loc[4.0].tolist() == [2.0, 1.0, 3.0]
    alone = scores.budgets(table.assign(nll_high=3.5), 4.0).set_index("epsilon")
    assert alone.loc[np.inf, "gap_low"] == 0.0  # real texts' likelihood lies within the interval


def test_norms_are_told_by_length_before_anything_is_normalised():
    texts = ["word " * count for count in (8, 1, 2, 3, 4, 5, 6, 7, 100)]
    short = SimpleNamespace(embed=lambda some: np.array([[1.0 / len(text.split()), 0.0] for text in some]))
    rows = lengths.norms(short, [SimpleNamespace(name="own", texts=texts)], 8)
    assert rows["words"].tolist() == [1.5, 3.5, 5.5, 7.5]
    np.testing.assert_allclose(rows["norm"], [3 / 4, 7 / 24, 11 / 60, 15 / 112])
    assert rows["texts"].tolist() == [2] * 4
    encoder = models.encoder(cache=False)
    pooled = lengths.unnormed(encoder)
    assert (pooled.name, pooled.norm) == ("all-MiniLM-L6-v2, pooled", np.inf)
    assert lengths.unnormed(pooled) is pooled
    ends = pooled.embed(["rain", "It rained all day and we stayed in, as we do when the weather is like that."])
    assert np.ptp(np.linalg.norm(ends, axis=1)) > 0.1
    np.testing.assert_allclose(ends[0] / np.linalg.norm(ends[0]), encoder.embed(["rain"])[0], atol=1e-5)


def test_labels_are_learnt_from_separate_groups_and_not_from_shuffled_ones():
    cluster = [CASE.target[i] for i in range(0, 800, 100)]
    labels = [int(CASE.codes[i]) for i in range(0, 800, 100)]
    shuffled = [0, 1, 0, 1, 0, 1, 0, 1]
    groups = {"right": (cluster, labels), "shuffled": (cluster, shuffled)}
    rows = downstream.learnt(CASE, RELEASES.picked(2), RELEASES, groups, embed)
    best = rows.groupby("source")["accuracy"].max()
    assert best["right"] == 1.0
    assert best["released centroids"] == 1.0
    one = rows[(rows["source"] == "shuffled") & (rows["method"] == "vote of 1")]["accuracy"].iloc[0]
    assert 0.3 < one < 0.7
    assert (rows["accuracy_low"] <= rows["accuracy"]).all()


def test_what_every_protected_text_would_teach_stands_beside_it():
    rows = downstream.learnt(CASE, RELEASES.picked(2), RELEASES, {}, embed).set_index(["source", "method"])
    whole = rows.loc[downstream.ALL_REAL]
    assert (whole["outputs"] == len(CASE.private)).all()
    assert (whole["seeds"] == 1).all()
    assert whole["accuracy"].min() > 0.9
    assert rows.loc[(downstream.REAL, "vote of 1"), "outputs"] == 4.0  # as many as centroids
    wrong = dataclasses.replace(CASE, codes=1 - CASE.codes)
    found = downstream.learnt(wrong, RELEASES.picked(2), RELEASES, {}, embed).set_index(["source", "method"])
    assert found.loc[downstream.ALL_REAL]["accuracy"].max() < 0.1


def test_picked_centroids_are_learnt_from_as_vectors_beside_as_many_texts():
    picked = RELEASES.picked(4)
    wrong = [1 - one.label for one in picked]
    far = [CASE.target[int(np.argmax(CASE.private @ one.exact))] for one in picked]
    rows = downstream.learnt(CASE, picked, RELEASES, {study.SEARCH: (far, wrong)}, embed)
    few = rows[rows["method"] == "vote of 1"].set_index("source")
    assert few.loc[[downstream.PICKED, study.SEARCH], "outputs"].tolist() == [4.0, 4.0]
    assert few.loc[downstream.PICKED, "accuracy"] > 0.7
    assert few.loc[study.SEARCH, "accuracy"] < 0.3  # its labels are the wrong ones


def test_temperatures_are_read_off_the_sources_and_zero_is_the_text_alone():
    named = [study.SEARCH, f"{study.AGAIN} at 0.7", f"{study.AGAIN} at 1.2", downstream.REAL]
    table = pd.DataFrame({"source": named, "method": "vote of 1", "outputs": 2.0, "accuracy": [0.1, 0.2, 0.3, 0.4],
                          "accuracy_low": 0.0, "accuracy_high": 1.0})  # fmt: skip
    rows = downstream.temperatures(table, [0.7, 1.2])
    assert rows[["temperature", "accuracy"]].to_numpy().tolist() == [[0.0, 0.1], [0.7, 0.2], [1.2, 0.3]]


def test_the_promises_beside_private_evolution_are_of_every_epsilon_and_of_both():
    made = downstream.promises(CASE, SETTING, [4.0, 16.0], ssp.Evolving(6, 3, 3, near=5), 1)
    assert [one.epsilon for one in made] == [4.0, 4.0, 16.0, 16.0]
    assert {one.delta for one in made} == {SETTING.delta}
    assert made[0].assumptions != made[1].assumptions or made[0].composition != made[1].composition  # two mechanisms


def test_private_evolution_is_grown_by_label_and_stands_beside_ours():
    sizes = ssp.Evolving(6, 3, 3, near=5)
    rows = downstream.against(CASE, SETTING, [8.0], sizes, 1)
    at = rows[rows["method"] == "vote of 1"].set_index("source")
    assert at["outputs"].to_dict() == dict.fromkeys([downstream.CENTROIDS, study.NEAREST, ssp.AUG_PE], 4.0)
    assert (at["accuracy"] > 0.9).all()  # of the two halves' own places: labels were not mixed up
    np.testing.assert_allclose(at["behind"], at.loc[ssp.AUG_PE, "accuracy"] - at["accuracy"])
    assert (rows["epsilon"] == 8.0).all()


def test_utility_of_few_outputs_is_below_that_of_all():
    picked = RELEASES.picked(2)
    rows = scores.utilities(CASE, picked, {}, RELEASES, embed)
    recall = rows[rows["kind"] == "released"].set_index(["scored", "level"])["recall"]
    assert recall["all", "every centroid"] > recall["all", "picked centroids"]


def nearest_search(asked):
    """An inverter that answers with the nearest protected text of other lengths, and keeps what it was asked."""

    def search(centroids):
        asked.append(np.asarray(centroids))
        places = np.argmax(centroids @ CASE.private.T, axis=1), np.argmax(centroids @ CASE.pool.T, axis=1)
        pairs = zip(*(part.tolist() for part in places), strict=True)
        return [SimpleNamespace(text=CASE.target[own], start=CASE.public[near], seconds=0.0) for own, near in pairs]

    return SimpleNamespace(search=search)


def test_the_same_cells_are_inverted_at_every_budget_and_their_exact_means_once():
    picked, asked = RELEASES.picked(3), []
    at_each = {8.0: RELEASES, 16.0: study.Releases(CASE, SETTING, 16.0)}
    words = []

    def reword(found):
        words.append(len(found))
        return [("own 9",)] * len(found)

    told = by_budget.inverted(CASE, picked, at_each, nearest_search(asked), reword, 1)
    assert list(told) == [8.0, 16.0, np.inf]
    assert (len(asked), words) == (3, [3, 3, 3])
    for released, kind, one in zip(asked, ("released", "released", "exact"), told.values(), strict=True):
        np.testing.assert_array_equal(released, [getattr(part, kind) for part in one.picked])
        assert [(part.seed, part.label, part.cell) for part in one.picked] == [
            (part.seed, part.label, part.cell) for part in picked
        ]
        assert set(one.texts) == {(kind, name) for name in (study.NEAREST, study.SEARCH, study.AGAIN)}
    np.testing.assert_array_equal(asked[0], [one.released for one in picked])
    gaps = [np.linalg.norm(part - asked[2], axis=1).mean() for part in asked[:2]]
    assert gaps[1] < gaps[0]  # more budget, less noise


def test_a_cell_that_another_budget_does_not_release_is_left_out():
    strange = dataclasses.replace(RELEASES.picked(1)[0], cell=(99,))
    known = RELEASES.picked(1)
    assert by_budget.same_cells([strange], RELEASES) == []
    (left,) = by_budget.same_cells([strange, *known], RELEASES)
    np.testing.assert_array_equal(left.released, known[0].released)


def test_a_curators_cells_are_as_released_with_noise_for_one_record_and_have_no_exact_means():
    central, asked = by_budget.CuratorReleases(CASE, SETTING, 8.0), []
    for label, part in enumerate(central.run(3)):
        own = central.mechanism.release(CASE.private[CASE.codes == label], Simulation(3).child(f"label {label}"))
        np.testing.assert_array_equal(part.centroids, own.centroids)
    assert central.mechanism.threshold == SETTING.frequency
    told = by_budget.inverted(
        CASE, RELEASES.picked(3), {8.0: central}, nearest_search(asked), lambda found: [()] * len(found), 1, exact=False
    )
    assert list(told) == [8.0]
    (aimed,) = asked
    errors = [np.linalg.norm(aimed - [one.exact for one in RELEASES.picked(3)], axis=1).mean()]
    errors.append(np.mean([np.linalg.norm(one.released - one.exact) for one in RELEASES.picked(3)]))
    assert errors[0] < errors[1] / 2  # every record of a cell, and no sampling
    ours = by_budget.inverted(CASE, RELEASES.picked(1), {8.0: RELEASES}, nearest_search([]), lambda found: [()], 1)
    rows = by_budget.table(
        {"ours": ours, "a curator": told},
        lambda one: scores.utilities(CASE, one.picked, one.texts, one.releases, embed),
    )
    assert rows.groupby("by")["epsilon"].agg(set).to_dict() == {"ours": {8.0, np.inf}, "a curator": {8.0}}


def test_scores_by_budget_take_each_budgets_own_rows():
    picked = RELEASES.picked(2)
    at_each = {8.0: RELEASES, 16.0: study.Releases(CASE, SETTING, 16.0)}
    told = by_budget.inverted(CASE, picked, at_each, nearest_search([]), lambda found: [("own 9",)] * len(found), 1)
    rows = by_budget.table(
        {"ours": told}, lambda one: scores.utilities(CASE, one.picked, one.texts, one.releases, embed)
    )
    whole = rows[rows["scored"] == "all"]
    every = whole[whole["level"] == "every centroid"].set_index("epsilon")
    for epsilon, releases in at_each.items():
        own = scores.utilities(CASE, picked, {}, releases, embed)
        own = own[(own["level"] == "every centroid") & (own["kind"] == "released") & (own["scored"] == "all")]
        assert every.loc[epsilon, "l2"] == own["l2"].iloc[0]
    assert every.loc[8.0, "l2"] != every.loc[16.0, "l2"]
    exact = measures.utility(RELEASES.exact()[0], CASE.private, SETTING.radius, SETTING.alpha)
    assert every.loc[np.inf, ["outputs", "recall", "l2"]].tolist() == [4.0, exact.recall, exact.l2]
    assert rows.columns[:2].tolist() == ["by", "epsilon"]
    assert "kind" not in rows


def test_paraphrases_keep_the_label_of_their_centroid():
    picked = RELEASES.picked(2)
    found = {study.RELEASED: [SimpleNamespace(text="own 1"), SimpleNamespace(text="own 500")]}
    groups = study.learnable(picked, found, {0.7: [("own 2", "own 3"), ()]}, ["own 7", "own 507"])
    assert groups[study.MEMBER] == (["own 7", "own 507"], [0, 1])
    assert groups[f"{study.AGAIN} at 0.7"] == (["own 1", "own 500", "own 2", "own 3"], [0, 1, 0, 0])
    clusters = study.clusters(CASE, picked, found, {0.7: [("own 2", "own 3"), ()]}, RELEASES)
    assert clusters[f"{study.AGAIN} at 0.7"] == (["own 1", "own 2", "own 3", "own 500"], [0, 0, 0, 1])
    assert clusters["real texts"][1] == [0, 0, 0, 1, 1, 1]


def test_students_interval_of_one_value_has_no_width():
    assert scores.student([2.0]) == (2.0, 2.0, 2.0)
    mean, low, high = scores.student([1.0, 3.0])
    assert (mean, high - mean) == (2.0, pytest.approx(12.706 * 1.0, rel=1e-3))
    assert low == pytest.approx(2 * mean - high)


# ------------------------------------------------------------------------------------------ support protection
def ssp_case() -> ssp.Case:
    near = np.concatenate([around(centre, 300) for centre in CENTRES])
    odd = np.concatenate([around(-np.eye(D)[5 + i], 1) for i in range(3)])
    public = np.concatenate([around(centre, 40, 0.2) for centre in CENTRES])
    mask = np.arange(len(near) + 3) >= len(near)
    names = Texts(f" public {row}" for row in range(len(public)))
    return ssp.Case(Texts(), names, Texts(), np.concatenate([near, odd]), public, mask)


PLANTED = ssp_case()
SUPPORT = ssp.Setting(0.6, 50, 1e-5, 4, tuple(range(6)), 3)
EVOLVING = ssp.evolving(PLANTED, ssp.Evolving(12, 3, 2, near=5), 8.0, 1e-5, "near texts", 1)
METHODS = ssp.Methods(PLANTED, SUPPORT, 8.0, EVOLVING)
NEAR = tables.counts(PLANTED, SUPPORT)


def test_exact_means_are_the_release_without_its_noise():
    released = METHODS.released(ssp.PLAIN, 2)
    means, stds = METHODS.exact_means(2)
    noise = Simulation(2).child(ssp.PLAIN).child("sums").add_gaussian(np.zeros(means.shape), released.noise_std)
    np.testing.assert_allclose(released.centroids, means + noise / released.counts[:, None], atol=1e-6)
    np.testing.assert_allclose(stds, released.noise_std / released.counts)


def test_private_evolution_varies_texts_by_other_public_texts_near_them():
    some = EVOLVING.generate(8, 4)
    other = EVOLVING.vary(some, 5)
    cosines = np.einsum("ij,ij->i", EVOLVING.embed(some), EVOLVING.embed(other))
    assert all(one != two for one, two in zip(some, other, strict=True))
    assert cosines.min() > np.median(PLANTED.public @ PLANTED.public.T)
    assert isinstance(EVOLVING, baselines.AugPE)
    assert EVOLVING.guarantee.epsilon <= 8.0
    with pytest.raises(ValueError, match="writer"):
        ssp.evolving(PLANTED, ssp.Evolving(2, 2, 1), 8.0, 1e-5, "oracle", 1)


def test_probes_stay_far_and_a_method_that_copies_them_is_caught():
    runs = METHODS.runs()
    assert len(runs[ssp.DENOISED]) == 6
    assert len(runs[ssp.LOCAL]) == 3
    leaky = {"copies": [PLANTED.private[PLANTED.probe]] * 6}
    rows = tables.probes(PLANTED, runs | leaky, NEAR, SUPPORT, 10).set_index(["method", "kind"])
    assert rows.loc[(ssp.DENOISED, "probe"), "reached"] == 0.0
    assert rows.loc[(ssp.DENOISED, "probe"), "upper"] > 0.3
    assert rows.loc[("copies", "probe"), "reached"] == 1.0
    found = tables.protection(PLANTED, {"ours": runs[ssp.DENOISED]} | leaky, NEAR, SUPPORT, [10], 2)
    at = found[found["psi"] == 0.5].set_index("method")
    assert (at.loc["ours", "mean"], at.loc["copies", "mean"]) == (0.0, 1.0)
    assert at.loc["copies", "worst_low"] > 0.3


def test_protection_is_told_at_every_t_and_drawn_at_the_least_and_the_largest():
    runs = {ssp.PLAIN: METHODS.runs()[ssp.PLAIN]}
    rows = tables.protection(PLANTED, runs, NEAR, SUPPORT, [10, 30, 400], 2)
    assert rows.groupby("frequency")["texts"].first().to_dict() == {10: 3, 30: 3, 400: 1203}
    steady = "mean steady over frequency where frequency{} and psi=1.0"
    with pytest.raises(rules.NoRows):  # as with two values of t
        rules.evaluate(rules.Alternative("trend", steady.format("<400")), rows, "abs 0.02")
    assert not rules.evaluate(rules.Alternative("trend", steady.format("<=400")), rows, "abs 0.02").holds
    bounds = SimpleNamespace(rows=tables.bounds(METHODS, NEAR, 10, 1))
    drawn = figures.draw_protection(SimpleNamespace(rows=rows), bounds)
    titles = [axes.get_title(loc="left").split(" others")[0] for axes in drawn.axes]
    assert titles[:2] == ["texts with fewer than 10", "texts with fewer than 400"]
    assert len(titles) == 3


def test_neighbours_and_distances_tell_frequent_from_infrequent():
    runs = METHODS.runs()
    rows = tables.neighbours(PLANTED, runs, NEAR, [0, 50, 10000])
    mine = rows[rows["method"] == ssp.DENOISED].set_index("neighbours")["distance"]
    assert mine[50] < mine[0] - 0.3
    share = tables.distances(PLANTED, runs, NEAR, 10).groupby(["method", "kind"])["share"].sum()
    np.testing.assert_allclose(share, 1.0)


def test_the_bound_grows_with_reach_and_says_nothing_at_the_end():
    rows = tables.bounds(METHODS, NEAR, 10, 3)
    assert (np.diff(rows["log10_bound"]) >= 0).all()
    assert (rows["log10_mean"] <= rows["log10_bound"]).all()
    assert rows["log10_bound"].iloc[0] < -3


def test_heavy_cells_are_found_by_sampling_and_by_the_curator():
    rows = tables.heavy({8.0: METHODS}).set_index(["method", "score"])["value"]
    assert rows[ssp.PLAIN, "recall"] == rows[ssp.CENTRAL, "recall"] == 1.0
    silent = ssp.Methods(PLANTED, ssp.Setting(0.6, 290, 1e-5, 4, (0, 1), 2), 8.0, EVOLVING)
    silent.local = baselines.LocalEmbeddings(silent.ours.buckets, 8.0, 1e-5, threshold=10**6)
    found = tables.heavy({8.0: silent}).set_index(["method", "score"])["value"]
    assert found[ssp.LOCAL, "recall"] == 0.0
    assert (ssp.LOCAL, "precision") not in found.index


def test_the_gap_to_a_curator_is_its_score_less_ours():
    centres, away = PLANTED.private[:1200:300], -np.eye(D)[:4]
    given = {ssp.PLAIN: away, ssp.CENTRAL: centres}
    stand_in = SimpleNamespace(
        case=PLANTED, setting=SUPPORT, nearest_texts=lambda outputs: -outputs,
        released=lambda method, seed: SimpleNamespace(centroids=given[method]),
    )  # fmt: skip
    rows = tables.curator_gaps({16.0: stand_in}, 2).set_index("outputs")
    assert rows.loc[ssp.PLAIN, ["ours", "curator", "gap"]].tolist() == [0.0, 1.0, 1.0]
    assert rows.loc[ssp.TEXTS, "gap"] == -1.0  # of the public texts: turned round here, and the gap with them
    scored = [f"{who}_{score}" for who in ("ours", "curator") for score in ("precision", "recall")]
    assert rows.loc[ssp.PLAIN, scored].tolist() == [0.0, 0.0, 1.0, 1.0]
    given[ssp.CENTRAL] = np.concatenate([centres[:2], away[:2]])
    half = tables.curator_gaps({16.0: stand_in}, 2).set_index("outputs").loc[ssp.PLAIN]
    assert half[["curator_precision", "curator_recall"]].tolist() == [0.5, 0.5]
    given[ssp.CENTRAL] = centres
    assert rows["runs"].tolist() == [2, 2]
    rows = tables.curator_gaps({8.0: METHODS}, 3).set_index("outputs")
    assert (rows["gap_low"] <= rows["gap"]).all()
    ours = [METHODS.released(ssp.PLAIN, seed).centroids for seed in SUPPORT.seeds[:3]]
    expected = [measures.utility(made, PLANTED.private[~PLANTED.probe], 0.6).f1 for made in ours]
    assert rows.loc[ssp.PLAIN, "ours"] == pytest.approx(np.mean(expected))
    given[ssp.CENTRAL] = np.empty((0, D))
    assert tables.curator_gaps({16.0: stand_in}, 2).empty


def test_a_rewrite_is_written_once_and_hangs_on_its_text_and_seed(monkeypatch):
    asked = []

    def complete(prompts, max_new_tokens, temperature, seed):
        asked.append((len(prompts), seed))
        return [f"said {prompt.split()[-2]} by {seed}" for prompt in prompts]

    monkeypatch.setattr(models, "language_model", lambda: SimpleNamespace(complete=complete))
    case = dataclasses.replace(PLANTED, encoder=models.encoder(cache=False))
    made = ssp.evolving(case, ssp.Evolving(12, 3, 2), 8.0, 1e-5, "model", 1)
    first = made.vary(["public 1", "public 2"], 5)
    assert made.vary(["public 2", "public 3", "public 1"], 5)[::2] == first[::-1]
    assert [count for count, _ in asked] == [2, 1]
    assert made.vary(["public 1"], 6) != first[:1]


def test_utility_is_scored_for_each_epsilon_between_references():
    rows = tables.utilities({8.0: METHODS}, 3, 10).set_index("method")
    assert rows.loc[tables.SAME, "f1"] > rows.loc[tables.UNRELATED, "f1"]
    assert rows.loc[ssp.DENOISED, "f1"] == 1.0
    assert (rows["runs"] == 3).all()
    point = measures.utility(PLANTED.public.mean(axis=0)[None], PLANTED.private[~PLANTED.probe], SUPPORT.radius)
    assert rows.loc[tables.MEAN, ["outputs", "recall", "l2"]].tolist() == pytest.approx([1.0, point.recall, point.l2])


def test_frequent_texts_are_scored_beside_all_of_them_where_there_are_any():
    common = NEAR >= 10
    common[np.flatnonzero(common)[::2]] = False  # a half of them, so that the two scores differ
    rows = tables.utilities({8.0: METHODS}, 3, 10, common)
    at = rows.set_index(["method", "scored"])
    assert at["texts"].groupby("scored").first().to_dict() == {"all": 1200, "frequent": int(common.sum())}
    made = [METHODS.outputs(seed, local=False)[ssp.DENOISED] for seed in SUPPORT.seeds[:3]]
    expected = np.mean([measures.utility(outputs, PLANTED.private[common], 0.6).l2 for outputs in made])
    assert at.loc[(ssp.DENOISED, "frequent"), "l2"] == pytest.approx(expected)
    assert at.loc[(ssp.DENOISED, "frequent"), "l2"] != at.loc[(ssp.DENOISED, "all"), "l2"]
    plain = tables.utilities({8.0: METHODS}, 3, 10)
    pd.testing.assert_frame_equal(tables.against_all(rows).reset_index(drop=True), tables.against_all(plain))
    few = np.zeros(len(common), bool)
    few[np.flatnonzero(common)[:6]] = True
    few[-3:] = True  # probes are no text of the corpus
    found = tables.utilities({8.0: METHODS}, 3, 10, few).set_index(["method", "scored"])
    assert found.loc[(tables.SAME, "frequent"), ["texts", "outputs"]].tolist() == [6, 3.0]
    assert set(tables.utilities({8.0: METHODS}, 3, 10, NEAR > 10**6)["scored"]) == {"all"}


def test_the_distance_that_every_bill_pays_for_is_told():
    assert METHODS.distances_paid == {ssp.PLAIN: 1.2, ssp.CENTRAL: 0.6, ssp.OUE: 1.2, ssp.LOCAL: 2.0}
    setting = ssp.Setting(0.1, 100, 1e-6, 4, (1,), 1, dims=20)
    grid = ssp.Methods(PLANTED, setting, 8.0, EVOLVING)
    assert grid.distances_paid[ssp.GRID] == pytest.approx(0.24)  # u r, u = 2.4
    assert grid.grid.std == pytest.approx(0.95 * 0.24)  # the paper's multiplier of just that distance
