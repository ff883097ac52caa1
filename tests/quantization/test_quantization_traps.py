"""The trap list: mistakes seen in public code of this family. Each is a test, here or where `ELSEWHERE` says."""

from __future__ import annotations

import ast
import inspect
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from privlib import baselines, quantization
from privlib.dp import Secure, Simulation
from privlib.evaluation.text import joint_match
from privlib.quantization.prompting import CLOSE, OPEN, parse_category, parse_message

TESTS = Path(__file__).resolve().parents[1]
ELSEWHERE = {
    "constant public seed for the secret choice": (
        "proofs/test_quantization_leakage.py::test_a_seed_the_attacker_knows_leaks_ln_gamma_whatever_k",
        "quantization/test_quantization_release.py::test_public_seed_fixes_candidates_and_no_choice",
    ),
    "tree and supports taken from the private file": (
        "quantization/test_quantization_tree.py::test_tables_come_from_the_public_lists_not_from_the_rows",
    ),
    "label proportions copied to a DP baseline without paying": (
        "quantization/test_quantization_study.py::test_the_histogram_baseline_pays_for_its_counts",
        "baselines/test_baselines_labelled_pe.py::test_label_counts_are_a_round_of_the_ledger_and_of_the_bill",
        "baselines/test_baselines_labelled_pe.py::test_sizes_follow_the_noisy_counts_and_never_the_private_ones",
    ),
    "metrics of assigned labels": (
        "quantization/test_quantization_release.py::"
        "test_texts_follow_their_rows_and_assigned_labels_are_not_read_as_released",
    ),
    "three times as many rows scored for one method": (
        "evaluation/test_fidelity.py::test_more_rows_for_one_method_are_refused",
        "quantization/test_quantization_text.py::test_utility_scores_equal_sizes_and_reads_labels_from_texts",
        "quantization/test_quantization_release.py::test_released_rows_are_targets_from_chosen_nearest_candidates",
    ),
    "iterations and accounted rounds off by one": (
        "baselines/test_baselines_aug_pe.py::test_iterations_noisy_rounds_and_the_ledger_are_one_number",
        "baselines/test_baselines_aug_pe.py::test_the_deviation_spends_the_budget_of_all_rounds_and_not_more",
        "baselines/test_baselines_fine_tuning.py::test_steps_noisy_sums_and_the_ledger_are_one_number",
        "quantization/test_quantization_rewriting.py::"
        "test_malformed_answers_are_asked_again_with_another_seed_then_counted_and_never_used",
    ),
    "global generator with a fixed seed, the same noise after a resume": (
        "quantization/test_quantization_release.py::test_global_generator_is_neither_used_nor_touched",
        "quantization/test_quantization_release.py::test_one_noise_source_never_gives_the_same_release_twice",
        "baselines/test_baselines_aug_pe.py::test_every_round_has_noise_of_its_own_on_every_place",
        "baselines/test_baselines_fine_tuning.py::test_noise_has_the_bills_size_whatever_the_batch",
    ),
    "attention mask missing under left padding": (
        "models/test_language_model.py::test_greedy_answers_match_one_prompt_at_a_time_without_padding",
        "models/test_finetuning.py::test_a_gradient_does_not_change_with_the_texts_beside_it",
    ),
    "a children order that depends on hash randomisation": (
        "quantization/test_quantization_tree.py::test_children_order_does_not_depend_on_hash_randomisation",
    ),
    "output reused though the input changed": (
        "quantization/test_quantization_release.py::test_output_follows_the_input_of_each_call",
        "models/test_answers.py::test_another_input_is_another_answer",
    ),
}

SCHEMA = quantization.Schema((("topic", ("cats", "dogs")),))
PUBLIC_TEXTS = ("my cat purrs a lot here", "the cats sleep all day", "my dog barks a lot here", "the dogs run all day")


class Corpus:
    def __init__(self, labels, texts):
        self.attributes, self.texts = SCHEMA.decode(np.asarray(labels)[:, None]), tuple(texts)


PUBLIC = Corpus([0, 0, 1, 1], PUBLIC_TEXTS)
TREE = quantization.chow_liu(PUBLIC, SCHEMA)


def mechanism():
    return quantization.RandomizedQuantization(TREE, 12, 6, public_seed=5, pool_size=60)


def by_model(generate, fallback=None):
    extractor = quantization.WordCounts.learn(PUBLIC_TEXTS, np.array([[0], [0], [1], [1]]), SCHEMA.sizes)
    fallback = fallback or quantization.splice(PUBLIC, SCHEMA, fresh_share=1.0)
    return quantization.LanguageModelRewriter(generate, SCHEMA, extractor, fallback)


@pytest.mark.parametrize("node", [node for nodes in ELSEWHERE.values() for node in nodes])
def test_traps_tested_elsewhere_are_tested_there(node):
    path, name = node.split("::")
    defined = {f.name for f in ast.walk(ast.parse((TESTS / path).read_text())) if isinstance(f, ast.FunctionDef)}
    assert name in defined


# ------------------------------------------------------------------------------- secret choice
def test_no_release_has_a_default_source_of_coins_and_system_coins_differ():
    kinds = (quantization.RandomizedQuantization, quantization.JointQuantization, quantization.BudgetedQuantization)
    for kind in kinds:
        assert inspect.signature(kind.release).parameters["noise"].default is inspect.Parameter.empty
    private = Corpus([0, 1] * 50, ["a cat and a dog"] * 100)
    # 12 draws of one of six tables with 100 rows from it each: all alike has probability below 1e-9.
    assert len({mechanism().release(private, Secure()).targets.tobytes() for _ in range(12)}) > 1


def test_nothing_public_moves_with_the_private_rows():
    ours = mechanism()
    before = [candidates.copy() for candidates in ours.candidate_sets]
    for labels in ([0] * 20, [1] * 20):
        ours.release(Corpus(labels, ["x y z"] * 20), Simulation(1))
    assert ours.tree == TREE
    for one, other in zip(before, ours.candidate_sets, strict=True):
        np.testing.assert_array_equal(one, other)


# ------------------------------------------------------------------------------- generators
@dataclass
class Learner:
    """A model of two numbers; every text has the gradient (1, 0)."""

    size: int = 2
    moved: tuple = ()

    def gradients(self, texts):
        return np.tile([1.0, 0.0], (len(texts), 1))

    def step(self, gradient):
        self.moved += (gradient.copy(),)

    def sample(self, count, seed):
        return ["text"] * count


def trained_once(source):
    learner = Learner()
    settings = dict(epsilon=2.0, delta=1e-5, rate=0.5, epochs=2, expected_records=8, samples=1)
    baselines.DPFineTuning(learner=lambda seed: learner, **settings).release(["a text"] * 8, source)
    return np.array(learner.moved)


def test_noise_of_training_ignores_global_generators_and_a_second_run_has_other_noise():
    """Traps: noise from a global generator with a fixed seed; the same noise again after a resume.

    A resumed run goes on with its source, here the second release from it: no number of the first may come again.
    """
    steps = []
    for seed in (0, 1):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002 - the global generator is the point
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        source = Simulation(3)
        steps.append([trained_once(source), trained_once(source)])
        assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    np.testing.assert_array_equal(steps[0], steps[1])
    first, second = steps[0]
    assert not set(first.ravel()) & set(second.ravel())
    assert not set(trained_once(Secure()).ravel()) & set(first.ravel())


# ------------------------------------------------------------------------------- metrics of released texts
def test_a_rewriter_that_does_nothing_is_found_out_by_labels_read_from_its_texts():
    class Copies:
        def rewrite(self, texts, labels, targets, noise):
            self.targets = targets
            return texts

    class Reads:
        def predict(self, texts):
            return ["cats" if "cat" in text else "dogs" for text in texts]

    labels = [0] * 70 + [1] * 30
    private = Corpus(labels, ["my cat purrs" if label == 0 else "my dog barks" for label in labels])
    copies = Copies()
    released = mechanism().release(private, Simulation(1), rewriter=copies)
    read = quantization.read_labels(released.texts, {"topic": Reads()}, SCHEMA)
    truth = SCHEMA.encode(private)
    assert joint_match(truth, read, (2,)) == 1  # nothing was hidden, and reading shows it
    assert joint_match(truth, copies.targets, (2,)) < 0.95  # assigned labels would have said that much was
    assert quantization.faithfulness(read, copies.targets) < 1
    with pytest.raises(ValueError, match="labeller"):
        _ = released.labels


# ------------------------------------------------------------------------------- answers of models
@pytest.mark.parametrize(
    ("answer", "category"),
    [("FAVOR", "FAVOR"), ("favor.", "FAVOR"), ('"Against"', "AGAINST"), (" none \n", "NONE")],
)
def test_an_answer_that_names_a_category_is_that_category(answer, category):
    assert parse_category(answer, ("FAVOR", "AGAINST", "NONE")) == category


@pytest.mark.parametrize(
    "answer",
    ["not FAVOR", "FAVOR or AGAINST", "FAVORABLE", "I am against all", "nothing against it", "", "nan", "A", "FAV"],
)
def test_no_category_is_read_out_of_another_answer(answer):
    assert parse_category(answer, ("FAVOR", "AGAINST", "NONE")) is None


def test_a_labeller_that_answers_nothing_legal_is_an_error_not_a_majority_or_a_coin():
    class Mumbles:
        def predict(self, texts):
            return ["cats"] * (len(texts) - 1) + ["cats, I think"]

    with pytest.raises(ValueError, match="public list") as caught:
        quantization.read_labels(["one", "two"], {"topic": Mumbles()}, SCHEMA)
    assert "I think" not in str(caught.value)
    with pytest.raises(ValueError, match="attacker"):
        quantization.labelling_attack(["one", "two"], SCHEMA.share(topic="cats"), 0.5, Mumbles())


ORIGINAL = "my cat purrs a lot at number 12 Elm Street and nobody else knows"
BROKEN = {
    "no mark": ORIGINAL,
    "no closing mark": f"{OPEN}{ORIGINAL}",
    "no opening mark": f"{ORIGINAL}{CLOSE}",
    "text around": f"Sure, here it is: {OPEN}fine{CLOSE}",
    "text behind": f"{OPEN}fine{CLOSE} I kept {ORIGINAL}",
    "twice": f"{OPEN}one{CLOSE}{OPEN}two{CLOSE}",
    "empty": "",
    "empty message": f"{OPEN}{CLOSE}",
    "blank message": f"{OPEN} \n {CLOSE}",
    "signs alone": f"{OPEN}...{CLOSE}",
    "nan": f"{OPEN}nan{CLOSE}",
    "None": f"{OPEN}None.{CLOSE}",
    "the prompt": f"{OPEN}Labels: topic = dogs Notes: none{CLOSE}",
    "the example": f"{OPEN}It rained and we stayed in, which was lovely.{CLOSE}",
    "a copy": f"{OPEN}{ORIGINAL.upper()}{CLOSE}",
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_answer_never_lets_the_private_text_or_nothing_through(fault):
    """Traps: a missing marker, empty rewrites, "nan", the prompt. What comes out is the fallback's public text."""
    rewriter = by_model(lambda prompts, *_: [BROKEN[fault]] * len(prompts))
    released = rewriter.rewrite((ORIGINAL,), np.array([[0]]), np.array([[1]]), Simulation(2))
    assert released[0] in PUBLIC_TEXTS[2:]
    assert rewriter.report.given_up == 1
    if fault != "a copy":
        assert parse_message(BROKEN[fault]) is None


def test_splice_never_gives_an_empty_text():
    rewriter = quantization.splice(PUBLIC, SCHEMA)
    released = rewriter.rewrite(("", "...", "nan"), np.array([[0], [1], [0]]), np.array([[1], [1], [0]]), Simulation(1))
    for text, target in zip(released, (1, 1, 0), strict=True):
        assert any(public in text for public in PUBLIC_TEXTS[2 * target : 2 * target + 2])
    with pytest.raises(ValueError, match="blank"):
        quantization.splice(Corpus([0, 1], ["my cat purrs", " "]), SCHEMA)


# ------------------------------------------------------------------------------- reuse of output
def test_rewriters_follow_their_input_when_called_again():
    echo = by_model(
        lambda prompts, *_: [f"{OPEN}{prompt[-60:].replace(':', '').split('Notes')[1]}{CLOSE}" for prompt in prompts]
    )
    spliced = quantization.splice(PUBLIC, SCHEMA)
    label = np.array([[0]])
    for rewriter in (echo, spliced):
        made = [rewriter.rewrite((text,), label, label, Simulation(1))[0] for text in ("zzz yyy", "aaa bbb", "zzz yyy")]
        assert made[0] == made[2] != made[1]
