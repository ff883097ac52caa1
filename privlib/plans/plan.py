"""The released object: all that decoder, verifier and reader ever see of the protected texts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise, product
from types import MappingProxyType
from typing import Any

from privlib.dp import Guarantee, checks
from privlib.plans.universe import check_labels

SCHEMA = 1
LOWEST_BIN = "trace"
DEFAULT_BIN_EDGES: Mapping[str, float] = MappingProxyType({"low": 0.02, "moderate": 0.05, "high": 0.1})
_ASSUMING = "assuming "
SELECTIONS = ("rounds", "one_shot", "permute_and_flip")
ACCOUNTINGS = ("basic", "zcdp")
_ROUNDING = 1e-9
_LARGEST = 2**53


def admission_name(selection: str, monotone: bool, accounting: str) -> str:
    """Mechanism name of a plan by private admission; "private_topL" alone is the paper's."""
    parts = (selection if selection != "rounds" else "", "monotone" if monotone else "", accounting)
    return "_".join(["private_topL", *(part for part in parts if part and part != "basic")])


_LAWS = {"gaussian": "gaussian", "laplace": "laplace"} | {
    admission_name(*settings): "gaussian" for settings in product(SELECTIONS, (False, True), ACCOUNTINGS)
}


@dataclass(frozen=True)
class Noise:
    """Law of the noise in the masses and its scale: standard deviation (gaussian) or b (laplace)."""

    law: str
    scale: float

    def __post_init__(self) -> None:
        if not isinstance(self.law, str) or self.law not in ("gaussian", "laplace"):
            raise ValueError(f"noise law must be 'gaussian' or 'laplace', got {self.law!r}")
        _number("noise scale", self.scale, above=0.0)


@dataclass(frozen=True)
class Atom:
    """One admitted atom: public label and description, rank, raw noisy mass, support, bin."""

    rank: int
    label: str
    description: str
    mass: float
    support: float
    bin: str


@dataclass(frozen=True)
class SemanticPlan:
    """A private release: admitted atoms by rank, and the public settings to read them with.

    `mass` is the raw noisy mass (it may be negative), `support` = max(0, mass) / `public_denominator` (it may
    exceed one, and is not a fraction of records), `bin` the highest edge at or below the support. `rank` 1 is the
    largest mass. `noise`, `bin_edges` are None, `composition` empty, where a plan was read without them.
    Raises ValueError on ranks other than 1..len(atoms), labels that repeat, numbers that are not finite.
    Source: DP-SPIN, Section 3.4 and Algorithm 2.
    """

    mechanism: str
    guarantee: Guarantee
    public_denominator: float
    universe_size: int
    plan_size: int
    comparison_margin: float
    atoms: tuple[Atom, ...]
    noise: Noise | None = None
    bin_edges: Mapping[str, float] | None = field(default_factory=lambda: DEFAULT_BIN_EDGES)

    def __post_init__(self) -> None:
        checks.instance("mechanism", self.mechanism, str)
        checks.instance("guarantee", self.guarantee, Guarantee)
        if self.noise is not None:
            checks.instance("noise", self.noise, Noise)
        for atom in checks.sequence("atoms", self.atoms, "Atoms"):
            checks.instance("atoms", atom, Atom)
        atoms = tuple(sorted(self.atoms, key=lambda atom: atom.rank))
        if [atom.rank for atom in atoms] != list(range(1, len(atoms) + 1)):
            raise ValueError(f"atoms must have the ranks 1 to {len(atoms)}, got {[atom.rank for atom in atoms]}")
        check_labels([atom.label for atom in atoms])
        for atom in atoms:
            _number("mass", atom.mass)
            _number("support", atom.support, at_least=0.0)
        _number("public_denominator", self.public_denominator, above=0.0)
        _number("comparison_margin", self.comparison_margin, at_least=0.0)
        if not len(atoms) <= checks.whole("plan_size", self.plan_size, at_least=0):
            raise ValueError(f"plan_size must be at least the number of atoms {len(atoms)}, got {self.plan_size}")
        if not self.plan_size <= checks.whole("universe_size", self.universe_size, at_least=0):
            raise ValueError(f"universe_size must be at least plan_size {self.plan_size}, got {self.universe_size}")
        object.__setattr__(self, "atoms", atoms)
        if self.bin_edges is not None:
            object.__setattr__(self, "bin_edges", checked_edges(self.bin_edges))

    @property
    def composition(self) -> tuple[str, ...]:
        """What was composed into the guarantee, in order."""
        return self.guarantee.composed

    def to_json(self) -> str:
        """The plan as JSON, schema 1, sorted by rank; assumptions stand in `composition` after "assuming "."""
        promise = self.guarantee
        composition = [*promise.composed, *(_ASSUMING + name for name in promise.assumptions)]
        shown: dict[str, Any] = {
            "schema": SCHEMA,
            "mechanism": self.mechanism,
            "guarantee": {
                "epsilon": promise.epsilon,
                "delta": promise.delta,
                "unit": promise.unit,
                "relation": promise.relation,
            },
        }
        if self.noise is not None:
            shown["noise"] = {"law": self.noise.law, "scale": self.noise.scale}
        if composition:
            shown["composition"] = composition
        shown |= {
            "public_denominator": self.public_denominator,
            "universe_size": self.universe_size,
            "plan_size": self.plan_size,
            "comparison_margin": self.comparison_margin,
        }
        if self.bin_edges is not None:
            shown["bin_edges"] = dict(self.bin_edges)
        shown["atoms"] = [
            {
                "rank": atom.rank,
                "label": atom.label,
                "description": atom.description,
                "mass": atom.mass,
                "support": atom.support,
                "bin": atom.bin,
            }
            for atom in self.atoms
        ]
        return json.dumps(shown, ensure_ascii=False, allow_nan=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> SemanticPlan:
        """Read a plan; `noise`, `composition`, `bin_edges`, `plan_size` may be missing.

        Raises ValueError on text that is not JSON, another schema, unknown, missing or repeated keys, wrong types,
        NaN, a mechanism of no known name, and on values that disagree: masses against ranks, supports, bins, noise
        against mechanism.
        """
        found = _keys(
            "plan",
            _parsed(text),
            {
                "schema": int,
                "mechanism": str,
                "guarantee": dict,
                "public_denominator": float,
                "universe_size": int,
                "comparison_margin": float,
                "atoms": list,
            },
            {"noise": dict, "composition": list, "bin_edges": dict, "plan_size": int},
        )
        if found["schema"] != SCHEMA:
            raise ValueError(f"schema must be {SCHEMA}, got {found['schema']!r}")
        promise = _keys(
            "guarantee", found["guarantee"], {"epsilon": float, "delta": float, "unit": str, "relation": str}
        )
        parts = found.get("composition", [])
        if not all(isinstance(part, str) for part in parts):
            raise ValueError(f"composition must be a list of texts, got {parts!r}")
        guarantee = Guarantee(
            **promise,
            assumptions=tuple(part.removeprefix(_ASSUMING) for part in parts if part.startswith(_ASSUMING)),
            composed=tuple(part for part in parts if not part.startswith(_ASSUMING)),
        )
        shape = {"rank": int, "label": str, "description": str, "mass": float, "support": float, "bin": str}
        atoms = tuple(Atom(**_keys("atom", atom, shape)) for atom in found["atoms"])
        noise = _keys("noise", found["noise"], {"law": str, "scale": float}) if "noise" in found else None
        plan = cls(
            mechanism=found["mechanism"],
            guarantee=guarantee,
            public_denominator=found["public_denominator"],
            universe_size=found["universe_size"],
            plan_size=found.get("plan_size", len(atoms)),
            comparison_margin=found["comparison_margin"],
            atoms=atoms,
            noise=None if noise is None else Noise(**noise),
            bin_edges=found.get("bin_edges"),
        )
        _check_consistent(plan)
        return plan


def bin_of(support: float, bin_edges: Mapping[str, float]) -> str:
    """Name of the highest edge at or below `support` (float >= 0), `LOWEST_BIN` below all."""
    name = LOWEST_BIN
    for candidate, edge in bin_edges.items():
        if support >= edge:
            name = candidate
    return name


def checked_edges(bin_edges: Mapping[str, float]) -> Mapping[str, float]:
    """Read-only copy of rising edges with names other than the lowest bin's; ValueError or TypeError otherwise."""
    if not isinstance(bin_edges, Mapping):
        raise TypeError(f"bin_edges must map names to supports, got {type(bin_edges).__name__}")
    edges = {name: _number(f"bin edge {name!r}", edge, above=0.0) for name, edge in bin_edges.items()}
    values = list(edges.values())
    if any(low >= high for low, high in pairwise(values)):
        raise ValueError(f"bin_edges must rise, got {edges}")
    if any(not isinstance(name, str) or not name.isalpha() for name in edges) or LOWEST_BIN in edges:
        raise ValueError(f"bin_edges must be named by one word each, other than {LOWEST_BIN!r}, got {list(edges)}")
    from privlib.plans.verifier.lexicon import claim_words  # here, since the verifier reads plans

    if any(not name.isascii() or not name.islower() or name in claim_words() for name in edges):
        raise ValueError(f"bin_edges must be named in lower-case a-z by no word of the verifier's, got {list(edges)}")
    return MappingProxyType(edges)


def _parsed(text: Any) -> Any:
    if not isinstance(text, str):
        raise ValueError(f"text must be a string, got {type(text).__name__}")
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(f"text must be a plan in JSON: {error}") from None
    except RecursionError:
        raise ValueError("text must be a plan in JSON, got values nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a plan holds each key once, got {[name for name, _ in pairs]}")
    return found


def _check_consistent(plan: SemanticPlan) -> None:
    """ValueError where values that follow from one another disagree by more than the rounding of JSON."""
    if plan.mechanism not in _LAWS:
        raise ValueError(f"mechanism must be one of {', '.join(_LAWS)}; got {plan.mechanism!r}")
    law = _LAWS[plan.mechanism]
    if plan.noise is not None and plan.noise.law != law:
        raise ValueError(f"noise law of mechanism {plan.mechanism!r} must be {law!r}, got {plan.noise.law!r}")
    if any(above.mass < below.mass for above, below in pairwise(plan.atoms)):
        raise ValueError(f"masses must fall with the rank, got {[atom.mass for atom in plan.atoms]}")
    for atom in plan.atoms:
        support = max(0.0, atom.mass) / plan.public_denominator
        if not math.isclose(atom.support, support, rel_tol=_ROUNDING):
            raise ValueError(f"support of {atom.label!r} must be {support!r}, got {atom.support!r}")
        if plan.bin_edges is None:
            if not atom.bin.isalpha():
                raise ValueError(f"bin of {atom.label!r} must be one word, got {atom.bin!r}")
            continue
        bins = {bin_of(support * (1 + slack), plan.bin_edges) for slack in (-_ROUNDING, 0.0, _ROUNDING)}
        if atom.bin not in bins:
            raise ValueError(f"bin of {atom.label!r} must be {' or '.join(sorted(bins))}, got {atom.bin!r}")


def _keys(where: str, found: Any, needed: dict[str, type], optional: dict[str, type] | None = None) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{where} must be a JSON object, got {type(found).__name__}")
    kinds = needed | (optional or {})
    if unknown := sorted(set(found) - set(kinds)):
        raise ValueError(f"{where} has unknown keys {unknown}")
    if missing := sorted(set(needed) - set(found)):
        raise ValueError(f"{where} lacks the keys {missing}")
    read = {}
    for name, value in found.items():
        kind = kinds[name]
        fits = isinstance(value, (int, float) if kind is float else kind) and not isinstance(value, bool)
        if not fits:
            raise ValueError(f"{where} must have {name!r} of type {kind.__name__}, got {value!r}")
        if kind is int and abs(value) > _LARGEST:
            raise ValueError(f"{where} must have {name!r} of at most {_LARGEST}, got a larger integer")
        read[name] = _number(f"{where} {name}", value) if kind is float else value
    return read


def _number(name: str, value: float, above: float = -math.inf, at_least: float = -math.inf) -> float:
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise ValueError(f"{name} must be a finite number, got an integer beyond float64")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    if not (value > above and value >= at_least):
        raise ValueError(f"{name} must be {'above' if above > -math.inf else 'at least'} 0, got {value!r}")
    return float(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"a plan holds finite numbers only, got {constant}")
