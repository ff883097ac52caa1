"""Text level: rewritten texts attacked by labellers and by provenance, with the defence and its price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.dp import Simulation
from privlib.evaluation.fidelity import fidelity
from privlib.quantization import Detector, RandomizedQuantization, Rewriter, Schema, Shadow, Share, Tree
from privlib.quantization.snippets import clauses, words

if TYPE_CHECKING:
    import pandas as pd

SPLICED = {"reuse snippets": None, "changed rows afresh": 0.0, "half afresh": 0.5, "every row afresh": 1.0}
MODEL = "language model"
RAW, HALF = "raw rows", "half of the rows"
PRIOR, COUNT, PROVENANCE = "public share, without looking", "count labels, read exactly", "provenance"


@dataclass(frozen=True)
class Attackers:
    """What an attacker learns from public rows: a labeller a (secret, family) with its known errors, readers of labels.

    labellers: (secret name, family) to (labeller, hits, false alarms); only those that beat the constant answer on
    public rows they were not trained on. readers: attribute to labeller. reader_accuracy: share of such public rows
    whose every label they read as it is.
    """

    labellers: dict[tuple[str, str], tuple[object, float, float]]
    readers: dict[str, object]
    reader_accuracy: float


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A cheap stand-in for an encoder: TF-IDF of public texts, reduced by singular values, unit norm."""

    pipeline: object

    @classmethod
    def fit(cls, public_texts: Sequence[str], dimensions: int) -> WordVectors:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.pipeline import make_pipeline

        reduced = TruncatedSVD(dimensions, random_state=0)
        return cls(make_pipeline(TfidfVectorizer(sublinear_tf=True), reduced).fit(list(public_texts)))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float[n, d]; a text without a known word is the zero vector."""
        found = self.pipeline.transform(list(texts))
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def rewriters(names: Sequence[str], public, schema: Schema, model=None) -> dict[str, tuple[Rewriter, Callable]]:
    """Rewriters by name, each with the score of freshness that suits it: copied public words, or the model's own
    likelihood (`model` with `complete` and `score`, for `MODEL` only)."""
    overlap = quantization.PublicOverlap.of(public.texts)
    made = {}
    for name in names:
        if name == MODEL:
            counts = quantization.WordCounts.learn(public.texts, schema.encode(public), schema.sizes)
            fallback = quantization.splice(public, schema, counts, fresh_share=1.0)
            rewriter = quantization.LanguageModelRewriter(
                model.complete, schema, counts, fallback, max_new_tokens=48, opened=True
            )
            made[name] = (rewriter, lambda texts: -model.score(texts))
        else:
            made[name] = (quantization.splice(public, schema, fresh_share=SPLICED[name]), overlap)
    return made


def trained(training, checking, schema: Schema, secrets: Sequence[Share], families: dict, reader: str) -> Attackers:
    """Attackers trained on one public corpus and checked on another.

    Args:
        families: untrained labellers by name; reader: the name of the one that reads labels for faithfulness.
    """
    labellers = {}
    for secret in secrets:
        says = [np.where(secret.holds(schema.encode(part)), "yes", "no") for part in (training, checking)]
        for name, family in families.items():
            fitted = family.fit(training.texts, says[0])
            (wells, alarms), (misses, hits) = fitted.confusion(checking.texts, says[1])
            accuracy, constant = (wells + hits) / len(says[1]), max(wells + alarms, misses + hits) / len(says[1])
            rates = hits / (hits + misses), alarms / (wells + alarms)
            if accuracy > constant and rates[0] > rates[1]:
                labellers[secret.name, name] = (fitted, *rates)
    readers = {name: families[reader].fit(training.texts, training.attributes[name]) for name in schema.names}
    read = quantization.read_labels(checking.texts, readers, schema)
    return Attackers(labellers, readers, quantization.faithfulness(read, schema.encode(checking)))


def skewed(corpus, schema: Schema, secret: Share, share: float, seed: int, most_rows: int | None = None):
    """The largest part of a corpus, of `most_rows` at most, in which the secret has about this share, rows drawn at
    random: a private file whose share public rows of the same kind do not tell."""
    holds = secret.holds(schema.encode(corpus))
    inside, outside = np.flatnonzero(holds), np.flatnonzero(~holds)
    n = int(min(len(inside) / share, len(outside) / (1 - share), len(corpus) if most_rows is None else most_rows))
    wanted = round(share * n)
    source = Simulation(seed)
    rows = [
        part[source.child("skew").permutation(len(part))[:count]]
        for part, count in ((inside, wanted), (outside, n - wanted))
    ]
    return corpus.take(np.sort(np.concatenate(rows)), f"skewed({secret.name}, {share:g}, seed={seed})")


def folded(corpus, name: str, category: str):
    """The corpus with one attribute of two categories: `category` and "other"."""
    column = tuple(value if value == category else "other" for value in corpus.attributes[name])
    return replace(corpus, attributes={name: column})


def by_share(
    target,
    public,
    shadow,
    secret: Share,
    schema: Schema,
    shares: Sequence[float],
    rewriters: dict,
    attackers: Attackers,
    most_rows: int | None = None,
    **settings,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`attacks` on private files of several shares of one secret, one attribute of interest; column "share" first.

    Args:
        target: corpus from which each private file is drawn by `skewed`, with the study's seed.
        shares: private shares of the secret, in (0, 1).
        most_rows: of a private file, None for as many as there are. settings: of `attacks`.
    """
    import pandas as pd

    tree = quantization.chow_liu(public, schema)
    errors, costs = [], []
    for share in shares:
        private = skewed(target, schema, secret, share, settings["seed"], most_rows)
        found = attacks(private, public, shadow, tree, [secret], rewriters, attackers, **settings)
        for table, kept in zip(found, (errors, costs), strict=True):
            table.insert(0, "share", float(share))
            kept.append(table)
    return pd.concat(errors, ignore_index=True), pd.concat(costs, ignore_index=True)


def attacks(
    private,
    public,
    shadow,
    tree: Tree,
    secrets: Sequence[Share],
    rewriters: dict[str, tuple[Rewriter, Callable]],
    attackers: Attackers,
    *,
    gamma: int,
    nearest: int,
    draws: int,
    shadow_draws: int,
    public_seed: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Errors of every attack on fresh releases of every rewriter, and what each rewriter costs.

    The provenance attacker runs the mechanism on `shadow` rows to learn a threshold of the score and its errors, and
    reads labels exactly (as does `COUNT`, beside which its error is to be seen); families read texts.

    Args:
        private, public, shadow: labelled corpora, disjoint; the rewriters fill from `public`.
        rewriters: name to (rewriter, score of freshness of texts).
        nearest: k. draws, shadow_draws: releases of the private and of the shadow rows, >= 2 and >= 1.

    Returns:
        errors: rewriter, attack, secret, gold, error, sd; with RAW and one HALF of the rows, which take the counting
        attacks only, sd 0. costs: rewriter, quantity, value, with quantities
        "hits", "false alarms" (of the detector; both 0 where it learnt nothing), "own words" (share of released words
        that stand in clauses of private texts), "faithfulness" (as read), and of `MODEL` "given up" (share of the rows
        of private releases that the model could not write).
    """
    import pandas as pd

    schema = tree.schema
    auxiliary, truth = schema.encode(public), schema.encode(private)
    own = frozenset(clause for text in private.texts for clause in clauses(text))
    ours = RandomizedQuantization(tree, gamma, nearest, public_seed=public_seed)
    golds = {secret.name: secret(truth) for secret in secrets}
    errors, costs = [], []
    half = Simulation(seed).child("half").permutation(len(private))[: len(private) // 2]
    for name, rows in ((RAW, np.arange(len(private))), (HALF, half)):
        texts = [private.texts[row] for row in rows]
        for secret in secrets:
            made = counted(texts, truth[rows], secret, golds[secret.name], attackers)
            errors += [(name, attack, secret.name, guess.gold, guess.error, 0.0) for attack, guess in made.items()]
    for name, (rewriter, score) in rewriters.items():
        noise = Simulation(seed)  # the same draws of tables and targets for every rewriter
        detector = learnt(ours, shadow, rewriter, score, noise, shadow_draws)
        hits, alarms = (0.0, 0.0) if detector is None else (detector.hits, detector.false_alarms)
        found: dict[tuple[str, str], list[float]] = {}
        kept, faithful = [], []
        lost = rewriter.report.given_up if name == MODEL else 0  # on shadow rows
        for _ in range(draws):
            targets = Shadow(rewriter)
            released = ours.release(private, noise, rewriter=targets)
            kept.append(own_words(released.texts, own))
            read = quantization.read_labels(released.texts, attackers.readers, schema)
            faithful.append(quantization.faithfulness(read, released.targets))
            for secret in secrets:
                gold = secret(truth)
                made = {PRIOR: quantization.prior_attack(auxiliary, secret, gold)}
                made |= counted(released.texts, released.targets, secret, gold, attackers)
                if detector is not None:
                    fresh = detector(score(released.texts))
                    made[PROVENANCE] = quantization.provenance_attack(
                        released.targets, fresh, secret, gold, auxiliary, hits, alarms
                    )
                for attack, guess in made.items():
                    found.setdefault((attack, secret.name), []).append(guess.error)
        errors += [
            (name, attack, secret, golds[secret], float(np.mean(e)), float(np.std(e, ddof=1)))
            for (attack, secret), e in found.items()
        ]
        costs += [(name, "hits", hits), (name, "false alarms", alarms)]
        costs += [(name, "own words", float(np.mean(kept))), (name, "faithfulness", float(np.mean(faithful)))]
        if name == MODEL:
            costs.append((name, "given up", (rewriter.report.given_up - lost) / (draws * len(truth))))
    return (
        pd.DataFrame(errors, columns=["rewriter", "attack", "secret", "gold", "error", "sd"]),
        pd.DataFrame(costs, columns=["rewriter", "quantity", "value"]),
    )


def counted(texts: Sequence[str], labels: np.ndarray | None, secret: Share, gold: float, attackers: Attackers) -> dict:
    """Labelling attacks by name: exact reading of labels int[n, a], if any, and every family, counted and corrected."""
    made = {} if labels is None else {COUNT: quantization.Attack(secret(labels), gold)}
    for (known, family), (labeller, *rates) in attackers.labellers.items():
        if known == secret.name:
            made[family] = quantization.labelling_attack(texts, secret, gold, labeller)
            made[f"{family}, corrected"] = quantization.corrected(made[family], *rates)
    return made


def learnt(ours: RandomizedQuantization, shadow, rewriter: Rewriter, score, noise, draws: int) -> Detector | None:
    """A detector of fresh rows from runs of the mechanism on public rows; None where nothing separates them."""
    scores, truth = [], []
    for _ in range(draws):
        watched = Shadow(rewriter)
        released = ours.release(shadow, noise.child("shadow"), rewriter=watched)
        scores.append(score(released.texts))
        truth.append(watched.fresh)
    try:
        return Detector.fit(np.concatenate(scores), np.concatenate(truth))
    except ValueError as error:
        if "separates" not in str(error):
            raise
        return None


def own_words(texts: Sequence[str], own: frozenset[str]) -> float:
    """Share of the words of released texts that stand in clauses of the private texts, whole."""
    total = kept = 0
    for text in texts:
        for clause in clauses(text):
            length = len(words(clause))
            total, kept = total + length, kept + length * (clause in own)
    return kept / total


def agreement(errors: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Table I: Spearman correlation of the rankings of methods (here rewriters) by attack error, averaged over secrets.

    Args:
        errors: columns rewriter, attack, secret, error, and share where there are several; three rewriters or more.
        families: attacks to compare.

    Returns:
        one, other, correlation, secrets (how many, a share each, have errors of both families that are
        not all alike).
    """
    import pandas as pd
    from scipy.stats import spearmanr

    made = []
    for i, one in enumerate(families):
        for other in families[i + 1 :]:
            found = []
            for _, part in errors.groupby([c for c in ("share", "secret") if c in errors]):
                table = part.pivot(index="rewriter", columns="attack", values="error")
                if {one, other} <= set(table) and table[one].nunique() > 1 and table[other].nunique() > 1:
                    found.append(float(spearmanr(table[one], table[other]).statistic))
            if not found:
                raise ValueError(f"errors: expected a secret with errors of both {one!r} and {other!r}, got none")
            made.append((one, other, float(np.mean(found)), len(found)))
    return pd.DataFrame(made, columns=["one", "other", "correlation", "secrets"])


def utility(private, releases: dict[str, Sequence[str]], schema: Schema, readers: dict, embed, noise) -> pd.DataFrame:
    """The four rescaled metrics and their mean (`privlib.evaluation.fidelity`) of each method's released texts.

    Every method is scored on as many rows as the smallest has, drawn at random, against as many private rows.

    Args:
        releases: method to texts; readers: attribute to labeller, for private and for released texts alike.
        embed: texts to float[n, d].
    """
    import pandas as pd

    size = min(len(private), *(len(texts) for texts in releases.values()))

    def drawn(texts):
        rows = noise.child("rows").permutation(len(texts))[:size]
        return [texts[row] for row in rows]

    def described(texts):
        lengths = np.array([len(words(text)) for text in texts])
        return embed(texts), lengths, quantization.read_labels(texts, readers, schema)

    real, real_lengths, real_labels = described(drawn(private.texts))
    made = []
    for name, texts in releases.items():
        other, lengths, read = described(drawn(texts))
        found = fidelity(real, other, real_lengths, lengths, real_labels, read, schema.sizes)
        parts = (found.precision, found.recall, found.frechet, found.attributes, found.aggregate)
        made.append((name, found.n, found.d, *parts))
    return pd.DataFrame(made, columns=["method", "n", "d", "precision", "recall", "frechet", "attributes", "aggregate"])
