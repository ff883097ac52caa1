"""Wrong public arguments of quantization, refused by name: the table; tests/conftest.py makes its tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from privlib import quantization
from privlib.dp import Simulation

TREE = quantization.Tree(0, (-1, 0), (2, 2))
SCHEMA = quantization.Schema((("mood", ("bad", "good")), ("topic", ("food", "staff"))))
CORPUS = SimpleNamespace(attributes={"mood": ("bad", "good"), "topic": ("food", "staff")}, texts=("a food", "b staff"))
LABELS = np.array([[0, 1], [1, 0]])
SHARE = SCHEMA.share(mood="bad")
TABLES = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]])
BELIEF = quantization.plausible_tables(TREE, None, 1.0, 2, Simulation(1))
READERS = {name: SimpleNamespace(predict=lambda texts, said=said: [said]) for name, (said, _) in SCHEMA.attributes}
QUANTIZED = dict(tree=TREE, candidates=4, nearest=2, public_seed=1, alpha=1.0, pool_size=30, style=1.0)

PUBLIC_ARGUMENTS = {
    "Tree": (quantization.Tree, dict(root=0, parent=(-1, 0), sizes=(2, 2), schema=None), dict(schema={"None"})),
    "chow_liu": (quantization.chow_liu, dict(labels=LABELS, sizes=(2, 2), root=None), dict(root={"None"})),
    "Schema": (quantization.Schema, dict(attributes=SCHEMA.attributes)),
    "Schema.decode": (SCHEMA.decode, dict(labels=LABELS)),
    "Schema.share": (SCHEMA.share, dict(mood="bad")),
    "Share": (quantization.Share, dict(conditions=((0, 0),))),
    "best_budgets": (
        quantization.best_budgets,
        dict(
            tree=TREE,
            nats=3.0,
            belief=BELIEF,
            public_seed=1,
            grid=(1, 2),
            alphas=(1.0,),
            centre=None,
            pool_size=9,
            by="table",
        ),
        dict(centre={"None"}),
    ),
    "plausible_tables": (
        quantization.plausible_tables,
        dict(tree=TREE, centre=None, alpha=1.0, count=2, noise=Simulation(1)),
        dict(centre={"None"}),
    ),
    "BudgetedQuantization": (
        quantization.BudgetedQuantization,
        dict(
            tree=TREE,
            budgets=(quantization.TableBudget(4, 2),) * 3,
            public_seed=1,
            centre=None,
            pool_size=30,
            style=1.0,
        ),
        dict(centre={"None"}),
    ),
    "TableBudget": (quantization.TableBudget, dict(candidates=4, nearest=2, alpha=1.0)),
    "RandomizedQuantization": (quantization.RandomizedQuantization, QUANTIZED),
    "JointQuantization": (quantization.JointQuantization, QUANTIZED | dict(centre=None), dict(centre={"None"})),
    "smoothed_tables": (quantization.smoothed_tables, dict(auxiliary=LABELS, tree=TREE)),
    "candidates": (quantization.candidates, dict(support_size=3, gamma=2, pool_size=5, alpha=1.0, noise=Simulation(1))),
    "match": (
        lambda targets, weights: quantization.match(LABELS, targets, weights),
        dict(targets=LABELS, weights=None),
        dict(weights={"None"}),
    ),
    "sml_bound": (quantization.sml_bound, dict(tables=3, gamma=4, k=2, style=1.0)),
    "secret_ceiling": (quantization.secret_ceiling, dict(rows=4)),
    "success_bound": (quantization.success_bound, dict(prior=0.5, tables=3, gamma=4, k=2, style=1.0)),
    "channel_sml": (quantization.channel_sml, dict(channel=np.eye(3), groups=np.array([0, 1, 1]))),
    "exact_sml": (
        quantization.exact_sml,
        dict(candidates=TABLES, k=1, secret=0, n=3, seeded=False),
        dict(secret={"0-d"}, seeded={"True"}),
    ),
    "exact_choice_sml": (
        quantization.exact_choice_sml,
        dict(tree=TREE, candidate_sets=[TABLES] * 3, nearest=[1] * 3, secret=SHARE, n=2),
    ),
    "MaximalLeakage": (
        quantization.MaximalLeakage,
        dict(tables=3, gamma=4, k=2, style=1.0, rows=None, assumptions=()),
        dict(rows={"None"}, assumptions={"[]", "['a']"}),
    ),
    "share_prior": (quantization.share_prior, dict(rows=4, public_rows=3, public_holding=1)),
    "guess_ceiling": (quantization.guess_ceiling, dict(prior=[0.5, 0.5])),
    "useful_dilution": (quantization.useful_dilution, dict(tables=3, rows=4, prior=None), dict(prior={"None"})),
    "labelling_attack": (
        lambda released, secret: quantization.labelling_attack(released, secret, 0.5),
        dict(released=quantization.RandomizedQuantization(**QUANTIZED).release(LABELS, Simulation(1)), secret=SHARE),
        dict(released={"[]", "['a']"}),  # bare texts, which this attacker cannot read
    ),
    "corrected": (quantization.corrected, dict(attack=quantization.Attack(0.5, 0.5), hits=0.9, false_alarms=0.1)),
    "prior_attack": (
        lambda auxiliary, secret: quantization.prior_attack(auxiliary, secret, 0.5),
        dict(auxiliary=LABELS, secret=SHARE),
    ),
    "order_attack": (lambda holds: quantization.order_attack(holds, 0.5), dict(holds=[True, False])),
    "provenance_attack": (
        lambda labels, fresh, secret, auxiliary, hits, false_alarms: quantization.provenance_attack(
            labels, fresh, secret, 0.5, auxiliary, hits, false_alarms
        ),
        dict(labels=LABELS, fresh=[True, False], secret=SHARE, auxiliary=LABELS, hits=1.0, false_alarms=0.0),
    ),
    "Detector": (
        quantization.Detector,
        dict(threshold=0.5, hits=0.9, false_alarms=0.1),
        dict(threshold={"-1"}),
    ),
    "Detector.fit": (quantization.Detector.fit, dict(scores=[0.1, 0.9], fresh=[False, True])),
    "Detector()": (
        quantization.Detector(0.5, 0.9, 0.1),
        dict(scores=[0.1]),
        dict(scores={"[]"}),
    ),
    "PublicOverlap.of": (quantization.PublicOverlap.of, dict(public_texts=["a b"]), dict(public_texts={"[]", "['a']"})),
    "PublicOverlap()": (quantization.PublicOverlap.of(["a b"]), dict(texts=["a b"]), dict(texts={"[]", "['a']"})),
    "read_labels": (
        quantization.read_labels,
        dict(texts=["a"], readers=READERS, schema=SCHEMA),
        dict(texts={"['a']"}),
    ),
    "faithfulness": (quantization.faithfulness, dict(read=LABELS, targets=LABELS)),
    "splice": (
        lambda public, schema, fresh_share: quantization.splice(public, schema, fresh_share=fresh_share),
        dict(public=CORPUS, schema=SCHEMA, fresh_share=None),
        dict(
            public={"a", "None", "nan", "inf", "-1", "[]", "['a']", "cube", "0-d", "True"}, fresh_share={"None"}
        ),  # a corpus is refused by what it lacks
    ),
    "PromptedLabeller": (
        quantization.PromptedLabeller,
        dict(generate=len, question="?", categories=("a", "b"), attempts=3, max_new_tokens=12, temperature=0.7),
        dict(question={"a"}),
    ),
    "LanguageModelRewriter": (
        lambda **public: quantization.LanguageModelRewriter(extractor=None, fallback=quantization.ideal, **public),
        dict(generate=len, schema=SCHEMA, attempts=3, max_new_tokens=96, temperature=0.7, opened=False),
        dict(opened={"True"}),
    ),
    "Attack": (lambda estimate: quantization.Attack(estimate, 0.5), dict(estimate=0.5)),
    "WordCounts.learn": (
        quantization.WordCounts.learn,
        dict(texts=["a", "b"], labels=LABELS, sizes=(2, 2), tolerance=3.0),
    ),
}

NEED_NONE = "HIGHEST_DEGREE Labeller Released Rewriter RewritingReport Shadow SnippetExtractor Splice ideal"
"""A constant, protocols, records that the library makes, and what test_quantization_wrong_inputs.py refuses."""
