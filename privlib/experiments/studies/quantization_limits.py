"""Grids of the limits of the quantization chapter: vacuous bounds, public seeds, row order, few draws, one table.

All at label level: rewriting is ideal and released labels are read exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.evaluation.text import joint_match
from privlib.experiments.studies.quantization import nearest_for
from privlib.quantization import JointQuantization, RandomizedQuantization, Share, Tree

if TYPE_CHECKING:
    import pandas as pd

EVERYONE, NEIGHBOUR = "any attacker", "attacker with public rows"
ORDERS = ("private", "target", "shuffled")


def useful_dilutions(rows: Sequence[int], tables: Sequence[int], public: tuple[int, int]) -> pd.DataFrame:
    """Largest gamma/k at which Theorem IV.3 (style ratio 1) says anything, in closed form.

    Args:
        rows: numbers of rows n; tables: numbers of tables E.
        public: public rows and how many of them meet the secret's condition, for the second attacker.

    Returns:
        rows, tables, attacker, dilution.
    """
    import pandas as pd

    made = []
    for n in rows:
        prior = quantization.share_prior(n, *public)
        for attacker, belief in ((EVERYONE, None), (NEIGHBOUR, prior)):
            made += [(n, e, attacker, quantization.useful_dilution(e, n, belief)) for e in tables]
    return pd.DataFrame(made, columns=["rows", "tables", "attacker", "dilution"])


def verdicts(
    settings: dict[str, tuple[int, int]], public: tuple[int, int], gammas: Sequence[int], dilutions: Sequence[int]
) -> pd.DataFrame:
    """The bound of every setting beside both ceilings, over gamma, k and tables.

    Args:
        settings: name to (tables, rows).
        public: as in `useful_dilutions`.

    Returns:
        setting, tables, rows, gamma, k, bound, ceiling (all attackers), guess_ceiling (who knows public rows), verdict:
        "informative", "vacuous for who knows public rows" or "vacuous".
    """
    import pandas as pd

    made = []
    for name, (tables, rows) in settings.items():
        ceiling = quantization.secret_ceiling(rows)
        guess = min(ceiling, quantization.guess_ceiling(quantization.share_prior(rows, *public)))
        for gamma in gammas:
            for dilution in dilutions:
                k = nearest_for(gamma, dilution)
                bound = quantization.sml_bound(tables, gamma, k)
                verdict = "informative" if bound < guess else "vacuous for who knows public rows"
                verdict = "vacuous" if bound >= ceiling else verdict
                made.append((name, tables, rows, gamma, k, bound, ceiling, guess, verdict))
    columns = ["setting", "tables", "rows", "gamma", "k", "bound", "ceiling", "guess_ceiling", "verdict"]
    return pd.DataFrame(made, columns=columns)


def seeded_choice(gammas: Sequence[int], dilution: int, rows: int, public_seed: int) -> pd.DataFrame:
    """Exact SML of one table of two categories at a fixed gamma/k, with the draw secret and with its seed known.

    Returns:
        gamma, k, bound (ln gamma/k), secret, seeded, everything (ln gamma), in nats.
    """
    import pandas as pd

    made = []
    for gamma in gammas:
        k = nearest_for(gamma, dilution)
        table = quantization.candidates(2, gamma, 10 * gamma, 1.0, Simulation(public_seed))
        exact = [quantization.exact_sml(table, k, 0, rows, seeded=seeded) for seeded in (False, True)]
        made.append((gamma, k, quantization.sml_bound(1, gamma, k), *exact, math.log(gamma)))
    return pd.DataFrame(made, columns=["gamma", "k", "bound", "secret", "seeded", "everything"])


def release_order(
    share: float, rows: int, gamma: int, dilutions: Sequence[int], draws: int, public_seed: int, seed: int
) -> pd.DataFrame:
    """Mean error of the order attack on a file sorted by its secret, in three release orders, ideal rewriting.

    Private order is what a pipeline gives that rewrites the file line by line; the library never releases it.

    Returns:
        order, dilution, order_error, order_sd, label_error (counting released labels), label_sd.
    """
    import pandas as pd

    tree, secret = Tree(0, (-1,), (2,)), Share(((0, 1),))
    private = (np.arange(rows) < round(share * rows)).astype(np.int64)[:, None]
    gold, source, made = secret(private), Simulation(seed), []
    for dilution in dilutions:
        ours = RandomizedQuantization(tree, gamma, nearest_for(gamma, dilution), public_seed=public_seed)
        errors = {order: [] for order in ORDERS}
        counted = []
        for _ in range(draws):
            noise = source.child(f"dilution={dilution}")
            targets = ours.release(private, noise).labels
            ordered = {
                "private": targets[quantization.match(private, targets)],
                "target": targets,
                "shuffled": targets[noise.child("shuffle").permutation(rows)],
            }
            counted.append(abs(secret(targets) - gold))
            for order, labels in ordered.items():
                errors[order].append(quantization.order_attack(secret.holds(labels), gold).error)
        count = (np.mean(counted), np.std(counted, ddof=1))
        made += [(order, dilution, np.mean(found), np.std(found, ddof=1), *count) for order, found in errors.items()]
    columns = ["order", "dilution", "order_error", "order_sd", "label_error", "label_sd"]
    return pd.DataFrame(made, columns=columns).astype({name: float for name in columns[2:]})


def few_draws(
    private: np.ndarray,
    tree: Tree,
    secrets: Sequence[Share],
    *,
    gamma: int,
    pairs: Sequence[tuple[int, int]],
    runs: Sequence[int],
    draws: int,
    public_seed: int,
    seed: int,
) -> pd.DataFrame:
    """How often a figure of few releases a point orders two dilutions as a figure of many would.

    Args:
        pairs: (smaller, larger) dilution; the first has the larger error over all `draws` releases, or is counted so.
        runs: releases a point.

    Returns:
        pair, runs, agreeing: share, over secrets and 2,000 redrawn figures each, that order the two as all draws do;
        relative_spread: median over secrets of sd / mean of the error at the smaller dilution.
    """
    import pandas as pd

    source = Simulation(seed)
    errors = {}
    for dilution in sorted({dilution for pair in pairs for dilution in pair}):
        ours = RandomizedQuantization(tree, gamma, nearest_for(gamma, dilution), public_seed=public_seed)
        released = [ours.release(private, source.child(f"dilution={dilution}")).labels for _ in range(draws)]
        errors[dilution] = np.array([[abs(s(labels) - s(private)) for labels in released] for s in secrets])
    redrawn, made = source.child("redrawn").generator, []
    for small, large in pairs:
        truth = np.sign(errors[small].mean(axis=1) - errors[large].mean(axis=1))
        moving = errors[small][errors[small].any(axis=1)]  # a secret that no release moved has no spread
        spread = float(np.median(moving.std(axis=1, ddof=1) / moving.mean(axis=1)))
        for m in runs:
            means = [errors[d][:, redrawn.integers(draws, size=(2000, m))].mean(axis=2) for d in (small, large)]
            agreeing = float((np.sign(means[0] - means[1]) == truth[:, None]).mean())
            made.append((f"{small} against {large}", m, agreeing, spread))
    return pd.DataFrame(made, columns=["pair", "runs", "agreeing", "relative_spread"])


def one_table(
    private: np.ndarray,
    auxiliary: np.ndarray,
    tree: Tree,
    *,
    gamma: int,
    dilutions: Sequence[int],
    alphas: Sequence[float],
    draws: int,
    public_seed: int,
    seed: int,
) -> pd.DataFrame:
    """Utility against the bound: many tables chosen one by one, and one joint table, uniform or centred on public rows.

    Args:
        alphas: concentrations of the centred candidates.

    Returns:
        method ("E tables", "one table", "one table, centred, alpha = ..."), dilution, bound (nats), joint, joint_sd:
        1 - TV between private and released joint label distributions, mean and sd over `draws` fresh releases.
    """
    import pandas as pd

    centre = quantization.smoothed_tables(auxiliary, tree)
    source, made = Simulation(seed), []
    for dilution in dilutions:
        k = nearest_for(gamma, dilution)
        joint = dict(candidates=gamma, nearest=k, public_seed=public_seed)
        methods = {
            "E tables": RandomizedQuantization(tree, gamma, k, public_seed=public_seed),
            "one table": JointQuantization(tree, **joint),
        } | {
            f"one table, centred, alpha = {alpha:g}": JointQuantization(tree, centre=centre, alpha=alpha, **joint)
            for alpha in alphas
        }
        for name, ours in methods.items():
            noise = source.child(f"{name}/{dilution}")
            match = [joint_match(private, ours.release(private, noise).labels, tree.sizes) for _ in range(draws)]
            made.append((name, dilution, ours.guarantee.bound, float(np.mean(match)), float(np.std(match, ddof=1))))
    return pd.DataFrame(made, columns=["method", "dilution", "bound", "joint", "joint_sd"])


def candidate_counts(
    private: np.ndarray,
    tree: Tree,
    secrets: Sequence[Share],
    *,
    gammas: Sequence[int],
    dilution: int,
    draws: int,
    public_seed: int,
    seed: int,
) -> pd.DataFrame:
    """Figure 5 at label level: gamma and k grow together at a fixed gamma/k.

    Returns:
        secret, gamma, mean and sd of the attack error, joint and joint_sd (1 - TV), over `draws` fresh releases.
    """
    import pandas as pd

    source, made = Simulation(seed), []
    for gamma in gammas:
        ours = RandomizedQuantization(tree, gamma, nearest_for(gamma, dilution), public_seed=public_seed)
        released = [ours.release(private, source.child(f"gamma={gamma}")).labels for _ in range(draws)]
        match = [joint_match(private, labels, tree.sizes) for labels in released]
        for secret in secrets:
            errors = [abs(secret(labels) - secret(private)) for labels in released]
            made.append(
                (secret.name, gamma, np.mean(errors), np.std(errors, ddof=1), np.mean(match), np.std(match, ddof=1))
            )
    columns = ["secret", "gamma", "mean", "sd", "joint", "joint_sd"]
    return pd.DataFrame(made, columns=columns).astype({name: float for name in columns[2:]})
