"""The search inverter and paraphrasing, on an encoder that adds up one fixed vector a word."""

from __future__ import annotations

import hashlib
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from privlib.synthesis import SearchInverter, paraphrase
from privlib.synthesis.inversion import pieces

D = 24
POOL = (
    "The nurse gave my father a pill for his heart.",
    "My heart raced all night; I could not sleep. The doctor changed the dose.",
    "Long queue at the bank, and the card did not work!",
    "A child with fever waits for the doctor.",
    "The bus was late and full.",
    "Fresh bread and strong coffee every morning.",
    "She reads the news about cancer research in bed.",
    "New study: less sugar, better sleep",
)
WORDS = {word for text in POOL for word in re.findall(r"[a-z']+", text.lower())}


def word_vector(word: str) -> np.ndarray:
    digest = hashlib.sha256(word.encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big")).standard_normal(D)


def embed(texts) -> np.ndarray:
    """Unit sum of word vectors: near centroids can be reached, and only by the right words."""
    sums = np.array([sum(map(word_vector, re.findall(r"[\w']+", text.lower()))) for text in texts])
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


class Killed(BaseException):
    """What ends a run from outside; pytest itself would stop at a KeyboardInterrupt."""


class Counting:
    """An encoder that remembers what it was asked; with `fails_after` calls it is killed."""

    def __init__(self, fails_after: int | None = None):
        self.calls, self.fails_after = [], fails_after

    def embed(self, texts):
        if self.fails_after is not None and len(self.calls) >= self.fails_after:
            raise Killed
        self.calls.append(list(texts))
        return embed(texts)


CENTROIDS = embed(
    [
        "doctor doctor heart study cancer child",
        "coffee bread bank bank queue late",
        "sleep sleep sugar news fever nurse",
    ]
)


def search(**changes) -> SearchInverter:
    return SearchInverter(**dict(embed=embed, pool=POOL, max_words=10) | changes)


def test_progress_is_shown_only_when_asked_and_changes_no_text(capsys):
    finder = search(edits=1, rewrites=0)
    quiet = finder.invert(CENTROIDS)
    assert capsys.readouterr() == ("", "")
    assert finder.invert(CENTROIDS, progress=True) == quiet
    said = capsys.readouterr().err
    assert "inverting" in said
    assert "3/3" in said


def test_words_are_found_that_the_nearest_public_text_lacks():
    """Controls: no edits at all stay far, and edits must beat pieces as well as whole texts."""
    found = search().search(CENTROIDS)
    idle = search(edits=0).search(CENTROIDS)
    for each, control in zip(found, idle, strict=True):
        assert each.cosine > 0.85
        assert each.cosine > control.cosine + 0.1
        assert each.start_cosine == control.start_cosine <= control.cosine


def test_a_record_says_what_the_text_is_worth():
    units = CENTROIDS / np.linalg.norm(CENTROIDS, axis=1, keepdims=True)
    to_pool = embed(POOL) @ units.T
    for row, each in enumerate(search().search(7.5 * CENTROIDS)):  # a released centroid has any length
        assert each.cosine == pytest.approx(embed([each.text])[0] @ units[row], abs=1e-12)
        assert each.start == POOL[int(to_pool[:, row].argmax())]
        assert each.start_cosine == pytest.approx(to_pool[:, row].max(), abs=1e-12)
        assert [stage for stage, _ in each.steps[:3]] == ["nearest", "pieces", "words"]
        searched = [cosine for stage, cosine in each.steps if stage != "nearest"]
        assert searched == sorted(searched)
        assert each.cosine == max(each.start_cosine, searched[-1])


def test_a_long_nearest_text_is_kept_when_nothing_short_is_nearer():
    target = embed([POOL[1]])
    found = search(max_words=2, edits=3).search(target)[0]
    assert found.text == found.start == POOL[1]
    assert found.cosine == pytest.approx(1)


def test_only_public_words_come_out():
    for text in search().invert(CENTROIDS):
        assert len(text.split()) == len(set(text.split()))
        assert set(re.findall(r"[a-z']+", text.lower())) <= WORDS
        assert len(text.split()) <= 10


def test_the_seed_decides_and_other_centroids_do_not():
    limited = dict(edits=2, batch=16)
    together = search(**limited).search(CENTROIDS)
    assert search(**limited).search(CENTROIDS) == together
    assert search(**limited).search(CENTROIDS[2:]) == together[2:]
    asked = [Counting(), Counting(), Counting()]
    for seed, counting in zip((0, 0, 1), asked, strict=True):
        search(**limited, embed=counting, seed=seed).search(CENTROIDS)
    assert asked[0].calls == asked[1].calls != asked[2].calls


def test_candidates_go_to_the_encoder_in_batches_and_once():
    counting = Counting()
    search(embed=counting, batch=16, pool_vectors=embed(POOL)).search(CENTROIDS[:1])
    rounds = [texts for texts in counting.calls if any(" " in text for text in texts)]
    assert len(rounds) == len(counting.calls) - 1  # the word list is embedded once
    assert max(map(len, rounds)) == 16
    asked = [text for texts in rounds for text in texts]
    assert len(asked) == len(set(asked)) > 100


def test_a_killed_search_resumes_with_the_centroids_it_had(tmp_path):
    whole = search().search(CENTROIDS)
    folder = tmp_path / "found"
    one = Counting()
    search(embed=one).search(CENTROIDS[:1])
    killed = Counting(fails_after=len(one.calls) + 2)
    with pytest.raises(Killed):
        search(embed=killed, cache=folder, label="sum").search(CENTROIDS)
    assert len(list(folder.glob("*.json"))) == 1
    assert not list(folder.glob("*.part"))
    resumed = search(cache=folder, label="sum").search(CENTROIDS)
    assert resumed == whole
    silent = Counting(fails_after=0)
    assert search(embed=silent, cache=folder, label="sum").search(CENTROIDS) == whole
    assert folder.stat().st_mode & 0o077 == 0
    entry = json.loads(min(folder.glob("*.json")).read_text())
    assert entry["seconds"] > 0
    wrong = [{"text": 3}, {"cosine": "far"}, {"start_cosine": None}, {"steps": [["words", True]]}, {"steps": "words"}]
    wrong += [{"seconds": 1}]
    for text in ("", "{}", '{"text": 1}', "[1]", *(json.dumps(entry | changed) for changed in wrong)):
        kept = min(folder.glob("*.json"))
        kept.write_text(text)
        assert search(cache=folder, label="sum").search(CENTROIDS) == whole
        assert kept.read_text() != text


@pytest.mark.parametrize("change", [{"seed": 1}, {"label": "other"}, {"pool": POOL[:5]}, {"edits": 2}])
def test_the_cache_keeps_other_searches_apart(tmp_path, change):
    settings = dict(cache=tmp_path, label="sum", edits=1)
    search(**settings).search(CENTROIDS[:1])
    search(**settings | change).search(CENTROIDS[:1])
    assert len(list(tmp_path.glob("*.json"))) == 2


def test_numbers_of_numpy_are_settings_like_others_and_have_one_key(tmp_path):
    settings = dict(cache=tmp_path, label="sum", edits=1)
    plain = search(**settings, seed=3, near=4, fluency=0, natural=4).search(CENTROIDS[:1])
    given = dict(seed=np.int64(3), near=np.int32(4), fluency=np.float32(0), natural=np.float64(4))
    assert search(**settings, **given).search(CENTROIDS[:1]) == plain
    assert len(list(tmp_path.glob("*.json"))) == 1


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_vectors_whose_squares_vanish_or_overflow_are_refused_by_name(size):
    with pytest.raises(ValueError, match="embed must give vectors with a largest entry from 1e-140"):
        search(embed=lambda texts: size * embed(texts)).search(CENTROIDS[:1])
    with pytest.raises(ValueError, match="centroids must give vectors with a largest entry"):
        search().search(size * CENTROIDS[:1])


def test_the_third_draft_and_later_ones_are_shown_drawn_words_that_lie_near():
    shown = []

    def continuations(prompt, beginnings, count):
        if beginnings == [""]:
            shown.append(prompt.splitlines()[-2].removeprefix("Words: ").split(", "))
        return [[] if beginning else [(" the bus was late", -1.0)] for beginning in beginnings]

    writer = SimpleNamespace(score=lambda texts: np.zeros(len(texts)), continuations=continuations)
    search(writer=writer, drafts=5, edits=0).search(CENTROIDS[:1])
    assert [len(words) for words in (shown[0], *shown[2:])] == [10] * 4
    near = sorted(WORDS, key=lambda word: -(embed([word])[0] @ CENTROIDS[0]))
    assert set(shown[0]) == set(near[:10])
    assert set(shown[1]) != set(shown[0])  # with the best text's own
    drawn = [frozenset(words) for words in shown[2:]]
    assert len({frozenset(shown[0]), *drawn}) == 4
    assert all(words <= set(near[:40]) for words in drawn)


def blinded(word: str):
    """An encoder to which texts with `word` have no direction."""
    return lambda texts: np.array(
        [0 * embed([text])[0] if word in text.lower() else embed([text])[0] for text in texts]
    )


def test_a_text_without_direction_is_never_taken_and_ends_no_search():
    """Of the words, of pieces and edits, and of the pool, the nearest text included."""
    plain = search().search(CENTROIDS)
    blind = search(embed=blinded("doctor")).search(CENTROIDS)
    assert any("doctor" in one.text.lower() for one in plain)
    for one in blind:
        assert "doctor" not in one.text.lower()
        assert "doctor" not in one.start.lower()
        assert np.isfinite([one.cosine, one.start_cosine, *(cosine for _, cosine in one.steps)]).all()


@pytest.mark.parametrize("fluency", [0.0, 0.1])
@pytest.mark.parametrize("text", [POOL[3], POOL[1]], ids=["short", "longer than what is made"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_only_text_with_a_direction_is_found_be_it_opposite(text, side, fluency):
    def continuations(prompt, beginnings, count):
        return [[(" pill", -1.0)] for _ in beginnings]

    writer = SimpleNamespace(score=lambda texts: np.zeros(len(texts)), continuations=continuations)
    finder = search(
        embed=lambda texts: embed(texts) * [[one == text] for one in texts], writer=writer, drafts=2, fluency=fluency
    )
    (found,) = finder.search(side * embed([text]))
    assert found.text == found.start == text
    assert found.cosine == pytest.approx(side)


def test_rewrites_are_kept_when_they_are_nearer():
    wanted = "Doctor heart study cancer child doctor"

    def generate(prompts, max_new_tokens, temperature, seed):
        return [f"{wanted}\n\nText: more" if i else "Here you are:" for i in range(len(prompts))]

    found = search(generate=generate, edits=0, rewrites=1).search(CENTROIDS[:1])[0]
    assert found.text == wanted
    assert [stage for stage, _ in found.steps] == ["nearest", "pieces", "rewrite"]


def test_private_pools_are_refused():
    class Marked(tuple):
        provenance = SimpleNamespace(public=False)

    class Public(tuple):
        provenance = SimpleNamespace(public=True)

    with pytest.raises(ValueError, match="marked private"):
        search(pool=Marked(POOL))
    assert search(pool=Public(POOL), edits=0).search(CENTROIDS) == search(edits=0).search(CENTROIDS)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"pool": "one text"}, TypeError),
        ({"pool": []}, ValueError),
        ({"pool": ["1 2 3"]}, ValueError),
        ({"near": 0}, ValueError),
        ({"max_words": 1}, ValueError),
        ({"edits": -1}, ValueError),
        ({"batch": 2.0}, TypeError),
        ({"cache": "folder"}, ValueError),
    ],
)
def test_bad_settings_are_refused(change, error):
    with pytest.raises(error):
        search(**change)


@pytest.mark.parametrize("centroids", [CENTROIDS[0], CENTROIDS[:, :-1], np.zeros((1, D)), np.full((1, D), np.nan)])
def test_bad_centroids_are_refused(centroids):
    with pytest.raises(ValueError, match="centroids must"):
        search().search(centroids)


@pytest.mark.parametrize("broken", [lambda v: v * np.nan, lambda v: v[:-1], lambda v: v * 0])
def test_a_broken_encoder_raises(broken):
    with pytest.raises(ValueError, match="embed must give"):
        search(embed=lambda texts: broken(embed(texts))).search(CENTROIDS)
    with pytest.raises(ValueError, match="pool_vectors must give"):
        search(pool_vectors=broken(embed(POOL))).search(CENTROIDS)


def test_no_centroids_give_no_texts():
    assert search().invert(np.empty((0, D))) == []


def test_pieces_are_sentences_cut_to_length():
    assert pieces("One two. Three four five six!", 3) == ["One two.", "Three four five", "six!"]
    assert pieces("One two.\nThree.", 9) == ["One two. Three.", "One two.", "Three."]
    assert pieces("  ", 3) == []


# ---------------------------------------------------------------- paraphrasing
class Scripted:
    """A model that gives the next answer of a list for each prompt, and remembers prompts and seeds."""

    def __init__(self, *answers: str):
        self.answers, self.prompts, self.seeds = list(answers), [], []

    def __call__(self, prompts, max_new_tokens, temperature, seed):
        self.prompts += prompts
        self.seeds.append(seed)
        return [self.answers.pop(0) for _ in prompts]


TEXT = "The clinic lost my results."


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ("", "empty"),
        ("...", "empty"),
        ("the clinic LOST my results", "echo"),
        ("Text: The clinic lost", "echo"),
        ("The bus was an hour late again.", "echo"),
        ("Once more the bus came a full hour after its time", "echo"),
        ("Each text is said again in other words, with the same meaning.", "echo"),
        ("Sure, here is one:", "malformed"),
    ],
)
def test_an_answer_that_is_no_paraphrase_is_asked_again_and_counted(bad, fault):
    model = Scripted(bad, ' "My results went missing." \n\nText: and on')
    out = paraphrase([TEXT], model, seed=4)
    assert out.texts == (("My results went missing.",),)
    assert (out.answers, out.missing) == (2, 0)
    assert {name: count for name, count in out.faults.items() if count} == {fault: 1}
    assert len(set(model.seeds)) == 2


def test_answers_that_stay_bad_are_missing_and_never_used():
    out = paraphrase(
        [TEXT, "We waited."], Scripted("", "We waited!", "", " we waited\nTEXT", "", "We waited."), attempts=3
    )
    assert out.texts == ((), ())
    assert (out.answers, out.missing) == (6, 2)
    assert (out.faults["empty"], out.faults["echo"]) == (3, 3)


def test_paraphrases_of_one_text_differ_and_of_two_may_agree():
    out = paraphrase([TEXT, "Lost!"], Scripted("Gone.", "gone", "Gone.", "They vanished.", "Mislaid."), n=2, attempts=2)
    assert out.texts == (("Gone.", "Mislaid."), ("Gone.", "They vanished."))
    assert out.faults["duplicate"] == 1


def test_only_what_wants_is_asked_again():
    model = Scripted("", "It broke.", "Mislaid.")
    paraphrase([TEXT, "It fell apart."], model)
    assert ["fell apart" in prompt for prompt in model.prompts] == [False, True, False]


@pytest.mark.parametrize("arguments", [{"n": 0}, {"attempts": 0}, {"temperature": 0.0}, {"texts": [" "]}])
def test_bad_arguments_of_paraphrase_are_refused(arguments):
    with pytest.raises(ValueError, match="must"):
        paraphrase(**dict(texts=[TEXT], generate=Scripted()) | arguments)


def test_a_model_that_answers_out_of_turn_raises():
    with pytest.raises(ValueError, match="one text a prompt"):
        paraphrase([TEXT], lambda *_: [])
    with pytest.raises(TypeError, match="must give texts"):
        paraphrase([TEXT], lambda *_: [None])
    with pytest.raises(TypeError, match="sequence of str"):
        paraphrase(TEXT, Scripted())
