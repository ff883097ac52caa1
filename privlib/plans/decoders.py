"""Stage III of DP-SPIN: text from a plan, tried a few times, verified each time, with a fallback that always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privlib.plans.plan import SemanticPlan
from privlib.plans.verifier import Verdict, verify

MAX_ATTEMPTS = 3

Decoder = Callable[[SemanticPlan, "tuple[Attempt, ...]"], str]
"""Text from a plan and the rejected attempts before (each with its verdict): all it may depend on."""


@dataclass(frozen=True)
class Attempt:
    """One candidate text with the verifier's verdict on it."""

    text: str
    verdict: Verdict


@dataclass(frozen=True)
class Report:
    """The released `text`, all `attempts` in order, and whether the `fallback` had to be taken."""

    text: str
    attempts: tuple[Attempt, ...]
    fallback: bool


def report(
    plan: SemanticPlan, decoder: Decoder, universe: Sequence[str] | None = None, max_attempts: int = MAX_ATTEMPTS
) -> Report:
    """Post-processing of a plan: the first candidate that the verifier accepts, else the template's text.

    `decoder`: see `Decoder`; `universe`: public labels for the verifier; `max_attempts` R_max >= 1, public.
    The protected texts are not among the arguments, so the plan's guarantee covers the report (Theorem 5.8).
    Raises ValueError for `max_attempts` < 1, and when not even the template's text verifies.
    Source: DP-SPIN, Section 4.3.
    """
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int) or max_attempts < 1:
        raise ValueError(f"max_attempts must be an integer of at least 1, got {max_attempts!r}")
    attempts: tuple[Attempt, ...] = ()
    while len(attempts) < max_attempts:
        text = decoder(plan, attempts)
        attempts = (*attempts, Attempt(text, verify(text, plan, universe)))
        if attempts[-1].verdict.accepted:
            return Report(text, attempts, fallback=False)
    text = template()(plan, ())
    verdict = verify(text, plan, universe)
    if not verdict.accepted:
        kinds = sorted({violation.kind for violation in verdict.violations})
        raise ValueError(f"plan must have a template text that verifies, got violations of kind {kinds}")
    return Report(text, attempts, fallback=True)


def template() -> Decoder:
    """The deterministic decoder: one plan, one text, every sentence a claim that the plan supports."""

    def decode(plan: SemanticPlan, attempts: tuple[Attempt, ...]) -> str:
        promise = plan.guarantee
        lines = [
            f"Semantic plan of {len(plan.atoms)} themes admitted from a public list of {plan.universe_size} themes; "
            "all values are noisy.",
            f"Guarantee: epsilon {promise.epsilon!r}, delta {promise.delta!r}, unit {promise.unit}, "
            f"relation {promise.relation}. Public denominator {plan.public_denominator!r}.",
        ]
        lines += [
            f"{atom.rank}. “{atom.label}”: mass {atom.mass:.1f}, support {100 * atom.support:.2f}%, bin {atom.bin}."
            for atom in plan.atoms
        ]
        if plan.atoms:
            lines.append(f"The most supported theme is “{plan.atoms[0].label}”.")
        lines += [f"“{more}” has more support than “{less}”." for more, less in supported_comparisons(plan)]
        return "\n".join(lines) + "\n"

    return decode


def supported_comparisons(plan: SemanticPlan) -> list[tuple[str, str]]:
    """For each atom the nearest lower-ranked one that it exceeds by the margin, as pairs of labels."""
    pairs = []
    for k, atom in enumerate(plan.atoms):
        below = (other for other in plan.atoms[k + 1 :] if atom.mass - other.mass >= plan.comparison_margin)
        nearest = next(below, None)
        if nearest is not None:
            pairs.append((atom.label, nearest.label))
    return pairs
