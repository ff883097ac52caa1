"""Dataset-level secrets (QuanText): release text whose attribute shares are not the private ones.

Public beforehand: schema, tree, candidates, gamma, k. Private rows choose, by secret draws, one of the
k nearest candidate tables; targets are drawn from them, private rows matched to targets and rewritten.
"""

from __future__ import annotations

from .allocation import best_budgets, plausible_tables
from .attacks import Attack, corrected, labelling_attack, prior_attack
from .budgets import BudgetedQuantization, TableBudget
from .ceilings import guess_ceiling, share_prior, useful_dilution
from .joint import JointQuantization, smoothed_tables
from .leakage import (
    MaximalLeakage,
    channel_sml,
    exact_choice_sml,
    exact_sml,
    secret_ceiling,
    sml_bound,
    success_bound,
)
from .matching import match
from .mechanism import RandomizedQuantization, Released
from .ordering import order_attack
from .prompting import LanguageModelRewriter, PromptedLabeller, RewritingReport
from .provenance import Detector, PublicOverlap, Shadow, provenance_attack
from .reading import Labeller, faithfulness, read_labels
from .rewriting import Rewriter, ideal
from .schema import Schema, Share
from .snippets import SnippetExtractor, WordCounts
from .splicing import Splice, splice
from .tables import candidates
from .tree import HIGHEST_DEGREE, Tree, chow_liu

__all__ = [
    "HIGHEST_DEGREE",
    "Attack",
    "BudgetedQuantization",
    "Detector",
    "JointQuantization",
    "Labeller",
    "LanguageModelRewriter",
    "MaximalLeakage",
    "PromptedLabeller",
    "PublicOverlap",
    "RandomizedQuantization",
    "Released",
    "Rewriter",
    "RewritingReport",
    "Schema",
    "Shadow",
    "Share",
    "SnippetExtractor",
    "Splice",
    "TableBudget",
    "Tree",
    "WordCounts",
    "best_budgets",
    "candidates",
    "channel_sml",
    "chow_liu",
    "corrected",
    "exact_choice_sml",
    "exact_sml",
    "faithfulness",
    "guess_ceiling",
    "ideal",
    "labelling_attack",
    "match",
    "order_attack",
    "plausible_tables",
    "prior_attack",
    "provenance_attack",
    "read_labels",
    "secret_ceiling",
    "share_prior",
    "sml_bound",
    "smoothed_tables",
    "splice",
    "success_bound",
    "useful_dilution",
]
