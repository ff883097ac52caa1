"""Released plans told by template, free text and structured claims: what is accepted when, and what is rejected."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from privlib import evaluation, plans
from privlib.dp import Simulation
from privlib.plans.decoders import FORM, Decoder
from privlib.plans.verifier.check import KINDS

if TYPE_CHECKING:
    import pandas as pd

    from privlib.models import LanguageModel

TEMPLATE, LIKELIEST, DRAWN, CLAIMS = "template", "free-text-likeliest", "free-text-drawn", "structured-claims"
REASONS = (*KINDS, FORM)
_MODEL = 0.5  # another machine's arithmetic may turn a word, and from there on the rest of a text
ACCEPTANCE_BANDS = {"accepted": ("abs", _MODEL)}
REASON_BANDS = {"rejected": ("abs", _MODEL), "dropped": ("abs", 2.0)}
TEXT_BANDS = {
    **{name: ("abs", _MODEL) for name in ("accepted_first", "fallback", "mention_rate", "mention_rate_low")},
    "attempts": ("abs", 1.0),
    "words": ("rel", _MODEL),
    **{name: ("abs", 0.25) for name in ("token_jaccard", "keyphrase_jaccard")},
}


@dataclass(frozen=True)
class Case:
    """One released plan, and the plan of the true sketch to compare wording with (an experiment on public texts)."""

    plan: plans.SemanticPlan
    exact: plans.SemanticPlan


def cases(sketch: plans.Sketch, mechanism: plans.GaussianPlan, count: int, seed: int) -> list[Case]:
    """`count` independent simulated releases of one sketch, each beside the exact plan."""
    noise = Simulation(seed).child("plans told")
    released = [mechanism.release(sketch, noise) for _ in range(count)]
    return [Case(plan, exact(sketch, mechanism, plan)) for plan in released]


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
    """One row a (decoder, attempt): share of the plans that have an accepted text by then."""
    import pandas as pd

    rows = []
    for name, given in reports.items():
        needed = [len(report.attempts) if not report.fallback else np.inf for report in given]
        for attempt in range(1, max_attempts + 1):
            accepted = float(np.mean([n <= attempt for n in needed]))
            rows.append({"decoder": name, "attempt": attempt, "plans": len(given), "accepted": accepted})
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


def texts(told: Sequence[Case], reports: Mapping[str, Sequence[plans.Report]]) -> pd.DataFrame:
    """One row a decoder, means over the plans of the last attempt's text, accepted or not: never the fallback's.

    mention_rate: share of the admitted atoms that it names (_low: of the worst plan); words; and the Jaccard indices
    of its words and key phrases with the template's text of the exact plan. accepted_first, attempts, fallback: of
    the reports.
    """
    import pandas as pd

    rows = []
    for name, given in reports.items():
        last = [report.attempts[-1].text for report in given]
        pairs = [(text, plans.template()(case.exact, ())) for text, case in zip(last, told, strict=True)]
        named = [len(plans.mentioned(t, c.plan)) / len(c.plan.atoms) for t, c in zip(last, told, strict=True)]
        rows.append(
            {
                "decoder": name,
                "plans": len(given),
                "accepted_first": float(np.mean([report.attempts[0].verdict.accepted for report in given])),
                "attempts": float(np.mean([len(report.attempts) for report in given])),
                "fallback": float(np.mean([report.fallback for report in given])),
                "mention_rate": float(np.mean(named)),
                "mention_rate_low": float(min(named)),
                "words": float(np.mean([len(text.split()) for text in last])),
                "token_jaccard": float(np.mean([evaluation.token_jaccard(*pair) for pair in pairs])),
                "keyphrase_jaccard": float(np.mean([evaluation.keyphrase_jaccard(*pair) for pair in pairs])),
            }
        )
    return pd.DataFrame(rows)


def shown(reports: Sequence[plans.Report]) -> tuple[str, plans.Attempt | None]:
    """For the page: the first accepted text of a decoder ("" if there is none) and the first rejected attempt."""
    accepted = next((report.text for report in reports if not report.fallback), "")
    attempts = [attempt for report in reports for attempt in report.attempts]
    return accepted, next((attempt for attempt in attempts if not attempt.verdict.accepted), None)
