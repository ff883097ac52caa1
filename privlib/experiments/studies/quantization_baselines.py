"""All methods on one secret, at text level: attack error against utility, faithfulness, ranks of the methods.

Every released set of texts meets the same attackers and the same metrics, on as many rows. Private evolution runs
with a simulator of public texts instead of a foundation model (Lin and others 2025): it starts from public texts and
varies them by exchanging clauses, so no model enters, and what it learns of the private rows are votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from privlib import quantization
from privlib.baselines import AugPE, DPFineTuning, LabelledPE, Learner
from privlib.dp import Simulation
from privlib.evaluation.fidelity import fidelity
from privlib.experiments.studies.quantization import nearest_for
from privlib.experiments.studies.quantization_text import Attackers, counted, own_words, skewed
from privlib.quantization import JointQuantization, RandomizedQuantization, Schema, Share, Tree
from privlib.quantization.snippets import clauses, words

if TYPE_CHECKING:
    import pandas as pd

RAW, HALF, PUBLIC = "raw rows", "half of the rows", "public rows instead"
QUANTIZED, ONE_TABLE, MODEL = "QuanText", "one table", "QuanText, language model"
EVOLVED, LABELLED = "private evolution", "private evolution, labelled"
TUNED = "DP fine-tuning"
LABELLERS, COUNTED, PRIOR = "labellers, corrected", "labellers, counted", "public share, without looking"
FAINTEST = 0.2  # hits less false alarms below which a labeller is left out of the means: its correction is mostly noise
UNTOUCHED = (RAW, HALF, PUBLIC)
WRITERS = (QUANTIZED, ONE_TABLE, MODEL)
PRIVATE = (EVOLVED, LABELLED, TUNED)
PARTS = ("precision", "recall", "frechet", "attributes", "aggregate")


@dataclass(frozen=True, eq=False)
class Case:
    """One private file and what every method may know of it beforehand.

    private, public: labelled corpora, disjoint. tree: of the public rows, with the schema. embed: texts to float[n, d].
    gamma, public_seed: of the candidates. delta, iterations, population, variations: of private evolution.
    """

    private: object
    public: object
    tree: Tree
    embed: Callable
    gamma: int
    public_seed: int
    delta: float
    iterations: int
    population: int
    variations: int

    @property
    def schema(self) -> Schema:
        return self.tree.schema

    def quantized(self, dilution: float) -> RandomizedQuantization:
        nearest = nearest_for(self.gamma, int(dilution))
        return RandomizedQuantization(self.tree, self.gamma, nearest, public_seed=self.public_seed)

    def one_table(self, dilution: float) -> JointQuantization:
        """Joint candidates around the public rows (alpha 16), one draw."""
        centre = quantization.smoothed_tables(self.schema.encode(self.public), self.tree)
        nearest = nearest_for(self.gamma, int(dilution))
        return JointQuantization(
            self.tree, self.gamma, nearest, public_seed=self.public_seed, alpha=16.0, centre=centre
        )

    def evolved(self, epsilon: float) -> AugPE:
        return AugPE(generate=self.simulator.generate, **self._voting(epsilon))

    def labelled(self, epsilon: float) -> LabelledPE:
        """One population a combination of categories."""
        cells = int(np.prod(self.schema.sizes))
        return LabelledPE(generate=self.simulator.generate_for, categories=cells, **self._voting(epsilon))

    def tuned(self, epsilon: float, learner: Learner, epochs: int) -> DPFineTuning:
        """DP-SGD with a fifth of the records a batch; as many texts as private evolution has."""
        return DPFineTuning(
            learner=learner, epsilon=float(epsilon), delta=self.delta, rate=0.2, epochs=epochs,
            expected_records=len(self.private), samples=self.population, public_seed=self.public_seed,
        )  # fmt: skip

    @cached_property
    def simulator(self) -> PublicTexts:
        codes = np.ravel_multi_index(tuple(self.schema.encode(self.public).T), self.schema.sizes)
        return PublicTexts(tuple(self.public.texts), codes, self.embed)

    def _voting(self, epsilon: float) -> dict:
        return dict(
            vary=self.simulator.vary, embed=self.embed, epsilon=float(epsilon), delta=self.delta,
            iterations=self.iterations, population=self.population, variations=self.variations,
            public_seed=self.public_seed,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Remembered:
    """An embedding that embeds a text once: candidates of private evolution come back round after round."""

    embed: Callable
    known: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """float[n, d]."""
        if fresh := list(dict.fromkeys(text for text in texts if text not in self.known)):
            self.known.update(zip(fresh, self.embed(fresh), strict=True))
        return np.stack([self.known[text] for text in texts])


@dataclass(frozen=True, eq=False)
class PublicTexts:
    """Simulator of private evolution: starts are public texts, a variation exchanges one clause with a near one's.

    texts, codes int[m]: public rows and their combination of categories; embed: texts to float[n, d].
    neighbours: a variation takes its clause from one of that many public texts nearest to the varied text.
    """

    texts: tuple[str, ...]
    codes: np.ndarray
    embed: Callable
    neighbours: int = 8

    def generate(self, count: int, seed: int) -> list[str]:
        """Public texts, each as often as any other, up to one."""
        return self._drawn(np.arange(len(self.texts)), count, seed)

    def generate_for(self, category: int, count: int, seed: int) -> list[str]:
        """Public texts of the combination; of all where the public rows have none."""
        places = np.flatnonzero(self.codes == category)
        return self._drawn(places if len(places) else np.arange(len(self.texts)), count, seed)

    @cached_property
    def vectors(self) -> np.ndarray:
        """float[m, d] of the public texts."""
        return self.embed(self.texts)

    @cached_property
    def pieces(self) -> tuple[tuple[str, ...], ...]:
        """Clauses of the public texts."""
        return tuple(clauses(text) for text in self.texts)

    def vary(self, texts: Sequence[str], seed: int) -> list[str]:
        coins = Simulation(seed).generator
        near = np.argpartition(-(self.embed(texts) @ self.vectors.T), self.neighbours, axis=1)[:, : self.neighbours]
        varied = []
        for text, row in zip(texts, near, strict=True):
            own, other = clauses(text), self.pieces[row[coins.integers(len(row))]]
            place = int(coins.integers(len(own)))
            varied.append(" ".join((*own[:place], other[coins.integers(len(other))], *own[place + 1 :])))
        return varied

    def _drawn(self, places: np.ndarray, count: int, seed: int) -> list[str]:
        order = Simulation(seed).generator.permutation(places)
        return [self.texts[row] for row in np.resize(order, count)]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One release: texts, the labels assigned to them, int[n, a], where the method assigns any, and how many rows its
    language model gave up on, where one writes."""

    texts: tuple[str, ...]
    labels: np.ndarray | None = None
    given_up: int | None = None


def releases(
    case: Case,
    methods: dict[str, Sequence[float]],
    draws: int,
    seed: int,
    model=None,
    learner: Learner | None = None,
    epochs: int = 15,
    few: Mapping[str, int] | None = None,
):
    """(method, strength) to its releases, made as they are asked for.

    Args:
        methods: method to strengths: gamma/k, or epsilon; for `UNTOUCHED` ones any one number.
        draws: fresh releases a setting; raw and public rows have one.
        model: language model with `complete`, for `MODEL`. learner, epochs: of `DPFineTuning`, for `TUNED`.
        few: method to releases, where not `draws`.
    """
    source = Simulation(seed)
    truth = case.schema.encode(case.private)
    texts = tuple(case.private.texts)
    spliced = quantization.splice(case.public, case.schema)

    def made(method: str, strength: float, noise: Simulation) -> Drawn:
        if method == RAW:
            return Drawn(texts, truth)
        if method == PUBLIC:
            return Drawn(tuple(case.public.texts), case.schema.encode(case.public))
        if method == HALF:
            rows = noise.permutation(len(texts))[: len(texts) // 2]
            return Drawn(tuple(texts[row] for row in rows), truth[rows])
        if method in (QUANTIZED, ONE_TABLE, MODEL):
            mechanism = case.one_table(strength) if method == ONE_TABLE else case.quantized(strength)
            rewriter = written_by(model, case) if method == MODEL else spliced
            released = mechanism.release(case.private, noise, rewriter=rewriter)
            return Drawn(released.texts, released.targets, rewriter.report.given_up if method == MODEL else None)
        if method == EVOLVED:
            return Drawn(case.evolved(strength).release(case.embed(texts), noise).texts)
        if method == LABELLED:
            codes = np.ravel_multi_index(tuple(truth.T), case.schema.sizes)
            grown = case.labelled(strength).release((case.embed(texts), codes), noise)
            return Drawn(grown.texts, np.stack(np.unravel_index(grown.labels, case.schema.sizes), axis=1))
        if method == TUNED:
            return Drawn(case.tuned(strength, learner, epochs).release(texts, noise).texts)
        raise ValueError(f"methods: expected known methods, got {method!r}")

    def all_of(method: str, strength: float) -> Iterator[Drawn]:
        for _ in range(1 if method in (RAW, PUBLIC) else (few or {}).get(method, draws)):
            yield made(method, strength, source.child(f"{method} {strength}"))

    return {(m, float(s)): all_of(m, float(s)) for m, strengths in methods.items() for s in strengths}


def written_by(model, case: Case) -> quantization.LanguageModelRewriter:
    """The rewriter of `MODEL`; rows that the model cannot write are spliced from public texts alone, and counted."""
    counts = quantization.WordCounts.learn(case.public.texts, case.schema.encode(case.public), case.schema.sizes)
    instead = quantization.splice(case.public, case.schema, counts, fresh_share=1.0)
    return quantization.LanguageModelRewriter(
        model.complete, case.schema, counts, instead, max_new_tokens=48, opened=True
    )


def compared(
    case: Case, released: dict, secrets: Sequence[Share], attackers: Attackers, rows: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Attack errors, and utility with faithfulness, of all releases.

    Args:
        released: from `releases`.
        attackers: `quantization_text.trained`; a family is used for the secrets it can read.
        rows: at which utility is measured, drawn at random from every release and from the private rows.

    Returns:
        errors: method, strength, secret, attack, gold, error, sd (over releases; 0 where there is one), draws. Attacks:
        every family, counted and corrected; `COUNTED` and `LABELLERS`, the mean error of a release over the families
        that are `heard`, counted and corrected; labels read exactly, where there are any; `PRIOR`, of method `PUBLIC`.
        utilities: method, strength, quantity, value, sd; quantities: the four metrics, their aggregate, "own words"
        (share of released words in clauses of private texts), "faithfulness" (share of rows whose labels are read as
        assigned, where labels are assigned), "given up" (share of rows that the language model could not write, of
        `MODEL`).
    """
    import pandas as pd

    schema, truth = case.schema, case.schema.encode(case.private)
    own = frozenset(clause for text in case.private.texts for clause in clauses(text))
    coins = Simulation(seed).child("utility rows")
    errors, utilities = [], []

    def described(texts, read):
        places = coins.permutation(len(texts))[:rows]
        chosen = [texts[place] for place in places]
        return case.embed(chosen), np.array([len(words(text)) for text in chosen]), read[places]

    real = described(case.private.texts, quantization.read_labels(case.private.texts, attackers.readers, schema))
    for (method, strength), drawn in released.items():
        found: dict[tuple[str, str], list[float]] = {}
        measured: dict[str, list[float]] = {}
        for one in drawn:
            for secret in secrets:
                gold = secret(truth)
                guesses = counted(one.texts, one.labels, secret, gold, attackers)
                told = {attack: guess.error for attack, guess in guesses.items()}
                if families := heard(attackers, secret):
                    told[COUNTED] = float(np.mean([told[f] for f in families]))
                    told[LABELLERS] = float(np.mean([told[f"{f}, corrected"] for f in families]))
                if method == PUBLIC:
                    told[PRIOR] = quantization.prior_attack(schema.encode(case.public), secret, gold).error
                for attack, error in told.items():
                    found.setdefault((secret.name, attack), []).append(float(error))
            read = quantization.read_labels(one.texts, attackers.readers, schema)
            other = described(one.texts, read)
            alike = fidelity(real[0], other[0], real[1], other[1], real[2], other[2], schema.sizes)
            values = {part: getattr(alike, part) for part in PARTS} | {"own words": own_words(one.texts, own)}
            if one.labels is not None:
                values["faithfulness"] = quantization.faithfulness(read, one.labels)
            if one.given_up is not None:
                values["given up"] = one.given_up / len(one.texts)
            for quantity, value in values.items():
                measured.setdefault(quantity, []).append(float(value))
        golds = {secret.name: secret(truth) for secret in secrets}
        errors += [
            (method, strength, secret, attack, golds[secret], float(np.mean(e)), _sd(e), len(e))
            for (secret, attack), e in found.items()
        ]
        utilities += [(method, strength, q, float(np.mean(v)), _sd(v)) for q, v in measured.items()]
    return (
        pd.DataFrame(errors, columns=["method", "strength", "secret", "attack", "gold", "error", "sd", "draws"]),
        pd.DataFrame(utilities, columns=["method", "strength", "quantity", "value", "sd"]),
    )


def by_share(
    target,
    settings: dict,
    secret: Share,
    shares: Sequence[float],
    methods: dict[str, Sequence[float]],
    attackers: Attackers,
    most_rows: int,
    draws: int,
    seed: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`compared` on private files of several shares of one secret; column "share" first.

    Args:
        target: corpus from which `quantization_text.skewed` draws each private file, of `most_rows` rows at most.
        settings: of `Case`, without private rows and population.
        methods, draws: of `releases`.
    """
    import pandas as pd

    errors, utilities = [], []
    for share in shares:
        drawn = skewed(target, settings["tree"].schema, secret, share, seed)
        rows = np.sort(Simulation(seed).child("shares").permutation(len(drawn))[:most_rows])
        case = Case(drawn.take(rows, f"sample({most_rows})"), population=len(rows), **settings)
        made = compared(case, releases(case, methods, draws, seed), [secret], attackers, len(rows) // 2, seed)
        for table, kept in zip(made, (errors, utilities), strict=True):
            table.insert(0, "share", float(share))
            kept.append(table)
    return pd.concat(errors, ignore_index=True), pd.concat(utilities, ignore_index=True)


def judged(errors: pd.DataFrame, utilities: pd.DataFrame, most: float = 8) -> pd.DataFrame:
    """The paper's ordering: at gamma/k up to `most`, is QuanText above a private method in error and in utility?

    Returns:
        method, epsilon, secret, dilution, error_gap, utility_gap (QuanText less the method), both (1 where both > 0).
    """
    import pandas as pd

    error = errors[errors["attack"] == LABELLERS].set_index(["method", "strength", "secret"])["error"]
    utility = utilities[utilities["quantity"] == "aggregate"].set_index(["method", "strength"])["value"]
    rows = []
    for method, strength, secret in error.index:
        if method in PRIVATE:
            for dilution in sorted({d for m, d, _ in error.index if m == QUANTIZED and d <= most}):
                gaps = (
                    error[QUANTIZED, dilution, secret] - error[method, strength, secret],
                    utility[QUANTIZED, dilution] - utility[method, strength],
                )
                rows.append((method, strength, secret, dilution, *map(float, gaps), int(min(gaps) > 0)))
    columns = ["method", "epsilon", "secret", "dilution", "error_gap", "utility_gap", "both"]
    return pd.DataFrame(rows, columns=columns)


def heard(attackers: Attackers, secret: Share) -> list[str]:
    """Families whose hits on public rows exceed their false alarms by `FAINTEST` or more."""
    rates = {family: hits - alarms for (name, family), (_, hits, alarms) in attackers.labellers.items()
             if name == secret.name}  # fmt: skip
    return [family for family, gap in rates.items() if gap >= FAINTEST]


def at_table_one(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at gamma/k = 4 of the methods that rewrite, at epsilon = 1 of the private ones, and those without either."""
    wanted = rows["method"].map(lambda method: 4.0 if method in WRITERS else 1.0)
    return rows[(rows["strength"] == wanted) | (rows["strength"] == 0)]


def read_by(attackers: Attackers) -> pd.DataFrame:
    """secret, family, hits, false_alarms of the labellers that beat the constant answer on public rows."""
    import pandas as pd

    made = [(*key, float(hits), float(alarms)) for key, (_, hits, alarms) in attackers.labellers.items()]
    return pd.DataFrame(made, columns=["secret", "family", "hits", "false_alarms"])


def _sd(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
