"""Chow-Liu tree, public schema, tables."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlib import quantization
from privlib.dp import Secure, Simulation
from privlib.quantization import tables as tables_module
from privlib.quantization.tables import choose_tables, draw_targets, empirical_tables, nearest_candidates
from privlib.quantization.tree import mutual_information

SCHEMA = quantization.Schema((("topic", ("a", "b", "c")), ("mood", ("bad", "good"))))


class Labelled:
    def __init__(self, **attributes):
        self.attributes = attributes
        self.texts = tuple("text" for _ in next(iter(attributes.values())))


def correlated(n=400, seed=0):
    """Three attributes of sizes 4, 2, 3: the first drives the others."""
    generator = np.random.default_rng(seed)
    first = generator.integers(0, 4, n)
    second = np.where(generator.random(n) < 0.9, first % 2, generator.integers(0, 2, n))
    third = np.where(generator.random(n) < 0.7, first % 3, generator.integers(0, 3, n))
    return np.stack([first, second, third], axis=1)


def spanning_trees(attributes):
    """All labelled trees on few vertices, as sets of edges: the slow, obvious twin's search space."""
    edges = list(itertools.combinations(range(attributes), 2))
    for chosen in itertools.combinations(edges, attributes - 1):
        reached = {0}
        for _ in range(attributes):
            reached |= {v for e in chosen for v in e if set(e) & reached}
        if len(reached) == attributes:
            yield chosen


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_tree_has_the_largest_information_of_all_spanning_trees(seed, attributes):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(2, 5, attributes)
    labels = np.stack([generator.integers(0, size, 30) for size in sizes], axis=1)

    def information(edges):
        return sum(mutual_information(labels[:, i], labels[:, j], sizes[i], sizes[j]) for i, j in edges)

    tree = quantization.chow_liu(labels, sizes)
    mine = [(i, p) for i, p in enumerate(tree.parent) if p >= 0]
    assert information(mine) == pytest.approx(max(map(information, spanning_trees(attributes))), abs=1e-9)


def test_known_mutual_information():
    x = np.array([0, 0, 1, 1])
    assert mutual_information(x, x, 2, 2) == pytest.approx(math.log(2))
    assert mutual_information(x, np.array([0, 1, 0, 1]), 2, 2) == 0


@pytest.mark.parametrize("labels", [np.zeros((5, 4), int), np.array(list(itertools.product([0, 1], repeat=4)))])
def test_pairs_without_information_still_make_one_tree(labels):
    """Independent or constant attributes: every weight is zero, which csgraph reads as no edge."""
    tree = quantization.chow_liu(labels, [2, 2, 2, 2])
    assert sorted(tree.order) == [0, 1, 2, 3]
    assert tree.parent == (-1, 0, 0, 0)  # ties by index


def test_cheapest_root_and_named_ones():
    labels = correlated()
    cheapest = quantization.chow_liu(labels, [4, 2, 3])
    paper = quantization.chow_liu(labels, [4, 2, 3], root=quantization.HIGHEST_DEGREE)
    assert paper.root == 0
    assert paper.parent == (-1, 0, 0)
    assert paper.tables == 9
    assert (cheapest.root, cheapest.parent, cheapest.tables) == (1, (1, -1, 0), 7)
    assert quantization.chow_liu(labels, [4, 2, 3], root=2).tables == 8
    with pytest.raises(ValueError, match="root"):
        quantization.chow_liu(labels, [4, 2, 3], root=3)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_no_root_is_cheaper_and_rerooting_leaves_the_model(seed):
    generator = np.random.default_rng(seed)
    sizes = [2, 3, 2, 4]
    labels = np.stack([generator.integers(0, size, 40) for size in sizes], axis=1)
    cells = np.array(list(itertools.product(*map(range, sizes))))
    models, costs = [], []
    for root in range(4):
        tree = quantization.chow_liu(labels, sizes, root=root)
        found = dict(zip(tree.components, empirical_tables(labels, tree), strict=True))
        seen = [tuple(np.unique(labels[:, i])) for i in range(4)]
        inside = np.array([all(cell[i] in seen[i] for i in range(4)) for cell in cells])
        law = np.array(
            [
                math.prod(found[i, -1 if p < 0 else cell[p]][cell[i]] for i, p in enumerate(tree.parent))
                for cell in cells[inside]
            ]
        )
        models.append(law)
        costs.append(tree.tables)
    for law in models[1:]:
        np.testing.assert_allclose(law, models[0], atol=1e-12)
    assert quantization.chow_liu(labels, sizes).tables == min(costs)


@given(st.integers(2, 9))
def test_one_attribute_is_one_node_and_one_table(size):
    tree = quantization.chow_liu(np.zeros((3, 1), int), [size])
    assert (tree.root, tree.parent, tree.tables) == (0, (-1,), 1)
    assert tree.components == ((0, -1),)


def test_tables_come_from_the_public_lists_not_from_the_rows():
    """Trap: supports taken from the private file. A category nobody shows keeps its table and its place."""
    tree = quantization.chow_liu(correlated(), [4, 2, 3], root=0)
    few = np.array([[1, 0, 0], [1, 1, 2]])
    shapes = [table.shape for table in empirical_tables(few, tree)]
    assert shapes == [table.shape for table in empirical_tables(correlated(), tree)]
    assert len(shapes) == tree.tables == 1 + 4 + 4
    found = dict(zip(tree.components, empirical_tables(few, tree), strict=True))
    np.testing.assert_array_equal(found[0, -1], [0, 1, 0, 0])
    np.testing.assert_array_equal(found[2, 1], [0.5, 0, 0.5])
    np.testing.assert_array_equal(found[2, 3], np.full(3, 1 / 3))  # empty parent value: uniform


def test_children_order_does_not_depend_on_hash_randomisation():
    program = (
        "import numpy as np\nfrom privlib import quantization as q\nfrom privlib.dp import Simulation\n"
        "labels = np.random.default_rng(3).integers(0, 2, (60, 5))\n"
        "tree = q.chow_liu(labels, [2] * 5)\n"
        "m = q.RandomizedQuantization(tree, 6, 2, public_seed=1, pool_size=20)\n"
        "print(tree.components, m.release(labels, Simulation(2)).targets.tolist())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1")
    }  # fmt: skip
    assert len(printed) == 1


def greedy_twin(pool, gamma):
    """Algorithm 2 as written: every step compares each vector with every one taken."""
    taken = [0]
    while len(taken) < gamma:
        rest = [i for i in range(len(pool)) if i not in taken]
        taken.append(max(rest, key=lambda i: (min(0.5 * abs(pool[i] - pool[j]).sum() for j in taken), -i)))
    return pool[taken]


@pytest.mark.parametrize(("support", "alpha"), [(2, 1.0), (3, 0.3), (5, 4.0)])
def test_candidates_equal_the_slow_twin(support, alpha):
    pool = Simulation(4).generator.dirichlet([alpha] * support, size=40)
    mine = quantization.candidates(support, 12, 40, alpha, Simulation(4))
    np.testing.assert_array_equal(mine, greedy_twin(pool, 12))
    np.testing.assert_allclose(mine.sum(axis=1), 1)


def test_candidates_cost_gamma_times_pool_distances(monkeypatch):
    computed = []

    def counting(rows, table):
        computed.append(len(rows))
        return 0.5 * np.abs(rows - table).sum(axis=1)

    monkeypatch.setattr(tables_module, "total_variation", counting)
    quantization.candidates(3, 30, 100, 1.0, Simulation(0))
    assert sum(computed) == 30 * 100  # Algorithm 2 as written: 100 * (1 + ... + 29), 43,500


@pytest.mark.parametrize("change", [dict(support_size=1), dict(gamma=0), dict(gamma=21), dict(alpha=0.0)])
def test_candidates_refuse(change):
    arguments = dict(support_size=3, gamma=5, pool_size=20, alpha=1.0) | change
    with pytest.raises(ValueError, match=next(iter(change))):
        quantization.candidates(**arguments, noise=Simulation(1))


class Scripted:
    """A noise source that answers each `integers` with the next of a list."""

    def __init__(self, answers):
        self.answers = list(answers)

    def integers(self, high, size=None):
        assert size is None
        return self.answers.pop(0)


def test_choice_is_uniform_among_the_k_nearest_with_a_draw_for_each_table():
    """Exact probabilities: the k equally likely answers give the k nearest candidates, each once."""
    sets = [quantization.candidates(3, 9, 50, 1.0, Simulation(seed)) for seed in (1, 2)]
    tables = [np.array([0.2, 0.5, 0.3]), np.array([0.0, 0.1, 0.9])]
    seen = set()
    for answers in itertools.product(range(4), repeat=2):
        chosen = choose_tables(tables, sets, 4, Scripted(answers))
        seen.add(tuple(int(np.flatnonzero((s == c).all(axis=1))[0]) for s, c in zip(sets, chosen, strict=True)))
    twins = [sorted(range(9), key=lambda i: (abs(s[i] - t).sum(), i))[:4] for s, t in zip(sets, tables, strict=True)]
    assert seen == set(itertools.product(*twins))
    assert len(seen) == 16  # one draw shared by both tables would give 4


def test_nearest_breaks_ties_by_index():
    same = np.array([[0.5, 0.5], [0.25, 0.75], [0.75, 0.25], [0.5, 0.5]])
    assert nearest_candidates(same, np.array([0.5, 0.5]), 3).tolist() == [0, 3, 1]


def test_targets_follow_the_tree():
    """Frequencies over 40,000 rows against the exact law: 6 sd a cell, false alarm below 1e-7."""
    tree = quantization.chow_liu(correlated(), [4, 2, 3])
    tables = [np.random.default_rng(i).dirichlet(np.ones(tree.sizes[a])) for i, (a, _) in enumerate(tree.components)]
    found = dict(zip(tree.components, tables, strict=True))
    targets = draw_targets(40_000, tables, tree, Simulation(8))
    for cell in itertools.product(range(4), range(2), range(3)):
        p = math.prod(found[i, -1 if q < 0 else cell[q]][cell[i]] for i, q in enumerate(tree.parent))
        share = (targets == cell).all(axis=1).mean()
        assert abs(share - p) <= 6 * math.sqrt(p * (1 - p) / 40_000) + 1e-12


def test_schema_and_secrets():
    corpus = Labelled(topic=("c", "a", "a"), mood=("bad", "good", "bad"))
    labels = SCHEMA.encode(corpus)
    assert labels.tolist() == [[2, 0], [0, 1], [0, 0]]
    assert SCHEMA.decode(labels) == corpus.attributes
    assert SCHEMA.share(topic="a")(labels) == pytest.approx(2 / 3)
    assert SCHEMA.share(topic="a", mood="bad")(labels) == pytest.approx(1 / 3)
    assert quantization.Schema.of(corpus, "mood").attributes == (("mood", ("bad", "good")),)
    assert quantization.chow_liu(corpus, SCHEMA).schema == SCHEMA


def test_errors_name_the_argument_and_no_private_value():
    with pytest.raises(ValueError, match="public list") as caught:
        SCHEMA.encode(Labelled(topic=("a", "tell-tale"), mood=("bad", "bad")))
    assert "tell-tale" not in str(caught.value)
    with pytest.raises(ValueError, match="mood"):
        SCHEMA.encode(Labelled(topic=("a",)))
    with pytest.raises(ValueError, match="conditions"):
        SCHEMA.share(topic="z")
    with pytest.raises(ValueError, match="conditions"):
        SCHEMA.share()
    with pytest.raises(ValueError, match="attributes"):
        quantization.Schema((("topic", ("a",)),))
    for labels in (np.array([[0, 7]]), np.array([[0.0, 1.0]]), np.array([0, 1]), np.array([[-1, 0]])):
        with pytest.raises(ValueError, match="labels"):
            quantization.chow_liu(labels, [2, 2])


@pytest.mark.parametrize(
    ("root", "parent", "sizes", "named"),
    [
        (0, (-1, 0), (2,), "sizes"),
        (0, (-1, 0), (2, 2, 2), "sizes"),
        (0, (-1, 2, 1), (2, 2, 2), "parent"),
        (0, (-1, -1), (2, 2), "parent"),
        (0, (-1, 7), (2, 2), "parent"),
        (1, (-1, 0), (2, 2), "root"),
        (-1, (-1, 0), (2, 2), "root"),
        (0, (), (), "root"),
    ],
)
def test_a_tree_that_is_none_is_refused_when_made(root, parent, sizes, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        quantization.Tree(root, parent, sizes)


def test_a_share_of_nothing_is_refused():
    with pytest.raises(ValueError, match="conditions"):
        quantization.Share(())


@pytest.mark.parametrize("wrong", [math.nan, 2.5, "2", True])
def test_numbers_of_tables_candidates_and_rows_are_whole(wrong):
    for call in (
        lambda: quantization.sml_bound(wrong, 4, 2),
        lambda: quantization.sml_bound(3, wrong, 1),
        lambda: quantization.sml_bound(3, 4, wrong),
        lambda: quantization.secret_ceiling(wrong),
    ):
        with pytest.raises(TypeError, match="must be an integer"):
            call()


@pytest.mark.parametrize("row", [(math.nan, 1.0), (-0.5, 1.5), (0.5, 0.6), (math.inf, 0.0)])
def test_exact_leakage_wants_candidates_that_are_laws(row):
    with pytest.raises(ValueError, match="candidates"):
        quantization.exact_sml(np.array([row, (0.5, 0.5)]), 1, 0, 3)


def test_candidates_are_drawn_from_a_public_seed_only():
    with pytest.raises(TypeError, match=r"noise: .*Secure"):
        quantization.candidates(3, 2, 5, 1.0, Secure())
