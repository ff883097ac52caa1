"""Wrong public arguments of plans, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from privlib import plans
from privlib.dp import Simulation

WHO = dict(unit="record", relation="add_drop")
NAMES = ("dry skin", "long wait", "cold food", "rude staff")
UNIVERSE = plans.AtomUniverse(NAMES, manifest={"auxiliary_records": 40}, representation=plans.Tfidf.fit(NAMES))
TEXTS = ["dry skin again", "a long wait"]
PLAN_SETTINGS = dict(universe=UNIVERSE, epsilon=1.0, plan_size=2, **WHO)
PLAN = plans.GaussianPlan(delta=1e-6, **PLAN_SETTINGS).release(plans.sketch(TEXTS, UNIVERSE), Simulation(1))
MASSES = np.array([3.0, 2.0, 1.0])
ENCODER = SimpleNamespace(embed=lambda texts: np.array([[len(text), 1.0, 0.0] for text in texts]) / 50)

PUBLIC_ARGUMENTS = {
    "AtomUniverse": (
        plans.AtomUniverse,
        dict(labels=NAMES, descriptions=(), manifest={}, representation=None),
        dict(labels={"['a']"}, descriptions={"[]"}, representation={"None"}),
    ),
    "GaussianPlan": (
        plans.GaussianPlan,
        dict(
            delta=1e-6,
            contribution_bound=1.0,
            public_denominator=None,
            bin_edges={"low": 0.1},
            comparison_margin=None,
            **PLAN_SETTINGS,
        ),
        dict(public_denominator={"None"}, comparison_margin={"None"}),
    ),
    "LaplacePlan": (plans.LaplacePlan, PLAN_SETTINGS),
    "PrivateTopLPlan": (
        plans.PrivateTopLPlan,
        dict(delta=1e-6, selection_share=0.5, selection="rounds", monotone=False, accounting="basic", **PLAN_SETTINGS),
        dict(monotone={"True"}),
    ),
    "assign": (lambda universe, sparsity: plans.assign(TEXTS, universe, sparsity), dict(universe=UNIVERSE, sparsity=2)),
    "sketch": (
        lambda universe, sparsity, unit, contribution_bound: plans.sketch(
            TEXTS, universe, sparsity, unit, contribution_bound
        ),
        dict(universe=UNIVERSE, sparsity=2, unit="record", contribution_bound=1.0),
    ),
    "user_sketch": (
        lambda contribution_bound: plans.user_sketch(np.eye(2), ["a", "b"], contribution_bound),
        dict(contribution_bound=1.0),
    ),
    "Sketch": (plans.Sketch, dict(masses=np.ones(3), unit="record", contribution_bound=1.0)),
    "sensitivity": (plans.sensitivity, dict(unit="record", relation="add_drop", contribution_bound=1.0)),
    "difference_quantile": (plans.difference_quantile, dict(noise=PLAN.noise, probability=0.9)),
    "intervals": (plans.intervals, dict(plan=PLAN, level=0.9)),
    "loss": (plans.loss, dict(masses=MASSES, admitted=np.array([0, 1]))),
    "mass_retained": (plans.mass_retained, dict(masses=MASSES, admitted=np.array([0, 1]))),
    "overlap": (plans.overlap, dict(masses=MASSES, admitted=np.array([0, 1]))),
    "top": (plans.top, dict(masses=MASSES, plan_size=2)),
    "value_errors": (plans.value_errors, dict(masses=MASSES, indices=np.array([0]), values=np.array([1.0]))),
    "phrase_universe": (
        plans.phrase_universe,
        dict(auxiliary=["dry skin"] * 5, profile="generic", size=3, support_threshold=2),
        dict(support_threshold={"None"}),
    ),
    "metadata_universe": (
        plans.metadata_universe,
        dict(
            auxiliary=type("Texts", (list,), {"attributes": {"product": ["x"]}})(["dry x"]), fields=("product",), size=2
        ),
    ),
    "Noise": (plans.Noise, dict(law="laplace", scale=1.0)),
    "SemanticPlan": (
        plans.SemanticPlan,
        dict(
            mechanism="gaussian",
            guarantee=PLAN.guarantee,
            public_denominator=3.0,
            universe_size=4,
            plan_size=2,
            comparison_margin=0.1,
            atoms=PLAN.atoms,
            noise=PLAN.noise,
            bin_edges={"low": 0.1},
        ),
        dict(mechanism={"a"}, atoms={"[]"}, noise={"None"}, bin_edges={"None"}),
    ),
    "SemanticPlan.from_json": (plans.SemanticPlan.from_json, dict(text=PLAN.to_json())),
    "Tfidf.fit": (
        plans.Tfidf.fit,
        dict(public_texts=NAMES),
        dict(public_texts={"[]", "['a']"}),  # scikit-learn's: no word in it
    ),
    "Tfidf.transform": (UNIVERSE.representation.transform, dict(texts=NAMES), dict(texts={"[]", "['a']"})),
    "Embedding.transform": (plans.Embedding(ENCODER).transform, dict(texts=NAMES), dict(texts={"[]", "['a']"})),
    "report": (plans.report, dict(plan=PLAN, decoder=plans.template())),
    "mentioned": (plans.mentioned, dict(text="a wait", plan=PLAN), dict(text={"a"})),
}

NEED_NONE = (
    "Atom Attempt Candidate Intervals MassInterval OrderBound Report Sensitivity Verdict Violation "
    "free_text record_sketch structured_claims template verify"
)
"""Records that the library makes, decoders, private rows, and the verifier, which has tests of its own."""
