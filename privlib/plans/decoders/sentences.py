"""The deterministic decoder: sentences that the plan supports, one by one."""

from __future__ import annotations

from collections.abc import Callable

from privlib.plans.plan import Atom, SemanticPlan


def template() -> Callable[[SemanticPlan, tuple], str]:
    """The deterministic decoder: one plan, one text, every sentence a claim that the plan supports."""

    def decode(plan: SemanticPlan, attempts: tuple) -> str:
        lines = [heading(plan), reading(plan)]
        lines += [
            f"{atom.rank}. “{atom.label}”: mass {atom.mass:.1f}, support {percent(atom)}%, bin {atom.bin}."
            for atom in plan.atoms
        ]
        if plan.atoms:
            lines.append(f"The most supported theme is “{plan.atoms[0].label}”.")
        lines += [f"“{more}” has more support than “{less}”." for more, less in supported_comparisons(plan)]
        return "\n".join(lines) + "\n"

    return decode


def heading(plan: SemanticPlan) -> str:
    """How many themes of how many, and the guarantee."""
    promise = plan.guarantee
    return (
        f"Semantic plan of {len(plan.atoms)} themes admitted from a public list of {plan.universe_size} themes; "
        f"all values are noisy.\nGuarantee: epsilon {promise.epsilon!r}, delta {promise.delta!r}, "
        f"unit {promise.unit}, relation {promise.relation}."
    )


def reading(plan: SemanticPlan) -> str:
    """How to read a support; every decoder's text says it, since "support 3%" invites the wrong reading."""
    return (
        f"A support is a noisy mass over the public denominator {plan.public_denominator!r}, "
        "not a share of the protected texts."
    )


def percent(atom: Atom) -> str:
    """The support in per cent with two decimals, without the sign."""
    return f"{100 * atom.support:.2f}"


def supported_comparisons(plan: SemanticPlan) -> list[tuple[str, str]]:
    """For each atom the nearest lower-ranked one that it exceeds by the margin, as pairs of labels."""
    pairs = []
    for k, atom in enumerate(plan.atoms):
        below = (other for other in plan.atoms[k + 1 :] if atom.mass - other.mass >= plan.comparison_margin)
        nearest = next(below, None)
        if nearest is not None:
            pairs.append((atom.label, nearest.label))
    return pairs
