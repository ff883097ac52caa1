from __future__ import annotations

import numpy as np
import pytest

from privlib import assets, models
from privlib.models import local

PROMPTS = ["the patient said", "a", "late delivery and a very long wait for a refund", "tea or coffee"]


@pytest.fixture
def lm(tiny_lm):
    return models.language_model(tiny_lm)


def slow_greedy(lm, prompt, steps):
    import torch

    tokenizer, model = local._load(lm.folder)
    tokens, new = local._prompt_tokens(tokenizer, prompt), []
    for _ in range(steps):
        with torch.no_grad():
            new.append(int(model(torch.tensor([tokens + new])).logits[0, -1].argmax()))
        if new[-1] == tokenizer.eos_token_id:
            break
    return tokenizer.decode(new, skip_special_tokens=True).strip()


def test_record_names_the_model_and_its_weights(lm, tiny_lm):
    assert lm.name == "tiny-llama"
    assert lm.checksum == assets.sha256(tiny_lm / "model.safetensors")


def test_greedy_answers_match_one_prompt_at_a_time_without_padding(lm):
    assert lm.generate(PROMPTS, 12) == [slow_greedy(lm, prompt, 12) for prompt in PROMPTS]


def test_a_drawn_answer_depends_on_seed_and_prompt_and_not_on_company(lm):
    together = lm.generate(PROMPTS * 5, 8, temperature=1.0, seed=4)
    assert together[:4] == [lm.generate([p], 8, temperature=1.0, seed=4)[0] for p in PROMPTS]
    assert together[:4] == lm.generate(PROMPTS[::-1], 8, temperature=1.0, seed=4)[::-1]
    assert len(set(together[::4])) == 5  # equal prompts get draws of their own
    assert together != lm.generate(PROMPTS * 5, 8, temperature=1.0, seed=5)


def test_generation_leaves_global_random_state_alone(lm):
    import torch

    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    lm.generate(PROMPTS, 4, temperature=1.0)
    assert torch.equal(before[0], torch.get_rng_state())
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


def first_word_law(lm, prompt, temperature):
    import torch

    tokenizer, model = local._load(lm.folder)
    with torch.no_grad():
        logits = model(torch.tensor([local._prompt_tokens(tokenizer, prompt)])).logits[0, -1].double()
    law = {}
    for token, p in enumerate((logits / temperature).softmax(0).tolist()):
        word = tokenizer.decode([token], skip_special_tokens=True).strip()
        law[word] = law.get(word, 0.0) + p
    return law


def test_draws_follow_the_model_at_the_temperature_asked(lm):
    """Likelihood-ratio test with the law at 1.6 times the temperature as the control that must fail.

    Under the right law the statistic 2 n KL(counts || law) exceeds its 1 - 1e-6 chi-square quantile
    in about one run of a million (the draw is seeded: this run is fixed).
    """
    from scipy.stats import chi2

    n = 1500
    drawn = lm.generate(["tea or coffee"] * n, 1, temperature=0.7, seed=11)
    words, counts = np.unique(drawn, return_counts=True)

    def statistic(temperature):
        law = first_word_law(lm, "tea or coffee", temperature)
        p = np.array([law[word] for word in words])
        return 2 * float(counts @ np.log(counts / n / p)), len(law) - 1

    right, freedom = statistic(0.7)
    wrong, _ = statistic(0.7 * 1.6)
    limit = chi2.isf(1e-6, freedom)
    assert right < limit < wrong


def test_score_is_the_mean_nll_a_token_and_padding_does_not_move_it(lm):
    import torch

    tokenizer, model = local._load(lm.folder)
    texts = ["the doctor said", "tea", "a new study shows that risk of heart disease falls with more sleep"]
    expected = []
    for text in texts:
        tokens = torch.tensor([[tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False).input_ids]])
        with torch.no_grad():
            law = model(tokens).logits[0, :-1].log_softmax(-1)
        expected.append(-law[range(len(law)), tokens[0, 1:]].mean().item())
    scores = lm.score(texts)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_a_text_that_cannot_be_scored_is_an_error(lm):
    with pytest.raises(ValueError, match="token to score"):
        lm.score(["tea", ""])
    with pytest.raises(ValueError, match="context of 128"):
        lm.score(["tea " * 128])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"max_new_tokens": 128}, "context of 128"),
    ],
)
def test_arguments_out_of_range_are_refused(lm, change, message):
    with pytest.raises(ValueError, match=message):
        lm.generate(["tea"], **change)


def test_nothing_asked_gives_nothing(lm):
    assert lm.generate([], 4) == []
    assert lm.score([]).shape == (0,)
    with pytest.raises(TypeError, match="sequence of str"):
        lm.generate("one prompt", 4)
