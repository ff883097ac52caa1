"""Released plans told by template, free text and structured claims: what is accepted when, and what is rejected."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib import plans
from privlib.dp import Simulation
from privlib.dp.audit import clopper_pearson
from privlib.experiments.studies.plans_baselines import SIMILARITIES, similarities
from privlib.plans.decoders import FORM, Decoder
from privlib.plans.verifier.check import KINDS

if TYPE_CHECKING:
    import pandas as pd

    from privlib.experiments.studies import plans_corpora
    from privlib.models import LanguageModel
    from privlib.plans.represent import Representation

TEMPLATE, LIKELIEST, DRAWN, CLAIMS = "template", "free-text-likeliest", "free-text-drawn", "structured-claims"
REASONS = (*KINDS, FORM)
MEASURES = ("attempts", "mention_rate", "words", *SIMILARITIES)  # of each plan's own text: mean and spread
_FAILURE = 0.025  # of each limit alone: 95 % intervals
_MODEL = 0.5  # another machine's arithmetic may turn a word, and from there on the rest of a text
ACCEPTANCE_BANDS = {column: ("abs", _MODEL) for column in ("accepted", "low", "high")}
REASON_BANDS = {"rejected": ("abs", _MODEL), "dropped": ("abs", 2.0)}
TEXT_BANDS = {
    **{name: ("abs", _MODEL) for name in ("accepted_first", "fallback", "mention_rate", "mention_rate_low")},
    **{name: ("abs", 1.0) for name in ("distinct", "attempts", "attempts_sd")},
    "words": ("rel", _MODEL),
    "words_sd": ("abs", 100.0),
    "mention_rate_sd": ("abs", _MODEL),
    **{f"{name}{column}": ("abs", 0.25) for name in SIMILARITIES for column in ("", "_sd")},
}


@dataclass(frozen=True)
class Case:
    """One released plan, and the plan of the true sketch to compare wording with (an experiment on public texts)."""

    plan: plans.SemanticPlan
    exact: plans.SemanticPlan


def cases(
    corpus: plans_corpora.Case, mechanism: plans.GaussianPlan, count: int, kept_share: float, seed: int
) -> list[Case]:
    """`count` simulated releases at record level, each of texts and noise of its own, beside its exact plan.

    A plan is made of the target texts that are kept with probability `kept_share` by hash of their ids. Over all texts
    of a large corpus the noise alone moves no decimal that a prompt shows, and a dozen plans would be one.
    """
    n, noise, told = round(kept_share * corpus.units("record")), Simulation(seed).child("plans told"), []
    for run in range(1, count + 1):
        sketch = corpus.select(n, run, "record").sketch(corpus.universe, "record")
        plan = mechanism.release(sketch, noise.child("plan"))
        told.append(Case(plan, exact(sketch, mechanism, plan)))
    return told


def exact(sketch: plans.Sketch, mechanism: plans.GaussianPlan, plan: plans.SemanticPlan) -> plans.SemanticPlan:
    """The plan's form with the true top atoms and masses in it. Guarantee: none, whatever the form says."""
    labels, described, best = mechanism.universe.labels, mechanism.universe.descriptions, {}
    for rank, j in enumerate(plans.top(sketch.masses, len(plan.atoms)).tolist(), 1):
        mass = float(sketch.masses[j])
        support = mass / plan.public_denominator
        name = plans.plan.bin_of(support, mechanism.bin_edges)
        best[rank] = plans.Atom(rank, labels[j], described[j], mass, support, name)
    return replace(plan, atoms=tuple(best.values()))


def decoders(
    model: LanguageModel, *, max_new_tokens: int, claim_tokens: int, temperature: float, atoms_at_once: int, seed: int
) -> dict[str, Decoder]:
    """The four decoders that are compared; `temperature` > 0 and `atoms_at_once` are those of (drawn) free text."""
    write = functools.partial(model.generate, max_new_tokens=max_new_tokens)
    return {
        TEMPLATE: plans.template(),
        LIKELIEST: plans.free_text(write, atoms_at_once),
        DRAWN: plans.free_text(functools.partial(write, temperature=temperature, seed=seed), atoms_at_once),
        CLAIMS: plans.structured_claims(functools.partial(model.generate, max_new_tokens=claim_tokens)),
    }


def tell(
    told: Sequence[Case], universe: plans.AtomUniverse, decoders: Mapping[str, Decoder], max_attempts: int
) -> dict[str, list[plans.Report]]:
    """One report a plan, by decoder."""
    return {
        name: [plans.report(case.plan, decoder, universe, max_attempts) for case in told]
        for name, decoder in decoders.items()
    }


def acceptance(reports: Mapping[str, Sequence[plans.Report]], max_attempts: int) -> pd.DataFrame:
    """One row a (decoder, attempt): share of the plans that have an accepted text by then.

    low, high: 95 % Clopper-Pearson limits of that share over plans drawn like these from the same corpus.
    """
    import pandas as pd

    rows = []
    for name, given in reports.items():
        needed = [len(report.attempts) if not report.fallback else np.inf for report in given]
        for attempt in range(1, max_attempts + 1):
            hits = sum(n <= attempt for n in needed)
            low, high = clopper_pearson(hits, len(given), _FAILURE)
            key = {"decoder": name, "attempt": attempt, "plans": len(given)}
            rows.append(key | {"accepted": hits / len(given), "low": low, "high": high})
    return pd.DataFrame(rows)


def reasons(reports: Mapping[str, Sequence[plans.Report]]) -> pd.DataFrame:
    """One row a (decoder, kind of violation).

    rejected: share of the attempts whose text has it; dropped: claims of the kind left out, per attempt.
    """
    import pandas as pd

    rows = []
    for name, given in reports.items():
        attempts = [attempt for report in given for attempt in report.attempts]
        dropped = Counter(violation.kind for attempt in attempts for violation in attempt.dropped)
        for kind in REASONS:
            having = [any(v.kind == kind for v in attempt.verdict.violations) for attempt in attempts]
            rejected = float(np.mean(having))
            rows.append({"decoder": name, "kind": kind, "rejected": rejected, "dropped": dropped[kind] / len(attempts)})
    return pd.DataFrame(rows)


def texts(
    told: Sequence[Case],
    reports: Mapping[str, Sequence[plans.Report]],
    representation: Representation,
    embed: Callable[[Sequence[str]], np.ndarray],
) -> pd.DataFrame:
    """One row a decoder over the plans' last own texts, accepted or not: never the fallback's.

    distinct: how many different texts the first attempts gave, at most the number of different prompts, so of plans
    that count as observations of a decoder. accepted_first, fallback: shares of the reports. Mean and sample standard
    deviation (_sd) over at least 2 plans of the number of attempts, of mention_rate (share of the admitted atoms that
    the text names; _low: of the worst plan), of words, and of the `SIMILARITIES` of the whole text with the template's
    text of the exact plan, by the public `representation` and encoder `embed`.
    """
    import pandas as pd

    if len(told) < 2:
        raise ValueError(f"told must hold at least 2 plans for a spread, got {len(told)}")
    rows = []
    for name, given in reports.items():
        measured = [_measured(*pair, representation, embed) for pair in zip(given, told, strict=True)]
        columns = {measure: np.array([one[measure] for one in measured]) for measure in MEASURES}
        row: dict[str, object] = {
            "decoder": name,
            "plans": len(given),
            "distinct": len({report.attempts[0].text for report in given}),
            "accepted_first": float(np.mean([report.attempts[0].verdict.accepted for report in given])),
            "fallback": float(np.mean([report.fallback for report in given])),
            "mention_rate_low": float(columns["mention_rate"].min()),
        }
        for measure, column in columns.items():
            row |= {measure: float(column.mean()), f"{measure}_sd": float(column.std(ddof=1))}
        rows.append(row)
    return pd.DataFrame(rows)


def _measured(
    report: plans.Report, case: Case, representation: Representation, embed: Callable[[Sequence[str]], np.ndarray]
) -> dict[str, float]:
    """`MEASURES` of one report's last own text."""
    text, reference = report.attempts[-1].text, plans.template()(case.exact, ())
    return {
        "attempts": float(len(report.attempts)),
        "mention_rate": len(plans.mentioned(text, case.plan)) / len(case.plan.atoms),
        "words": float(len(text.split())),
        **similarities(text, reference, representation, embed),
    }


def shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Of acceptance rows: share and interval as texts, one row a decoder, a column an attempt."""
    cells = [
        f"{share:.2f} [{low:.2f}, {high:.2f}]"
        for share, low, high in zip(rows["accepted"], rows["low"], rows["high"], strict=True)
    ]
    wide = rows.assign(cell=cells).pivot(index=["decoder", "plans"], columns="attempt", values="cell")
    return wide.loc[list(rows[["decoder", "plans"]].drop_duplicates().itertuples(index=False, name=None))]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Of text rows: mean and sample standard deviation of the `MEASURES` as texts, one row a decoder."""
    cells = {
        name: [f"{mean:.2f} ± {sd:.2f}" for mean, sd in zip(rows[name], rows[f"{name}_sd"], strict=True)]
        for name in MEASURES
    }
    return rows[["decoder", "plans", "distinct"]].assign(**cells).set_index("decoder")


def shown(reports: Sequence[plans.Report]) -> tuple[str, plans.Attempt | None]:
    """For the page: the first accepted text of a decoder ("" if there is none) and the first rejected attempt."""
    accepted = next((report.text for report in reports if not report.fallback), "")
    attempts = [attempt for report in reports for attempt in report.attempts]
    return accepted, next((attempt for attempt in attempts if not attempt.verdict.accepted), None)
