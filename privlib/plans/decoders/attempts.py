"""Text from a plan, tried a few times, verified each time, with a fallback that always holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privlib.dp import checks
from privlib.plans.decoders.sentences import template
from privlib.plans.plan import SemanticPlan
from privlib.plans.verifier import Verdict, Violation, verify
from privlib.plans.verifier.mentions import FOREIGN, Index
from privlib.plans.verifier.tokens import tokenize

MAX_ATTEMPTS = 3
FORM = "form"  # the kind of fault that is no claim: no JSON, no text, no theme
_SAID = 3  # violations that a feedback names
_QUOTED = 40  # characters of a rejected passage that a feedback repeats


@dataclass(frozen=True)
class Candidate:
    """What a decoder offers.

    `text`: what the verifier reads. `answers`: what a model wrote to get there. `faults`: why the decoder itself
    refuses the text (kind "form"); `dropped`: claims it left out of the text since the plan does not support them.
    """

    text: str
    answers: tuple[str, ...] = ()
    faults: tuple[Violation, ...] = ()
    dropped: tuple[Violation, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """One candidate with the verdict on it and `feedback`, which sums up the violations and dropped claims.

    See `Candidate` for the rest. All of it is a function of the plan, public rules and the decoder's own coins.
    """

    text: str
    verdict: Verdict
    feedback: str = ""
    answers: tuple[str, ...] = ()
    dropped: tuple[Violation, ...] = ()


Decoder = Callable[[SemanticPlan, tuple[Attempt, ...]], "str | Candidate"]
"""Text from a plan and the rejected attempts before (each with verdict and feedback): all it may depend on."""


@dataclass(frozen=True)
class Report:
    """The released `text`, all `attempts` in order, and whether the `fallback` had to be taken."""

    text: str
    attempts: tuple[Attempt, ...]
    fallback: bool


def report(
    plan: SemanticPlan, decoder: Decoder, universe: Sequence[str] | None = None, max_attempts: int = MAX_ATTEMPTS
) -> Report:
    """Post-processing of a plan: the first candidate that is accepted, else the template's text.

    Accepted is a text with a word in it, without a fault that its decoder found, that the verifier accepts.
    `decoder`: see `Decoder`; `universe`: public labels for the verifier; `max_attempts` R_max >= 1, public.
    The protected texts are not among the arguments, so the plan's guarantee covers the report and every attempt
    (Theorem 5.8). Raises ValueError for `max_attempts` < 1, and when not even the template's text verifies;
    TypeError for a plan, a decoder or a candidate of another type. Source: DP-SPIN, Section 4.3.
    """
    if not isinstance(plan, SemanticPlan):
        raise TypeError(f"plan must be a SemanticPlan, got {type(plan).__name__}")
    if not callable(decoder) or decoder is template:
        got = "template without its call" if decoder is template else type(decoder).__name__
        raise TypeError(f"decoder must be a Decoder such as template(), got {got}")
    if isinstance(max_attempts, bool) or not isinstance(max_attempts, int) or max_attempts < 1:
        raise ValueError(f"max_attempts must be an integer of at least 1, got {max_attempts!r}")
    attempts: tuple[Attempt, ...] = ()
    while len(attempts) < max_attempts:
        attempts = (*attempts, _judged(decoder(plan, attempts), plan, universe))
        if attempts[-1].verdict.accepted:
            return Report(attempts[-1].text, attempts, fallback=False)
    text = template()(plan, ())
    verdict = verify(text, plan, universe)
    if not verdict.accepted:
        kinds = sorted({violation.kind for violation in verdict.violations})
        raise ValueError(f"plan must have a template text that verifies, got violations of kind {kinds}")
    return Report(text, attempts, fallback=True)


def feedback(text: str, violations: Sequence[Violation]) -> str:
    """Complaints for the next attempt, one a line: the first few distinct ones, each with the passage it is about."""
    said = []
    for violation in violations:
        passage = " ".join(text[slice(*violation.span)].split())[:_QUOTED]
        complaint = f"{passage}: {violation.message}." if passage else f"{violation.message}."
        if complaint not in said:
            said.append(complaint)
    return "\n".join(said[:_SAID])


def mentioned(text: str, plan: SemanticPlan) -> tuple[str, ...]:
    """Labels of the plan that a text names, by rank: quoted, in full, by description or in a close paraphrase."""
    checks.instance("text", text, str)
    checks.instance("plan", plan, SemanticPlan)
    index = Index.build([(atom.label, atom.description) for atom in plan.atoms], ())
    found = {mention.atom for mention in index.find(tokenize(text), text)} - {FOREIGN}
    return tuple(plan.atoms[k].label for k in sorted(found))


def _judged(offered: str | Candidate, plan: SemanticPlan, universe: Sequence[str] | None) -> Attempt:
    if isinstance(offered, str):
        offered = Candidate(offered)
    if not isinstance(offered, Candidate):
        raise TypeError(f"decoder must return a str or a Candidate, got {type(offered).__name__}")
    faults = offered.faults
    if not faults and not any(character.isalnum() for character in offered.text):
        faults = (Violation(FORM, (0, 0), "the answer has no text"),)
    violations = (*faults, *verify(offered.text, plan, universe).violations)
    found = tuple(sorted(violations, key=lambda violation: violation.span))
    said = feedback(offered.text, (*found, *offered.dropped))
    return Attempt(offered.text, Verdict(not found, found), said, offered.answers, offered.dropped)
