"""Assignment and sketch: K-sparse rows, ties to the lower index, clipping, checks that name no private value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from privlib import plans
from privlib.plans.assign import GRID, keep_largest

AUXILIARY = ["dry skin cream", "hair loss shampoo", "fast shipping today", "the pump dispenser broke", "dry skin again"]
UNIVERSE = plans.AtomUniverse(
    ("dry skin", "hair loss", "pump dispenser", "fast shipping"), representation=plans.Tfidf.fit(AUXILIARY)
)


def test_assignment_matches_the_obvious_twin():
    texts = ["dry skin and a pump dispenser", "nothing of the kind", "hair loss, dry skin, fast shipping, pump"]
    found = plans.assign(texts, UNIVERSE, sparsity=2).toarray()
    atoms = UNIVERSE.representation.transform(list(UNIVERSE.labels)).toarray()
    for text, row in zip(texts, found, strict=True):
        scores = [max(0.0, float(UNIVERSE.representation.transform([text]).toarray()[0] @ atom)) for atom in atoms]
        kept = sorted(range(4), key=lambda j: (-scores[j], j))[:2]
        total = sum(scores[j] for j in kept)
        expected = [scores[j] / total if j in kept and total else 0.0 for j in range(4)]
        assert row == pytest.approx(expected, abs=2 * GRID)
    assert found[1].tolist() == [0, 0, 0, 0]


def test_ties_go_to_the_lower_index():
    assert keep_largest(np.array([[0.5, 0.5, 0.5]]), 2).tolist() == [[0.5, 0.5, 0.0]]


def test_assignment_is_fitted_on_auxiliary_text_only():
    """A word of the target alone has no weight, so the target cannot move the map."""
    with_unknown, without = plans.assign(["zebra dry skin", "dry skin"], UNIVERSE).toarray()
    assert with_unknown.tolist() == without.tolist()


def test_worked_example_of_appendix_E5():
    row = keep_largest(np.array([[0.52, 0.0, 0.31, 0.17]]), 3)[0]
    assert row == pytest.approx([0.52, 0, 0.31, 0.17], abs=GRID)
    assert row.sum() <= 1.0


def test_user_sketch_clips_each_user():
    rows = sparse.csr_array([[1.0, 0], [1.0, 0], [0.5, 0.5], [0, 1.0]])
    sketch = plans.user_sketch(rows, ["a", "a", "b", "a"], contribution_bound=1.5)
    assert sketch.masses == pytest.approx([2 / 3 * 1.5 + 0.5, 1 / 3 * 1.5 + 0.5], abs=4 * GRID)
    assert (sketch.unit, sketch.contribution_bound) == ("user", 1.5)


def test_rows_that_break_the_bound_are_refused_without_their_values():
    for bad in ([[0.7, 0.7]], [[-0.5, 0]], [[0.1 + GRID / 2, 0]]):
        with pytest.raises(ValueError, match=r"mass at most 1 on the grid.*shape \(1, 2\)") as caught:
            plans.record_sketch(sparse.csr_array(bad))
        assert "0.7" not in str(caught.value)


def test_empty_target_gives_a_sketch_of_the_same_shape():
    assert plans.sketch([], UNIVERSE).masses.tolist() == [0, 0, 0, 0]


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="sparsity"):
        plans.assign(["x"], UNIVERSE, 0)
    with pytest.raises(ValueError, match="representation"):
        plans.assign(["x"], plans.AtomUniverse(("a",)))
    with pytest.raises(ValueError, match="unit_ids"):
        plans.sketch(["x"], UNIVERSE, unit="user")
    with pytest.raises(ValueError, match="contribution_bound must be 1"):
        plans.sketch(["x"], UNIVERSE, contribution_bound=2.0)
    with pytest.raises(ValueError, match="relation"):
        plans.sensitivity("record", "sideways")
    with pytest.raises(ValueError, match="unit"):
        plans.sensitivity("household", "replace")


def test_a_sketch_shows_and_lets_change_nothing():
    sketch = plans.Sketch(np.array([123.0, 4.0]), "record", 1.0)
    assert "123" not in repr(sketch)
    with pytest.raises(ValueError, match="read-only"):
        sketch.masses[0] = 1.0


@pytest.mark.parametrize("other", ["ann\0", "\0ann", "ann ", "Ann"])
def test_users_with_similar_ids_are_clipped_apart(other):
    """An array of texts would drop trailing NULs, and clip two users as one."""
    rows = sparse.csr_array([[1.0, 0], [1.0, 0]])
    assert plans.user_sketch(rows, ["ann", other], contribution_bound=1.0).masses.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("ids", [["1", 1], [1, 2], [None, "a"], [b"ab", "a"], "ab", {"a": 1, "b": 2}, None])
def test_unit_ids_are_texts_or_refused_by_type(ids):
    with pytest.raises(TypeError, match=r"^unit_ids must be a sequence of str, got "):
        plans.user_sketch(sparse.csr_array([[1.0], [1.0]]), ids, contribution_bound=1.0)


class Table(list):
    """As a data frame: two dimensions, iterating gives the column names."""

    ndim = 2


@pytest.mark.parametrize(
    "texts",
    ["long wait", b"long wait", {"dry skin": 1}, Table(["dry skin"]), {"dry skin"}, np.array([["dry skin"]]), None, 3],
)
def test_what_is_no_sequence_of_texts_is_refused(texts):
    with pytest.raises(TypeError, match=f"^texts must be a sequence of str, got {type(texts).__name__}$"):
        plans.sketch(texts, UNIVERSE)


@pytest.mark.parametrize("record", [float("nan"), None, b"\xffsecret", 7, ["dry skin"]])
def test_a_record_that_is_no_text_is_refused_by_type_only(record):
    with pytest.raises(TypeError) as caught:
        plans.sketch(["dry skin", record], UNIVERSE)
    assert str(caught.value) == f"texts must be a sequence of str, got an entry of type {type(record).__name__}"
