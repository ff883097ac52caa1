"""Writing towards a centroid, and fluency weighed in the search, with a model of word pairs and a toy encoder."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pytest

from privlib.models import BigramModel
from privlib.synthesis import SearchInverter
from privlib.synthesis.candidates import Candidates, Fluency
from privlib.synthesis.writing import repetitive, written

D = 16
POOL = (
    "the nurse gave my father a pill for his heart",
    "my heart raced all night and the doctor changed the dose",
    "a child with fever waits for the doctor",
    "the bus was late and full",
    "fresh bread and strong coffee every morning",
    "the doctor gave the child a pill every morning",
)


def embed(texts) -> np.ndarray:
    sums = np.array([sum(map(_vector, re.findall(r"\w+", text.lower()))) for text in texts])
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def _vector(word: str) -> np.ndarray:
    digest = hashlib.sha256(word.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(D)


CENTROIDS = embed(["doctor gave child fever pill", "coffee bread morning late bus"])
MODEL = BigramModel(POOL)
SIZES = {"beams": 3, "choices": 8, "tried": 8, "length": 8}


class Scripted:
    """Goes on with given pieces, and remembers what it was shown."""

    def __init__(self, *pieces):
        self.pieces, self.prompts, self.asked = pieces, [], []

    def continuations(self, prompt, beginnings, count):
        self.prompts.append(prompt)
        self.asked.append(list(beginnings))
        return [list(self.pieces)[:count] for _ in beginnings]

    def score(self, texts):
        return np.array([float(len(text)) for text in texts])


def aim(target, weight=0.0, natural=0.0, embed=embed):
    return Candidates(embed, target, 64, {}, Fluency(MODEL.score, weight, natural, 8) if weight else None)


class Blind(Candidates):
    """To it every text is as near as any other, and no piece promises anything."""

    def cosines(self, texts):
        return np.zeros(len(texts))

    def piece_vectors(self, pieces):
        return np.zeros((len(pieces), D))


def test_what_is_written_is_nearer_than_the_models_own_likeliest_words():
    best = written(MODEL, ["doctor"], aim(CENTROIDS[0]), **SIZES)[0]
    blind = Blind(embed, CENTROIDS[0], 64, {}, Fluency(MODEL.score, 1.0, 0.0, 8))
    likeliest = written(MODEL, ["doctor"], blind, **SIZES)[0]
    assert embed([best])[0] @ CENTROIDS[0] > embed([likeliest])[0] @ CENTROIDS[0] + 0.2


def written_likelihood(weight, natural):
    texts = [written(MODEL, ["doctor"], aim(c, weight, natural), **SIZES)[0] for c in CENTROIDS]
    return MODEL.score(texts).mean()


def test_weight_turns_nearness_into_likelihood_but_not_where_texts_are_natural():
    assert written_likelihood(1.0, 0.0) < written_likelihood(0.0, 0.0) - 0.3
    assert written_likelihood(1.0, 99.0) == written_likelihood(0.0, 0.0)


def test_the_pieces_that_promise_most_are_embedded_and_few_of_them_do_as_well_as_all():
    """Thirty pieces a text, one of which is wanted: two tried find what all thirty do; the likeliest two do not."""
    words = [f"word{i}" for i in range(28)]
    for target, wanted in zip(CENTROIDS, (("doctor", "fever", "pill"), ("coffee", "bread", "bus")), strict=True):
        writer = Scripted(*[(f" {word}", -1.0) for word in [*words, *wanted]])
        made = {}
        for tried in (2, 31):
            counted = []
            point = aim(target, embed=lambda texts, seen=counted: seen.extend(texts) or embed(texts))
            sizes = {"beams": 1, "choices": 31, "tried": tried, "length": 3}
            made[tried] = written(writer, ["x"], point, **sizes)[0], len([text for text in counted if " " in text])
        assert embed([made[2][0]])[0] @ target > embed([made[31][0]])[0] @ target - 0.02
        assert made[2][1] < made[31][1] / 5


def test_the_model_is_shown_the_words_and_carries_on_its_best_beginnings():
    writer = Scripted((" doctor", -1.0), (" bus", -1.0), (" pill", -2.0))
    written(writer, ["nurse", "dose"], aim(CENTROIDS[0]), **SIZES | {"beams": 2, "length": 2})
    assert "Words: nurse, dose\nSentence:" in writer.prompts[0]
    assert writer.asked[0] == [""]
    order = sorted([" doctor", " bus", " pill"], key=lambda text: -(embed([text])[0] @ CENTROIDS[0]))
    assert writer.asked[1] == order[:2]


def test_texts_end_at_a_new_line_and_never_loop():
    made = written(Scripted((" pill\nText", -0.1), (" pill", -1.0)), ["x"], aim(CENTROIDS[0]), **SIZES)
    assert made == ["pill"]
    assert written(Scripted(("\n", -0.1)), ["x"], aim(CENTROIDS[0]), **SIZES) == []


@pytest.mark.parametrize(
    ("text", "loops"),
    [("we went and we saw it", False), ("the the end", True), ("pain after pain is pain", True), ("so-so", True)],
)
def test_repetition_is_seen(text, loops):
    assert repetitive(text) is loops


def test_it_stops_when_nothing_comes_nearer():
    class Shorter(Candidates):
        def cosines(self, texts):
            return np.array([-float(len(text)) for text in texts])

    writer = Scripted(*[(f" word{i}", -1.0) for i in range(40)])
    written(writer, ["x"], Shorter(embed, CENTROIDS[0], 64, {}, None), **SIZES | {"length": 30})
    assert len(writer.asked) == 5  # the first and four that were not nearer


def test_texts_without_direction_are_not_carried_on():
    writer = Scripted((" doctor", -0.1), (" bus", -1.0), (" pill", -2.0))
    blind = aim(CENTROIDS[0], embed=lambda texts: embed(texts) * [["doctor" not in text] for text in texts])
    made = written(writer, ["x"], blind, **SIZES)
    assert "doctor" not in made[0]
    assert not any("doctor" in text for asked in writer.asked for text in asked)
    assert written(Scripted((" doctor", -0.1)), ["x"], blind, **SIZES) == ["doctor"]


# ------------------------------------------------------------------------------------------ in the search
def search(**changes) -> SearchInverter:
    given = dict(embed=embed, pool=POOL, max_words=8, writer=MODEL, drafts=1, edits=3, batch=32, length=6, natural=0.0)
    return SearchInverter(**given | changes)


def test_fluency_buys_likelihood_with_nearness():
    found = {weight: search(fluency=weight).search(CENTROIDS) for weight in (0.0, 1.0)}
    nll = {weight: MODEL.score([one.text for one in some]).mean() for weight, some in found.items()}
    cosine = {weight: np.mean([one.cosine for one in some]) for weight, some in found.items()}
    assert nll[1.0] < nll[0.0] - 0.1
    assert cosine[1.0] < cosine[0.0] - 0.01


def test_without_fluency_no_text_is_judged_and_nothing_is_farther_than_the_nearest_public_text():
    class Mute(BigramModel):
        def score(self, texts):
            raise AssertionError("asked to judge")

    found = search(writer=Mute(POOL)).search(CENTROIDS)
    assert all(one.cosine >= one.start_cosine for one in found)


def test_only_the_nearest_few_are_judged():
    asked = []

    class Counting(BigramModel):
        def score(self, texts):
            asked.append(len(texts))
            return super().score(texts)

    search(writer=Counting(POOL), fluency=0.1, judged=3).search(CENTROIDS[:1])
    assert asked
    assert max(asked) <= 3


def test_of_the_pieces_that_a_draft_follows_one_is_judged():
    """They are seldom kept; without drafts, as many as of anything are judged."""
    asked = []

    class Counting(BigramModel):
        def score(self, texts):
            asked.append(len(texts))
            return super().score(texts)

    for drafts in (1, 0):
        search(writer=Counting(POOL), fluency=0.1, judged=3, edits=0, drafts=drafts).search(CENTROIDS[:1])
    assert asked == [1, 3, 3]


def test_a_draft_is_a_step_and_what_it_finds_is_kept():
    found = search(edits=0).search(CENTROIDS)
    without = search(edits=0, drafts=0).search(CENTROIDS)
    assert [name for name, _ in found[0].steps] == ["nearest", "pieces", "draft"]
    assert sum(one.cosine for one in found) > sum(one.cosine for one in without)


def test_the_second_draft_is_shown_the_words_of_the_first_and_what_it_lacks():
    writer = Scripted((" doctor", -1.0), (" child", -1.0), (" pill", -2.0))
    (found,) = search(writer=writer, drafts=2, edits=0).search(CENTROIDS[:1])
    first, second = writer.prompts[0], writer.prompts[-1]
    assert first != second
    assert any(word in second.rsplit("Words:", 1)[1] for word in re.findall(r"\w{4,}", found.text.lower()))


def test_settings_of_the_writer_reach_the_cache(tmp_path):
    plain = search(cache=tmp_path, label="pairs", fluency=0.0).search(CENTROIDS)
    fluent = search(cache=tmp_path, label="pairs", fluency=0.3).search(CENTROIDS)
    assert [one.text for one in plain] != [one.text for one in fluent]
    assert len(list(tmp_path.glob("*.json"))) == 4


@pytest.mark.parametrize(
    "changes",
    [{"fluency": -0.1}, {"fluency": 0.1, "writer": None}, {"judged": 0}, {"beams": 0}, {"tried": 0}, {"natural": -1.0}],
)
def test_wrong_settings_are_refused(changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        search(**changes)
