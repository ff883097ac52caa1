"""Semantic plans (DP-SPIN): what recurs in a collection of texts, released once, told in words, checked.

records -> `AtomUniverse` (public) -> `assign` (sparse, mass at most one) -> `sketch` -> a mechanism's `release`
(the only private step) -> `SemanticPlan` -> `report` with `template()` and `verify`.
"""

from __future__ import annotations

from privlib.plans.admission import PrivateTopLPlan
from privlib.plans.assign import assign
from privlib.plans.decoders import Attempt, Candidate, Report, free_text, mentioned, report, structured_claims, template
from privlib.plans.intervals import Intervals, MassInterval, OrderBound, difference_quantile, intervals
from privlib.plans.mechanisms import GaussianPlan, LaplacePlan
from privlib.plans.metrics import loss, mass_retained, overlap, top, value_errors
from privlib.plans.phrases import phrase_universe
from privlib.plans.plan import Atom, Noise, SemanticPlan
from privlib.plans.represent import Embedding, Tfidf
from privlib.plans.sensitivity import Sensitivity, sensitivity
from privlib.plans.sketch import Sketch, record_sketch, sketch, user_sketch
from privlib.plans.universe import AtomUniverse, metadata_universe
from privlib.plans.verifier import Verdict, Violation, verify

__all__ = [
    "Atom",
    "AtomUniverse",
    "Attempt",
    "Candidate",
    "Embedding",
    "GaussianPlan",
    "Intervals",
    "LaplacePlan",
    "MassInterval",
    "Noise",
    "OrderBound",
    "PrivateTopLPlan",
    "Report",
    "SemanticPlan",
    "Sensitivity",
    "Sketch",
    "Tfidf",
    "Verdict",
    "Violation",
    "assign",
    "difference_quantile",
    "free_text",
    "intervals",
    "loss",
    "mass_retained",
    "mentioned",
    "metadata_universe",
    "overlap",
    "phrase_universe",
    "record_sketch",
    "report",
    "sensitivity",
    "sketch",
    "structured_claims",
    "template",
    "top",
    "user_sketch",
    "value_errors",
    "verify",
]
