"""Typed claims: what a model may say of a plan in JSON, whether the plan supports it, and the sentence it becomes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privlib.plans.decoders.attempts import FORM
from privlib.plans.plan import SemanticPlan
from privlib.plans.verifier import Violation

TYPES = {  # claim to its other keys, each with what it holds
    "atom": {"theme": "label"},
    "value": {"theme": "label", "percent": "number"},
    "bin": {"theme": "label", "bin": "word"},
    "comparison": {"more": "label", "less": "label"},
    "rank": {"theme": "label", "rank": "number"},
}
_NUMBER = re.compile(r"\d{1,9}(\.\d{1,9})?")
_NO_JSON = "it was not JSON alone"
_NOWHERE = (0, 0)  # a claim that was left out of the text has no place in it
_SHOWN = 60  # characters of a model's words that a message repeats


class _Digits(str):
    """A number of the JSON as it was written, so that "3.0" is told from "3" and nothing overflows."""

    __slots__ = ()


class Malformed(ValueError):
    """The answer is not claims in JSON; the message is public feedback."""


@dataclass(frozen=True)
class Claim:
    """One claim: `type` of `TYPES`, `said` its other keys with numbers as they were written."""

    type: str
    said: dict[str, str]

    def unsupported(self, plan: SemanticPlan) -> Violation | None:
        """Why the plan does not support the claim (rules i to iv of DP-SPIN, Definition 3.7); None if it does."""
        atoms = {atom.label: atom for atom in plan.atoms}
        for key, holds in TYPES[self.type].items():
            if holds == "label" and self.said[key] not in atoms:
                return Violation("atom", _NOWHERE, f"{_shown(self.said[key])} is not in the plan")
        if self.type == "comparison":
            more, less = atoms[self.said["more"]], atoms[self.said["less"]]
            if more is less or more.mass - less.mass < plan.comparison_margin:
                return Violation("comparison", _NOWHERE, f"{more.label!r} does not exceed {less.label!r} by the margin")
            return None
        atom = atoms[self.said["theme"]]
        if self.type == "value" and not _rounds_to(100 * Fraction(repr(float(atom.support))), self.said["percent"]):
            return Violation(
                "number", _NOWHERE, f"the released support of {atom.label!r} is not {self.said['percent']}%"
            )
        if self.type == "bin" and self.said["bin"] != atom.bin:
            return Violation("bin", _NOWHERE, f"the released bin of {atom.label!r} differs")
        if self.type == "rank" and self.said["rank"] != str(atom.rank):
            return Violation("rank", _NOWHERE, f"the released ranks do not give this to {atom.label!r}")
        return None

    def sentence(self) -> str:
        """The claim in words that the verifier reads as the same claim."""
        said = self.said
        return {
            "atom": "“{theme}” is one of the themes.",
            "value": "“{theme}” has a support of {percent}%.",
            "bin": "The bin of “{theme}” is {bin}.",
            "comparison": "“{more}” has more support than “{less}”.",
            "rank": "“{theme}” has rank {rank}.",
        }[self.type].format(**said)


def parse(answer: str) -> tuple[list[Claim], list[Violation]]:
    """Claims of an answer, and a violation of kind "form" for each object that is no claim.

    An answer is a JSON list of objects or one JSON object a line (a comma may end a line), and nothing else. An
    object must have exactly the keys of one of `TYPES`. Raises Malformed, and nothing else, for any other string.
    """
    claims, odd = [], []
    for item in _objects(answer):
        claim = _claim(item)
        if isinstance(claim, Claim):
            claims.append(claim)
        else:
            odd.append(Violation(FORM, _NOWHERE, claim))
    return claims, odd


def _objects(answer: str) -> list[Any]:
    text = answer.strip()
    try:
        found = _read(text)
    except ValueError:
        try:
            return [_read(line.strip().removesuffix(",")) for line in text.splitlines() if line.strip()] or [_read("")]
        except ValueError:
            raise Malformed(_NO_JSON) from None
    return found if isinstance(found, list) else [found]


def _read(text: str) -> Any:
    try:
        return json.loads(text, parse_float=_Digits, parse_int=_Digits, parse_constant=_refuse, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _once(pairs: list[tuple[str, Any]]) -> Any:
    """An object whose keys differ; else None, which is no claim."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else None


def _claim(item: Any) -> Claim | str:
    """The claim, or what is wrong with the object."""
    if not isinstance(item, dict):
        return "each claim must be a JSON object with distinct keys"
    said = dict(item)
    name = said.pop("claim", None)
    if not isinstance(name, str) or name not in TYPES:
        return f"claim must be one of {', '.join(TYPES)}"
    shape = TYPES[name]
    if said.keys() != shape.keys():
        return f"claim {name} must have the keys {' and '.join(shape)}"
    for key, holds in shape.items():
        value = said[key]
        fits = bool(_NUMBER.fullmatch(value)) if isinstance(value, _Digits) else isinstance(value, str)
        if not fits or isinstance(value, _Digits) != (holds == "number"):
            return f"{key} of claim {name} must be a {holds}"
    return Claim(name, {key: str(value) for key, value in said.items()})


def _rounds_to(value: Fraction, digits: str) -> bool:
    """Whether `value` rounds to a number written with that many decimals."""
    decimals = len(digits.partition(".")[2])
    return abs(value - Fraction(digits)) <= Fraction(1, 2 * 10**decimals)


def _shown(words: str) -> str:
    return repr(words if len(words) <= _SHOWN else f"{words[:_SHOWN]}...")
