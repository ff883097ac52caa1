"""Randomized quantization: the release of a dataset that hides shares of its attributes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from privlib.dp import Simulation, checks

from .leakage import MaximalLeakage
from .matching import match
from .rewriting import Rewriter, ideal
from .tables import candidates, choose_tables, draw_targets, empirical_tables
from .tree import Tree, checked_labels, checked_tree

SECRET_CHOICE = "secret choice"  # the draws among the k nearest are fresh and unknown to the attacker


@dataclass(frozen=True)
class Released:
    """What is published, row by row in the order in which the targets were drawn (never the private order).

    Args:
        targets: int64[n, a], assigned combination of each row.
        texts: rewritten texts, one a row; None from `ideal`, which stands for perfect rewriting.
        tables: chosen tables; the targets are draws from them, and the bound covers both.
        guarantee: with the number of rows, and the noise source's own assumptions.
    """

    targets: np.ndarray
    texts: tuple[str, ...] | None
    tables: tuple[np.ndarray, ...]
    guarantee: MaximalLeakage

    @property
    def labels(self) -> np.ndarray:
        """What a reader of the release reads: the targets where rewriting is ideal.

        Raises ValueError where there are texts: their labels must be read from them, since a metric
        of the assigned labels would hide every failure of the rewriter.
        """
        if self.texts is not None:
            raise ValueError("labels: released texts are to be labelled by an independent labeller")
        return self.targets


@dataclass(frozen=True)
class RandomizedQuantization:
    """Release a dataset whose joint attribute distribution is drawn among public candidates near the private one.

    Released: n rows on n target combinations, drawn from one of the k nearest candidates of each
    table of the tree. Neighbouring relation: none; every private dataset of n rows against every
    other. Guarantee: SML about any share of attribute categories <= E ln(gamma/k) + ln(style), with E
    the number of tables, under the named assumptions. It is no differential privacy: a single text
    may be released as it is. Source: QuanText Algorithm 1, Theorem IV.3.

    Args:
        tree: of auxiliary data, with public category lists.
        candidates: gamma, candidate distributions a table.
        nearest: k, 1 <= k <= gamma.
        public_seed: of the candidates, which are public; never of a choice.
        alpha, pool_size: of the candidates' Dirichlet pool, see `candidates`.
        style: l, assumed dependence of style on content for the whole dataset; 1 is independence.
    """

    tree: Tree
    candidates: int = 120
    nearest: int = 30
    public_seed: int = field(kw_only=True)
    alpha: float = 1.0
    pool_size: int = 1200
    style: float = 1.0

    def __post_init__(self) -> None:
        check_choice(self.tree, self.candidates, self.nearest, self.public_seed, self.alpha, self.pool_size)
        _ = self.guarantee.bound  # refuses an impossible style before any private row is seen

    @property
    def guarantee(self) -> MaximalLeakage:
        """For secret choices and ideal rewriting; the number of rows is added by the release."""
        return stated(self.tree.tables, self.candidates, self.nearest, self.style)

    @cached_property
    def candidate_sets(self) -> tuple[np.ndarray, ...]:
        """Public candidates, one float[gamma, s] a table, each from a stream of its own."""
        public = Simulation(self.public_seed)
        return tuple(
            candidates(
                self.tree.sizes[attribute], self.candidates, self.pool_size, self.alpha, public.child("candidates")
            )
            for attribute, _ in self.tree.components
        )

    def release(self, private, noise, rewriter: Rewriter = ideal) -> Released:
        """Draw tables, draw targets, match, rewrite.

        Args:
            private: category indices int[n, a], n >= 1 (n is public), or, with a tree that has a
                schema, a labelled corpus (`.attributes`, `.texts`).
            noise: source of all secret draws; a `Simulation` gives a figure, not a release.
            rewriter: `ideal` (labels only) or one that needs texts.
        """
        check_means(noise, rewriter)
        labels, texts = private_rows(private, self.tree)
        tables = choose_tables(
            empirical_tables(labels, self.tree), self.candidate_sets, self.nearest, noise.child("choice")
        )
        return released_rows(labels, texts, tables, self.tree, self.guarantee, noise, rewriter)


def check_choice(tree: Tree, candidates: int, nearest: int, public_seed: int, alpha: float, pool_size: int) -> None:
    """TypeError or ValueError unless so many candidates can be drawn and chosen among, before any private row is seen.

    `alpha` is checked as the candidates' concentration; all are named as `RandomizedQuantization` names them.
    """
    checked_tree(tree)
    checks.whole("candidates", candidates)
    if checks.whole("nearest", nearest) > candidates:
        raise ValueError(f"nearest: expected 1..candidates ({candidates}), got {nearest}")
    checks.whole("public_seed", public_seed, at_least=0)
    checks.positive("alpha", alpha)
    if candidates > checks.whole("pool_size", pool_size):
        raise ValueError(f"candidates: expected at most pool_size ({pool_size}), got {candidates}")


def check_means(noise, rewriter: Rewriter) -> None:
    """TypeError unless a release has a noise source and a rewriter, before any private row is read."""
    checks.noise_source("noise", noise)
    if isinstance(rewriter, type) or not callable(getattr(rewriter, "rewrite", None)):
        raise TypeError(f"rewriter: expected an object with .rewrite, such as ideal, got {type(rewriter).__name__}")


def stated(tables: int, gamma: int, k: int, style: float) -> MaximalLeakage:
    """Guarantee of a choice of `tables` tables, each among k of gamma, with the assumptions it rests on."""
    checks.positive("style", style)
    independence = "independent style" if style == 1 else "style ratio"
    return MaximalLeakage(tables, gamma, k, style, assumptions=(SECRET_CHOICE, "ideal rewriting", independence))


def private_rows(private, tree: Tree) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Checked labels int64[n, a], n >= 1, and the texts where a labelled corpus was given."""
    texts = None
    if tree.schema is not None and hasattr(private, "attributes"):
        private, texts = tree.schema.encode(private), tuple(private.texts)
    labels = checked_labels(private, tree.sizes, "private")
    if len(labels) == 0:
        raise ValueError("private: expected at least one row, got none")
    return labels, texts


def released_rows(
    labels: np.ndarray,
    texts: tuple[str, ...] | None,
    tables: tuple[np.ndarray, ...],
    tree: Tree,
    guarantee: MaximalLeakage,
    noise,
    rewriter: Rewriter,
) -> Released:
    """What follows the choice: draw targets, match, rewrite; rows in the order in which targets were drawn."""
    targets = draw_targets(len(labels), tables, tree, noise.child("targets"))
    # Rows of one combination are matched in the order given, so that order is made a secret coin too.
    shuffled = noise.child("order").permutation(len(labels))
    source = np.empty(len(labels), dtype=np.int64)
    source[match(labels[shuffled], targets)] = shuffled
    rewritten = rewriter.rewrite(
        None if texts is None else tuple(texts[row] for row in source),
        labels[source],
        targets,
        noise.child("rewriting"),
    )
    assumptions = guarantee.assumptions
    if not_covered := getattr(rewriter, "not_covered", ""):
        assumptions = (*assumptions, not_covered)
    if noise.kind != "secure":
        assumptions = (*assumptions, f"{noise.kind}: whoever knows its seed knows the choice")
    return Released(targets, rewritten, tables, replace(guarantee, rows=len(labels), assumptions=assumptions))
