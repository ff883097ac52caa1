"""Grids of the quantization figures: public codebooks, attack error against utility, bounds, exact leakage.

All but `attackers` is at label level: rewriting is ideal, the attacker reads each released label exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Guarantee, LaplaceMechanism, Simulation
from privlib.evaluation.text import attribute_match, joint_match
from privlib.quantization import RandomizedQuantization, Schema, Share, Tree

if TYPE_CHECKING:
    import pandas as pd

PAPER_SIZES = (5, 3, 3)  # Target, Stance, Sentiment of the paper's tweets; Target is the parent of both
METHODS = ("quantization", "noisy histogram", "raw", "half", "auxiliary")


@dataclass(frozen=True)
class Codebook:
    """What is public of a corpus before its rows are read: category lists, secrets, the name figures use."""

    schema: Schema
    secrets: tuple[Share, ...]


def codebook(corpus: str) -> Codebook:
    """Public lists and secrets of a corpus by name; ValueError for a corpus without a codebook."""
    if corpus == "drug-reviews":
        conditions = (
            "contraception and women's health", "infections and airways", "mental health", "other or not stated",
            "pain and nerves", "skin and hair", "sleep and dependence", "weight, diabetes and heart",
        )  # fmt: skip
        schema = Schema((("condition", conditions), ("rating", ("negative", "neutral", "positive"))))
        secrets = (
            schema.share(condition="mental health"),
            schema.share(condition="contraception and women's health"),
            schema.share(rating="negative"),
            schema.share(condition="mental health", rating="negative"),
        )
    elif corpus == "stance":
        targets = (
            "Atheism", "Climate Change is a Real Concern", "Donald Trump", "Feminist Movement", "Hillary Clinton",
            "Legalization of Abortion",
        )  # fmt: skip
        schema = Schema(
            (
                ("target", targets),
                ("stance", ("AGAINST", "FAVOR", "NONE")),
                ("sentiment", ("NEGATIVE", "NEITHER", "POSITIVE")),
            )
        )
        secrets = (
            schema.share(target="Legalization of Abortion"),
            schema.share(stance="FAVOR"),
            schema.share(sentiment="NEGATIVE"),
            schema.share(stance="FAVOR", target="Legalization of Abortion"),
        )
    else:
        raise ValueError(f"corpus: expected 'drug-reviews' or 'stance', got {corpus!r}")
    return Codebook(schema, secrets)


def nearest_for(gamma: int, dilution: int) -> int:
    """k with gamma / k = dilution; ValueError where it is not a whole number."""
    if gamma % dilution:
        raise ValueError(f"dilution: expected a divisor of gamma ({gamma}), got {dilution}")
    return gamma // dilution


def tradeoff(
    private: np.ndarray,
    auxiliary: np.ndarray,
    tree: Tree,
    secrets: Sequence[Share],
    *,
    gamma: int,
    dilutions: Sequence[int],
    epsilons: Sequence[float],
    draws: int,
    public_seed: int,
    seed: int,
) -> pd.DataFrame:
    """Attack error and utility of every method, over `draws` releases with fresh randomness each.

    Methods: `quantization` (strength gamma/k); `noisy histogram` (strength epsilon): rows drawn from a
    differentially private histogram of label combinations, the kindest reading of a DP release at
    label level, its counts paid for; `raw`; `half` (a random half of the rows); `auxiliary` (the public
    rows instead of the private ones: its error is that of an attacker who does not look). The last
    three have strength 0.

    Args:
        private, auxiliary: category indices int[n, a].
        draws: releases of each random method, >= 2.

    Returns:
        One row a (method, strength, secret): gold; mean, sd, low, high of the attack error (low and
        high are the 5 % and 95 % quantiles over draws); joint and marginal, the mean utilities (see
        `privlib.evaluation.text`), with joint_sd; draws.
    """
    import pandas as pd

    if draws < 2:
        raise ValueError(f"draws: expected at least 2, got {draws}")
    source = Simulation(seed)
    releases = {("raw", 0.0): iter([private]), ("auxiliary", 0.0): iter([auxiliary])}
    releases["half", 0.0] = (
        private[source.child("half").permutation(len(private))[: len(private) // 2]] for _ in range(draws)
    )
    for dilution in dilutions:
        mechanism = RandomizedQuantization(tree, gamma, nearest_for(gamma, dilution), public_seed=public_seed)
        releases["quantization", float(dilution)] = _quantized(private, mechanism, source, draws)
    for epsilon in epsilons:
        releases["noisy histogram", float(epsilon)] = _noisy(private, tree.sizes, epsilon, source, draws)
    rows = []
    for (method, strength), released in sorted(releases.items(), key=lambda item: (METHODS.index(item[0][0]), item[0])):
        drawn = list(released)
        joint = np.array([joint_match(private, labels, tree.sizes) for labels in drawn])
        marginal = np.array([attribute_match(private, labels, tree.sizes) for labels in drawn])
        for secret in secrets:
            gold = secret(private)
            errors = np.array([abs(secret(labels) - gold) for labels in drawn])
            rows.append(
                dict(method=method, strength=strength, secret=secret.name, gold=gold)
                | _spread(errors)
                | dict(joint=float(joint.mean()), joint_sd=_sd(joint), marginal=float(marginal.mean()))
                | dict(draws=len(drawn))
            )
    return pd.DataFrame(rows)


def attackers(auxiliary, target, book: Codebook, labellers: dict, seed: int) -> pd.DataFrame:
    """Text level, no mechanism: how well labellers trained on public texts read shares off raw texts.

    Each is trained on one half of the auxiliary texts and scored on the other. One that is no more often
    right there than the constant answer is dropped: no attack is made with it.

    Args:
        auxiliary, target: labelled corpora, disjoint.
        labellers: untrained families by name, with `fit(texts, labels)` giving `confusion` and `predict`.
        seed: of the split of the auxiliary rows; another than the one that split them off, which would not cut again.

    Returns:
        secret, attacker, quantity, value; quantities: accuracy, constant (accuracy of the constant answer),
        and for attackers kept: error, corrected error. Attacker "prior" has the error of not looking.
    """
    import pandas as pd

    halves = auxiliary.split(seed=seed)
    rows = []

    def says(corpus) -> np.ndarray:
        return np.where(secret.holds(book.schema.encode(corpus)), "yes", "no")

    for secret in book.secrets:
        gold = secret(book.schema.encode(target))
        guess = quantization.prior_attack(book.schema.encode(auxiliary), secret, gold)
        rows.append((secret.name, "prior", "error", guess.error))
        for name, family in labellers.items():
            fitted = family.fit(halves.auxiliary.texts, says(halves.auxiliary))
            (wells, false_alarms), (misses, hits) = fitted.confusion(halves.target.texts, says(halves.target))
            total = wells + false_alarms + misses + hits
            accuracy, constant = (wells + hits) / total, max(wells + false_alarms, misses + hits) / total
            rows += [(secret.name, name, "accuracy", accuracy), (secret.name, name, "constant", constant)]
            if accuracy > constant:
                attack = quantization.labelling_attack(target.texts, secret, gold, fitted)
                undone = quantization.corrected(attack, hits / (hits + misses), false_alarms / (wells + false_alarms))
                rows.append((secret.name, name, "error", attack.error))
                rows.append((secret.name, name, "corrected error", undone.error))
    return pd.DataFrame(rows, columns=["secret", "attacker", "quantity", "value"]).astype({"value": float})


def trends(rows: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation of gamma/k with mean attack error and with joint utility, one row a secret.

    Args:
        rows: from `tradeoff`.

    Returns:
        secret, error_rank_correlation (the paper says negative), utility_rank_correlation (positive),
        relative_spread (median over gamma/k of sd / mean of the error), prior (error without looking).
    """
    import pandas as pd
    from scipy.stats import spearmanr

    made = []
    for secret, part in rows[rows["method"] == "quantization"].groupby("secret", sort=False):
        blind = rows[(rows["method"] == "auxiliary") & (rows["secret"] == secret)]["mean"].iloc[0]
        made.append(
            dict(
                secret=secret,
                error_rank_correlation=float(spearmanr(part["strength"], part["mean"]).statistic),
                utility_rank_correlation=float(spearmanr(part["strength"], part["joint"]).statistic),
                relative_spread=float((part["sd"] / part["mean"]).median()),
                prior=float(blind),
            )
        )
    return pd.DataFrame(made)


def histogram_guarantee(sizes: Sequence[int], epsilon: float) -> Guarantee:
    """What the `noisy histogram` baseline pays: one Laplace vector of counts, add/drop of one row."""
    return _histogram(math.prod(sizes), epsilon).guarantee


def bounds(trees: dict[str, tuple[Tree, int]], dilutions: Sequence[int]) -> pd.DataFrame:
    """The bound of Theorem IV.3 (style ratio 1) beside ln(n + 1), for named (tree, rows) settings.

    Returns:
        setting, tables, rows, dilution, bound, ceiling (nats), vacuous.
    """
    import pandas as pd

    made = []
    for name, (tree, rows) in trees.items():
        for dilution in dilutions:
            bound, ceiling = quantization.sml_bound(tree.tables, dilution, 1), quantization.secret_ceiling(rows)
            made.append(
                dict(setting=name, tables=tree.tables, rows=rows, dilution=dilution)
                | dict(bound=bound, ceiling=ceiling, vacuous=bound >= ceiling)
            )
    return pd.DataFrame(made)


def single_attribute(size: int) -> Tree:
    """The tree of one attribute: one node, one table."""
    return Tree(0, (-1,), (size,))


def paper_tree() -> Tree:
    """The paper's tree on its tweets: Target (5 values) is the parent of Stance and of Sentiment."""
    return Tree(0, (-1, 0, 0), PAPER_SIZES)


def exact_leakage(gamma: int, nearest: Sequence[int], rows: int, public_seed: int) -> pd.DataFrame:
    """Exact SML of one table of two categories, by enumeration, with the draw kept secret and with its seed known.

    Returns:
        dilution, bound, secret, seeded (nats), everything (ln gamma).
    """
    import pandas as pd

    table = quantization.candidates(2, gamma, 10 * gamma, 1.0, Simulation(public_seed))
    return pd.DataFrame(
        [
            dict(
                dilution=gamma / k,
                bound=quantization.sml_bound(1, gamma, k),
                secret=quantization.exact_sml(table, k, 0, rows),
                seeded=quantization.exact_sml(table, k, 0, rows, seeded=True),
                everything=math.log(gamma),
            )
            for k in nearest
        ]
    )


def _quantized(private, mechanism: RandomizedQuantization, source: Simulation, draws: int) -> Iterator[np.ndarray]:
    for _ in range(draws):
        yield mechanism.release(private, source.child(f"k={mechanism.nearest}")).labels


def _histogram(cells: int, epsilon: float) -> LaplaceMechanism:
    return LaplaceMechanism(epsilon, 1.0, cells, unit="record", relation="add_drop")


def _noisy(private, sizes, epsilon: float, source: Simulation, draws: int) -> Iterator[np.ndarray]:
    cells = int(np.prod(sizes))
    counts = np.bincount(np.ravel_multi_index(tuple(private.T), sizes), minlength=cells).astype(float)
    for _ in range(draws):
        noise = source.child(f"epsilon={epsilon}")
        noisy = np.maximum(_histogram(cells, epsilon).release(counts, noise), 0.0)
        shares = noisy / noisy.sum() if noisy.sum() > 0 else np.full(cells, 1 / cells)
        yield np.stack(np.unravel_index(noise.categorical(shares, size=len(private)), sizes), axis=1)


def _spread(errors: np.ndarray) -> dict[str, float]:
    low, high = np.quantile(errors, [0.05, 0.95])
    return dict(mean=float(errors.mean()), sd=_sd(errors), low=float(low), high=float(high))


def _sd(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
