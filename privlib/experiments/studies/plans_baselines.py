"""Semantic plans beside other summaries of the same texts: private histograms, private clusters, and no privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from privlib import baselines, evaluation, plans
from privlib.dp import NoiseSource, Simulation
from privlib.experiments.studies.plans import mechanism

if TYPE_CHECKING:
    import pandas as pd

    from privlib.corpora import Corpus
    from privlib.experiments.studies.plans_corpora import Selection
    from privlib.plans.represent import Representation

PLANS = {
    "plan, Gaussian sketch": "gaussian",
    "plan, Laplace sketch": "laplace",
    "plan, private top-L": "private_topL",
}
KEYWORDS, CATEGORIES, URANIA = "DP keyword histogram", "DP category histogram", "URANIA-style"
EXACT, CLUSTERS, DIRECT, REDACTED = "non-private plan", "non-private clusters", "direct summary", "redacted summary"
PRIVATE = (*PLANS, KEYWORDS, CATEGORIES, URANIA)
REFERENCES = (EXACT, CLUSTERS, DIRECT, REDACTED)
SIMILARITIES = ("token_jaccard", "bigram_jaccard", "keyphrase_jaccard", "tfidf_cosine", "embedding_cosine")
METRICS = ("atoms_recovered", *SIMILARITIES, "marked_secret_told", "plain_secret_told", "nothing_told")
VERIFIED = ("accepted", "unsupported_atom", "unsupported_comparison")
COLUMNS = ("mean", "sd", "low", "high")
BANDS = {column: ("abs", 0.15) for column in COLUMNS}
"""Embeddings, k-means and ties differ a little between machines; one run of ten more or less is 0.1."""
SPREAD = (5.0, 95.0)  # percentiles of the runs


@dataclass(frozen=True)
class Public:
    """Everything that is fixed before a protected text is touched."""

    universe: plans.AtomUniverse
    vocabulary: tuple[str, ...]
    categories: tuple[str, ...]
    space: baselines.PublicSpace
    encoder: Any
    wording: plans.Tfidf
    plan_size: int
    sparsity: int


@dataclass(frozen=True)
class Private:
    """The protected texts of one run with the canary among them, their categories and their exact sketch."""

    texts: tuple[str, ...]
    categories: tuple[str, ...]
    sketch: plans.Sketch


@dataclass(frozen=True)
class Told:
    """One summary: `text` as a reader gets it, `content` its words without the frame, `atoms` it stands for, and the
    plan behind it where there is one."""

    text: str
    content: str
    atoms: frozenset[int]
    plan: plans.SemanticPlan | None = None


@dataclass(frozen=True)
class Canary:
    """A text that an attacker adds: words that many texts share, around two secrets.

    `marked`: capitals and digits, as patterns for redaction expect. `plain`: a lower-case word, which they miss.
    """

    text: str
    marked: str
    plain: str

    @classmethod
    def draw(cls, vocabulary: Sequence[str], generator: np.random.Generator) -> Canary:
        """Ten of the twenty most supported public words and secrets of random letters."""
        letters = np.array(list("bcdfghklmnprstvz"))
        first, second = ("".join(generator.choice(letters, size=9)) for _ in range(2))
        marked = f"{first.capitalize()}-{generator.integers(10**6):06d}"
        shared = " ".join(generator.permutation(list(vocabulary[:20]))[:10])
        return cls(f"they wrote {shared} with {marked} and {second}", marked, second)


def public_side(
    auxiliary: Corpus,
    universe: plans.AtomUniverse,
    encoder: Any,
    category: str,
    *,
    words: int = 100,
    embedded: int = 400,
    dims: int = 6,
    clusters: int = 8,
    plan_size: int = 10,
    sparsity: int = 3,
    seed: int = 7,
) -> Public:
    """Vocabulary, categories, space and representation from the public split; `embedded` texts of it are embedded."""
    categories = tuple(sorted(set(auxiliary.attributes[category]) - {""}))
    sample = auxiliary.sample(min(embedded, len(auxiliary)), seed=seed, public_size=len(auxiliary), unit="record")
    return Public(
        universe,
        baselines.public_vocabulary(auxiliary, words),
        categories,
        baselines.PublicSpace.fit(encoder.embed(sample), dims, clusters, seed),
        encoder,
        plans.Tfidf.fit([*auxiliary, *universe.labels, *categories]),
        plan_size,
        sparsity,
    )


def compare(
    target: Selection, category: str, public: Public, *, epsilons: Sequence[float], delta: float, runs: int, seed: int
) -> pd.DataFrame:
    """One row a (method, epsilon, metric): mean, sd and 5 % and 95 % percentile over `runs` >= 2 runs.

    A run has a canary and noise of its own; all methods of a run see the same texts. epsilon is infinite for the
    references, which protect nothing. The measures compare with the non-private plan of the same texts, so the table
    is an experiment on a public corpus, not a release.
    """
    import pandas as pd

    if runs < 2:
        raise ValueError(f"runs must be at least 2 for a spread, got {runs!r}")
    source = Simulation(seed)
    told: list[tuple[str, float, Told, Told, Canary]] = []
    for run in range(runs):
        canary = Canary.draw(public.vocabulary, source.child("canary").generator)
        private = _with_canary(target, category, canary, public)
        reference = exact_plan(private, public)
        for name, method in references(public, seed=run).items():
            told.append((name, np.inf, method(private), reference, canary))
        for epsilon in map(float, epsilons):
            for name, release in private_methods(public, epsilon, delta).items():
                noise = source.child(f"{name} {epsilon!r}")
                told.append((name, epsilon, release(private, noise), reference, canary))
    public.encoder.embed([summary.content for _, _, summary, _, _ in told if summary.content])  # all at once: quicker
    measured: dict[tuple[str, float], list[Mapping[str, float]]] = {}
    for name, epsilon, summary, reference, canary in told:
        measured.setdefault((name, epsilon), []).append(measures(summary, reference, canary, public))
    rows = [
        {"method": name, "epsilon": epsilon, "metric": metric} | _spread([found[metric] for found in each])
        for (name, epsilon), each in measured.items()
        for metric in each[0]
    ]
    return pd.DataFrame(rows)


def examples(
    target: Selection, category: str, public: Public, epsilon: float, delta: float, seed: int
) -> dict[str, str]:
    """Method -> one simulated summary of the same texts; the methods that quote are left out."""
    source = Simulation(seed).child("examples")
    private = _with_canary(target, category, Canary.draw(public.vocabulary, source.child("canary").generator), public)
    told = {EXACT: exact_plan(private, public).text}
    for name, release in private_methods(public, epsilon, delta).items():
        told[name] = release(private, source.child(name)).text
    return told


def private_methods(public: Public, epsilon: float, delta: float) -> dict[str, Callable[[Private, NoiseSource], Told]]:
    """Name -> what releases and tells it, each at most (epsilon, delta), unit record, relation add_drop."""
    keywords = _quieter(baselines.KeywordHistogram, public.vocabulary, epsilon, delta)
    categories = _quieter(baselines.CategoryHistogram, public.categories, epsilon, delta)
    urania = _urania(public, epsilon, delta)

    def told_plan(law: str) -> Callable[[Private, NoiseSource], Told]:
        setting = mechanism(law, public.universe, epsilon, delta, public.plan_size)
        return lambda private, noise: _tell_plan(setting.release(private.sketch, noise), public)

    return {
        **{name: told_plan(law) for name, law in PLANS.items()},
        KEYWORDS: lambda private, noise: _tell(keywords.release(private.texts, noise).themes(public.plan_size), public),
        CATEGORIES: lambda private, noise: _tell(
            categories.release(private.categories, noise).themes(public.plan_size), public
        ),
        URANIA: lambda private, noise: _tell(urania.release(private.texts, noise).themes(4), public),
    }


def ledger(target: Selection, public: Public, epsilon: float, delta: float, seed: int) -> pd.DataFrame:
    """The ledger that one simulated URANIA-style release kept, a line a stage in the order in which they were paid.

    rho: what the stage was billed; rho_so_far: with all before it; epsilon_so_far: what that costs at `delta`; state:
    "released" where the stage came back; noise: the draws made under the line.
    """
    import pandas as pd

    released = _urania(public, epsilon, delta).release(target.corpus.texts, Simulation(seed).child("ledger"))
    rows, paid = [], None
    for entry in released.ledger:
        paid = entry.bill if paid is None else paid.compose(entry.bill)
        rows.append(
            {
                "stage": ", ".join(entry.bill.composed),
                "rho": entry.bill.rho,
                "rho_so_far": paid.rho,
                "epsilon_so_far": paid.guarantee(delta).epsilon,
                "state": entry.state,
                "noise": ", ".join(f"{name} x {count}" for name, count in entry.draws),
            }
        )
    return pd.DataFrame(rows)


def references(public: Public, seed: int) -> dict[str, Callable[[Private], Told]]:
    """Name -> what tells the texts without any privacy; guarantee: none."""
    clusters = baselines.ClusterReference(public.encoder, clusters=len(public.space.centres), seed=seed)
    direct, redacted = (baselines.SentenceReference(redacted=blank) for blank in (False, True))
    return {
        EXACT: lambda private: exact_plan(private, public),
        CLUSTERS: lambda private: _tell(clusters.themes(private.texts), public),
        DIRECT: lambda private: _quote(direct.summarize(private.texts), public),
        REDACTED: lambda private: _quote(redacted.summarize(private.texts), public),
    }


def exact_plan(private: Private, public: Public) -> Told:
    """The L strongest atoms of the exact sketch: what epsilon = infinity would admit. Guarantee: none."""
    masses = private.sketch.masses
    best = plans.top(masses, public.plan_size)
    themes = [baselines.Theme(public.universe.labels[j], float(masses[j])) for j in best]
    return Told(baselines.in_words(themes), _content(themes), frozenset(best.tolist()))


def measures(summary: Told, reference: Told, canary: Canary, public: Public) -> dict[str, float]:
    """All metrics of one summary. One that names nothing is as unlike the reference as can be: 0 by convention."""
    found = {"atoms_recovered": len(summary.atoms & reference.atoms) / len(reference.atoms)}
    found |= similarities(summary.content, reference.content, public.wording, public.encoder.embed)
    found["marked_secret_told"] = float(canary.marked.lower() in summary.text.lower())
    found["plain_secret_told"] = float(canary.plain in summary.text.lower())
    found["nothing_told"] = float(not summary.content)
    return found if summary.plan is None else found | verified(summary.plan, public)


def similarities(
    text: str,
    reference: str,
    representation: Representation,
    embed: Callable[[Sequence[str]], np.ndarray],
) -> dict[str, float]:
    """`SIMILARITIES` of a text with a reference text; all 0 by convention where the text is empty.

    The TF-IDF cosine is 0 too where public text has none of its words: a single digit is no word.
    `representation`: TF-IDF of public text; `embed`: n texts -> float[n, d]. Neither is empty: see `evaluation`.
    """
    if not text:
        return dict.fromkeys(SIMILARITIES, 0.0)
    extra = {"tfidf_cosine": representation, "embedding_cosine": embed}
    known = representation.transform([text]).nnz
    return {
        name: getattr(evaluation, name)(text, reference, *([extra[name]] if name in extra else []))
        if known or name != "tfidf_cosine"
        else 0.0
        for name in SIMILARITIES
    }


def verified(plan: plans.SemanticPlan, public: Public) -> dict[str, float]:
    """The verifier on the template's text of a plan: accepted or not, and with or without each kind of violation."""
    verdict = plans.verify(plans.template()(plan, ()), plan, public.universe)
    kinds = {violation.kind for violation in verdict.violations}
    return {
        "accepted": float(verdict.accepted),
        "unsupported_atom": float("atom" in kinds),
        "unsupported_comparison": float("comparison" in kinds),
    }


def nearest_atoms(themes: Sequence[baselines.Theme], public: Public) -> frozenset[int]:
    """The at most L atoms that released words point to: by the sum over themes of weight times TF-IDF cosine.

    Public: the universe's own representation. Only atoms of a positive score: words that no atom shares point nowhere.
    """
    if not themes:
        return frozenset()
    representation = public.universe.representation
    weights = np.array([max(0.0, theme.weight) for theme in themes])
    rows, atoms = (
        sparse.csr_array(representation.transform(texts))
        for texts in ([theme.text for theme in themes], public.universe.texts)
    )
    score = weights @ (rows @ atoms.T).toarray()
    best = np.argsort(-score, kind="stable")[: public.plan_size]
    return frozenset(int(j) for j in best if score[j] > 0)


def table(rows: pd.DataFrame, metrics: Sequence[str] = METRICS) -> pd.DataFrame:
    """Mean and sample standard deviation of the `metrics` as texts, one row a (method, epsilon)."""
    shown = rows[rows["metric"].isin(metrics)]
    cells = [f"{mean:.2f} ± {sd:.2f}" for mean, sd in zip(shown["mean"], shown["sd"], strict=True)]
    wide = shown.assign(cell=cells).pivot(index=["method", "epsilon"], columns="metric", values="cell")
    order = shown[["method", "epsilon"]].drop_duplicates().itertuples(index=False, name=None)
    return wide.loc[list(order), [metric for metric in metrics if metric in wide]]


def promises(epsilons: Sequence[float], delta: float) -> list[str]:
    """What each simulated release promises, and which methods promise nothing."""
    grid = ", ".join(f"{epsilon:g}" for epsilon in epsilons)
    shared = (
        f"epsilon in {{{grid}}}, unit record, relation add_drop; assuming idealized numerics, secret seed (simulation)"
    )
    return [
        *(f"{name}: at most (epsilon, {delta:g})-DP, {shared}" for name in PRIVATE),
        f"{', '.join(REFERENCES)}: none",
        "simulation on a public corpus: measures compare with the true sketch, so the table is no release",
    ]


def _with_canary(target: Selection, category: str, canary: Canary, public: Public) -> Private:
    more = plans.assign([canary.text], public.universe, public.sparsity)
    sketch = plans.record_sketch(sparse.vstack([target.vectors, more], format="csr"), public.universe.fingerprint)
    return Private((*target.corpus.texts, canary.text), (*target.corpus.attributes[category], ""), sketch)


def _urania(public: Public, epsilon: float, delta: float) -> baselines.UraniaStyle:
    return baselines.UraniaStyle(
        space=public.space, encoder=public.encoder, vocabulary=public.vocabulary, epsilon=epsilon, delta=delta
    )


def _quieter(kind: type, labels: tuple[str, ...], epsilon: float, delta: float) -> Any:
    """The histogram with the smaller noise at (epsilon, delta): Laplace or Gaussian; both deviations are public."""
    laplace, gaussian = kind(labels, epsilon, 0.0), kind(labels, epsilon, delta)
    noise = Simulation(0)
    return laplace if laplace.noise_std(noise) <= gaussian.noise_std(noise) else gaussian


def _tell(themes: Sequence[baselines.Theme], public: Public) -> Told:
    return Told(baselines.in_words(themes), _content(themes), nearest_atoms(themes, public))


def _tell_plan(plan: plans.SemanticPlan, public: Public) -> Told:
    themes = [baselines.Theme(atom.label, atom.mass) for atom in plan.atoms]
    atoms = frozenset(public.universe.labels.index(atom.label) for atom in plan.atoms)
    return Told(baselines.in_words(themes), _content(themes), atoms, plan)


def _quote(text: str, public: Public) -> Told:
    return Told(text, text, nearest_atoms([baselines.Theme(text, 1.0)], public))


def _content(themes: Sequence[baselines.Theme]) -> str:
    return "; ".join(theme.text for theme in themes)


def _spread(values: Sequence[float]) -> dict[str, float]:
    low, high = np.percentile(values, SPREAD)
    return {
        "mean": float(np.mean(values)),
        "sd": float(np.std(values, ddof=1)),
        "low": float(low),
        "high": float(high),
        "runs": len(values),
    }
