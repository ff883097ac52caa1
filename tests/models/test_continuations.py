"""How models go on: the real one against a slow twin that reads everything anew, and the model of word pairs."""

from __future__ import annotations

import numpy as np
import pytest

from privlib import models
from privlib.models import local

PROMPT = "the patient said that a new study"
BEGINNINGS = ["", " shows", " shows risk", " long wait", " late"]


@pytest.fixture
def lm(tiny_lm):
    return models.language_model(tiny_lm)


def slow_twin(lm, prompt, beginning, count):
    import torch

    tokenizer, model = local._load(lm.folder)
    tokens = [token for part in (prompt, beginning) for token in tokenizer(part, add_special_tokens=False).input_ids]
    with torch.no_grad():
        logits = model(torch.tensor([tokens])).logits[0, -1].double()
    logits[tokenizer.all_special_ids] = -torch.inf
    chances = torch.log_softmax(logits, 0)
    order = torch.argsort(-chances)[:count].tolist()
    return [(tokenizer.decode([token]), float(chances[token])) for token in order]


def test_the_kept_prompt_changes_nothing(lm):
    for count in (1, 7):
        found = lm.continuations(PROMPT, BEGINNINGS, count)
        for beginning, pieces in zip(BEGINNINGS, found, strict=True):
            expected = slow_twin(lm, PROMPT, beginning, count)
            assert [piece for piece, _ in pieces] == [piece for piece, _ in expected]
            np.testing.assert_allclose([c for _, c in pieces], [c for _, c in expected], atol=1e-4)


def test_company_and_other_prompts_change_nothing(lm):
    alone = [lm.continuations(PROMPT, [beginning], 3)[0] for beginning in BEGINNINGS]
    lm.continuations("tea or coffee", BEGINNINGS, 3)
    for one, other in zip(alone, lm.continuations(PROMPT, BEGINNINGS, 3), strict=True):
        assert [piece for piece, _ in one] == [piece for piece, _ in other]
    assert lm.continuations("tea or coffee", [""], 3) != lm.continuations(PROMPT, [""], 3)


def test_wrong_arguments_are_refused(lm):
    with pytest.raises(ValueError, match="count"):
        lm.continuations(PROMPT, [""], 0)
    with pytest.raises(ValueError, match="prompt"):
        lm.continuations("", [""], 1)
    with pytest.raises(TypeError):
        lm.continuations(PROMPT, "one text", 1)


# ------------------------------------------------------------------------------------------ word pairs
PAIRS = models.BigramModel(["the old bus was late", "the old bus was full", "the bread was fresh"])


def test_pairs_go_on_as_the_texts_did():
    after_bus, start = PAIRS.continuations("any prompt", ["the old bus", ""], 2)
    assert after_bus[0][0] == " was"
    assert start[0][0] == " the"
    assert after_bus[0][1] > after_bus[1][1]


def test_chances_of_pairs_add_up_to_one():
    words = [*PAIRS._words]
    for first in ("bus", "unheard", ""):
        assert sum(PAIRS._chance(first, second) for second in words) == pytest.approx(1.0)


def test_the_order_of_words_decides_how_likely_a_text_is():
    said, mixed = PAIRS.score(["the old bus was late", "late old was bus the"])
    assert said < mixed - 0.3


def test_pairs_complete_by_seed_and_greedily():
    assert PAIRS.complete(["a bus"], 3) == PAIRS.complete(["a bus"], 3)
    drawn = {PAIRS.complete(["a bus"], 8, temperature=2.0, seed=seed)[0] for seed in range(5)}
    assert len(drawn) > 1
    assert PAIRS.complete(["a bus"], 1)[0] == "was"


def test_texts_without_words_make_no_model():
    with pytest.raises(ValueError, match="texts"):
        models.BigramModel(["...", ""])
