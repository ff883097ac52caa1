"""Structured claims: a language model returns JSON, what the plan supports of it becomes the text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privlib.plans.decoders.asking import Generate, asked, check_atoms_at_once, grouped
from privlib.plans.decoders.attempts import FORM, Attempt, Candidate, Decoder, feedback
from privlib.plans.decoders.claims import Malformed, parse
from privlib.plans.decoders.sentences import reading, supported_comparisons
from privlib.plans.plan import Atom, SemanticPlan
from privlib.plans.verifier import Violation

_ASKED = ("value", "bin", "rank", "comparison")  # in turn, one type a prompt: small models mix up several


def structured_claims(generate: Generate, atoms_at_once: int = 1) -> Decoder:
    """A decoder that has a language model state typed claims and tells those that the plan supports.

    For every few atoms the model is asked for claims (`claims_prompt`); the answer is parsed strictly, each claim
    is held against the plan, and the sentences of those that hold make the text. An attempt is rejected when an
    answer is not JSON or no claim at all is supported. Then answers without a supported claim are asked for again
    with feedback, for values now; the others stay. Claims left out stand in `Candidate.dropped`. No answer raises.
    `generate`, `atoms_at_once`: as for `free_text`, and the same ValueErrors; a model of 135 million parameters
    copies one object well and drifts in lists.
    Source: DP-SPIN, Appendix C.7 names such a decoder and reports no results; all of this one is ours.
    """
    check_atoms_at_once(atoms_at_once)

    def decode(plan: SemanticPlan, attempts: tuple[Attempt, ...]) -> Candidate:
        groups, turn = grouped(plan, atoms_at_once), len(attempts)
        kept = attempts[-1].answers if attempts else ()
        before = [told(answer, plan) for answer in kept] or [Told()] * len(groups)
        prompts = {
            k: [claims_prompt(plan, groups[k], _type(k, turn), turn, feedback("", found.complaints))]
            for k, found in enumerate(before)
            if not found.sentences
        }
        answers = asked(generate, prompts, kept, len(groups))
        found = [told(answer, plan) for answer in answers]
        sentences = dict.fromkeys(sentence for part in found for sentence in part.sentences)
        faults = tuple(fault for part in found for fault in part.faults)
        return Candidate(
            "\n".join([*sentences, reading(plan)]) + "\n",
            answers,
            faults if faults or sentences else (Violation(FORM, (0, 0), "no claim is supported"),),
            dropped=tuple(claim for part in found for claim in part.dropped),
        )

    return decode


@dataclass(frozen=True)
class Told:
    """One answer: sentences of its supported claims, a fault (kind "form") if it is not JSON, claims left out."""

    sentences: tuple[str, ...] = ()
    faults: tuple[Violation, ...] = ()
    dropped: tuple[Violation, ...] = ()

    @property
    def complaints(self) -> tuple[Violation, ...]:
        return (*self.faults, *self.dropped)


def told(answer: str, plan: SemanticPlan) -> Told:
    """What one answer of the model comes to."""
    try:
        claims, odd = parse(answer)
    except Malformed as error:
        return Told(faults=(Violation(FORM, (0, 0), str(error)),))
    reasons = [(claim, claim.unsupported(plan)) for claim in claims]
    sentences = tuple(claim.sentence() for claim, reason in reasons if reason is None)
    dropped = (*odd, *(reason for _, reason in reasons if reason is not None))
    return Told(sentences, dropped=dropped)


def claims_prompt(plan: SemanticPlan, atoms: Sequence[Atom], type: str, attempt: int = 0, complaint: str = "") -> str:
    """What the model is asked about a few atoms: supported claims of one type ("value" where there are none).

    `complaint` is the feedback on the attempt before number `attempt`, kept short and on the line of the task:
    small models repeat whatever stands by itself.
    """
    claims = _supported(plan, atoms, type) or _supported(plan, atoms, "value")
    lines = "\n".join(json.dumps(claim, ensure_ascii=False) for claim in claims)
    mistake = f"Answer {attempt} was wrong: {' '.join(complaint.split())} " if attempt else ""
    return f"{mistake}Repeat this JSON and nothing else.\n\n{lines}"


def _type(group: int, attempt: int) -> str:
    return "value" if attempt else _ASKED[group % len(_ASKED)]


def _supported(plan: SemanticPlan, atoms: Sequence[Atom], type: str) -> list[dict[str, Any]]:
    if type == "comparison":
        own = {atom.label for atom in atoms}
        pairs = [pair for pair in supported_comparisons(plan) if pair[0] in own]
        return [{"claim": type, "more": more, "less": less} for more, less in pairs]
    if type == "rank":
        return [{"claim": type, "theme": atom.label, "rank": atom.rank} for atom in atoms]
    if type == "bin":
        return [{"claim": type, "theme": atom.label, "bin": atom.bin} for atom in atoms]
    return [{"claim": type, "theme": atom.label, "percent": round(100 * atom.support, 1)} for atom in atoms]
