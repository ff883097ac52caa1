"""Wrong arguments of quantization: each is refused by its own name, before any private row is read."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from privlib import quantization
from privlib.dp import Simulation
from privlib.quantization import (
    BudgetedQuantization,
    JointQuantization,
    RandomizedQuantization,
    Schema,
    TableBudget,
    Tree,
)

TREE = Tree(0, (-1, 0), (2, 2))
SCHEMA = Schema((("mood", ("bad", "good")), ("topic", ("food", "staff"))))
CORPUS = SimpleNamespace(attributes={"mood": ("bad", "good"), "topic": ("food", "staff")}, texts=("a", "b"))
LABELS = np.array([[0, 1], [1, 0]])
SHARE = SCHEMA.share(mood="bad")
BUDGETS = (TableBudget(4, 2),) * TREE.tables


class Unread:
    """Stands for private rows: reading it fails the test."""

    def __array__(self, *_, **__):
        raise AssertionError("the private rows were read")

    def __getattr__(self, name):
        raise AssertionError("the private rows were read")


def made(kind=RandomizedQuantization, **changes):
    return kind(**dict(tree=TREE, candidates=8, nearest=2, public_seed=1, pool_size=20) | changes)


def budgeted(**changes):
    return BudgetedQuantization(**dict(tree=TREE, budgets=BUDGETS, public_seed=1) | changes)


@pytest.mark.parametrize("kind", [RandomizedQuantization, JointQuantization])
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        (dict(public_seed=None), TypeError, "^public_seed must be an integer, got None"),
        (dict(public_seed="a"), TypeError, "^public_seed must be an integer, got 'a'"),
        (dict(alpha=0), ValueError, "^alpha must be a finite number above 0, got 0"),
        (dict(alpha="1"), TypeError, "^alpha must be a number, got '1'"),
        (dict(candidates="5"), TypeError, "^candidates must be an integer, got '5'"),
        (dict(candidates=5, nearest=9), ValueError, r"^nearest: expected 1..candidates \(5\), got 9"),
        (dict(nearest=0), ValueError, "^nearest must be an integer of at least 1, got 0"),
        (dict(pool_size="20"), TypeError, "^pool_size must be an integer, got '20'"),
        (dict(style="1"), TypeError, "^style must be a number, got '1'"),
        (dict(tree=None), TypeError, "^tree: expected a Tree, .* got NoneType"),
        (dict(tree=SCHEMA), TypeError, "^tree: expected a Tree, .* got Schema"),
    ],
)
def test_a_mechanism_is_refused_when_made(kind, changes, error, message):
    with pytest.raises(error, match=message):
        made(kind, **changes)


@pytest.mark.parametrize("mechanism", [made(), made(JointQuantization), budgeted()], ids=["tables", "joint", "budgets"])
def test_noise_and_rewriter_are_checked_before_private_rows(mechanism):
    with pytest.raises(TypeError, match=r"^noise must be a source, .* got int"):
        mechanism.release(Unread(), 7)
    with pytest.raises(TypeError, match=r"^noise must be a source, .* got the class Simulation"):
        mechanism.release(Unread(), Simulation)
    with pytest.raises(TypeError, match=r"^rewriter: expected an object with .rewrite, such as ideal, got str"):
        mechanism.release(Unread(), Simulation(1), rewriter="gpt")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # a text was taken for a sequence of its letters
        (lambda: Schema((("mood", "ab"),)), TypeError, r"^attributes\['mood'\] must be a sequence of str, got str"),
        (
            lambda: Schema({"mood": ["bad", "good"]}),
            TypeError,
            r"^attributes: expected \(name, categories\) pairs, got {",
        ),
        (lambda: quantization.labelling_attack("abc", SHARE, 0.5), TypeError, "^released must be a sequence of str"),
        (
            lambda: quantization.read_labels("abc", dict.fromkeys(SCHEMA.names), SCHEMA),
            TypeError,
            "^texts must be a seq",
        ),
        (lambda: quantization.WordCounts.learn("ab", LABELS, (2, 2)), TypeError, "^texts must be a sequence of str"),
        (lambda: quantization.PublicOverlap.of("ab"), TypeError, "^public_texts must be a sequence of str, got str"),
        (lambda: quantization.PromptedLabeller(len, "?", "ab"), TypeError, "^categories must be a sequence of str"),
        # other objects
        (lambda: Schema.of(["a"], "mood"), TypeError, "^corpus: expected a labelled corpus with .attributes, got list"),
        (
            lambda: Schema.of(CORPUS, ["mood", "topic"]),
            TypeError,
            "^names must be a sequence of str, got an entry of type l",
        ),
        (
            lambda: quantization.labelling_attack(made().release(LABELS, Simulation(1)), "mood", 0.5),
            TypeError,
            "^secret: expected a Share, .* got str",
        ),
        (lambda: quantization.prior_attack(LABELS, None, 0.5), TypeError, "^secret: expected a Share, .* got NoneType"),
        (
            lambda: quantization.provenance_attack(LABELS, [True, False], "mood", 0.5, LABELS),
            TypeError,
            "^secret: expected a Share, .* got str",
        ),
        (lambda: quantization.splice(CORPUS, TREE), TypeError, "^schema: expected a Schema, got Tree"),
        (lambda: quantization.read_labels(["a"], {}, TREE), TypeError, "^schema: expected a Schema, got Tree"),
        (
            lambda: quantization.LanguageModelRewriter(len, TREE, None, quantization.ideal),
            TypeError,
            "^schema: expected a Schema, got Tree",
        ),
        (lambda: budgeted(budgets=None), TypeError, "^budgets: expected TableBudgets, got None"),
        (lambda: budgeted(tree=None), TypeError, "^tree: expected a Tree, .* got NoneType"),
        (lambda: budgeted(budgets=(4, 2, 2)), TypeError, "^budgets: expected TableBudgets, got "),
        (lambda: quantization.plausible_tables(None, None, 1.0, 3, Simulation(1)), TypeError, "^tree: expected a Tree"),
        (lambda: quantization.best_budgets(SCHEMA, 1.0, [], public_seed=1), TypeError, "^tree: expected a Tree"),
        (
            lambda: quantization.LanguageModelRewriter("gpt", SCHEMA, None, quantization.ideal),
            TypeError,
            "^generate: expected a callable model, got str",
        ),
        # texts where numbers are meant
        (lambda: budgeted(public_seed=None), TypeError, "^public_seed must be an integer, got None"),
        (lambda: TableBudget("4", 2), TypeError, "^candidates must be an integer, got '4'"),
        (lambda: TableBudget(4, 2, "1"), TypeError, "^alpha must be a number, got '1'"),
        (
            lambda: quantization.candidates(3, "4", 9, 1.0, Simulation(1)),
            TypeError,
            "^gamma must be an integer, got '4'",
        ),
        (lambda: quantization.candidates(3, 4, 9, "1", Simulation(1)), TypeError, "^alpha must be a number, got '1'"),
        (lambda: quantization.success_bound("a", 3, 4, 2), TypeError, "^prior must be a number, got 'a'"),
        (lambda: quantization.splice(CORPUS, SCHEMA, fresh_share="half"), TypeError, "^fresh_share must be a number"),
        (lambda: quantization.corrected(quantization.Attack(0.5, 0.5), "a", 0.1), TypeError, "^hits must be a number"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("gold", ["0.123", 2.5, -0.25, float("nan"), None, True])
def test_a_private_share_that_is_none_is_refused_without_its_value(gold):
    released = made().release(LABELS, Simulation(1))
    with pytest.raises(ValueError, match=r"^gold: expected a share in \[0, 1\], got a \w+ that is none$"):
        quantization.labelling_attack(released, SHARE, gold)


def test_private_labels_that_are_texts_are_refused_without_their_length():
    with pytest.raises(ValueError, match=r"^private: .* got texts, shape ") as caught:
        made().release(np.array([["a", "x" * 57]]), Simulation(1))
    assert "57" not in str(caught.value)
