"""Does a text say only what its plan says? `verify` answers, from public objects alone."""

from __future__ import annotations

from privlib.plans.verifier.check import KINDS, Verdict, Violation, verify

__all__ = ["KINDS", "Verdict", "Violation", "verify"]
