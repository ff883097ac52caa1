"""Dataset-level secrets (QuanText): release text whose attribute shares are not the private ones.

Public beforehand: schema, tree, candidates, gamma, k. Private rows choose, by secret draws, one of the
k nearest candidate tables; targets are drawn from them, private rows matched to targets and rewritten.
"""

from __future__ import annotations

from .attacks import Attack, corrected, labelling_attack, prior_attack
from .leakage import MaximalLeakage, channel_sml, exact_sml, secret_ceiling, sml_bound, success_bound
from .matching import match
from .mechanism import RandomizedQuantization, Released
from .rewriting import Rewriter, ideal
from .schema import Schema, Share
from .tables import candidates
from .tree import HIGHEST_DEGREE, Tree, chow_liu

__all__ = [
    "HIGHEST_DEGREE",
    "Attack",
    "MaximalLeakage",
    "RandomizedQuantization",
    "Released",
    "Rewriter",
    "Schema",
    "Share",
    "Tree",
    "candidates",
    "channel_sml",
    "chow_liu",
    "corrected",
    "exact_sml",
    "ideal",
    "labelling_attack",
    "match",
    "prior_attack",
    "secret_ceiling",
    "sml_bound",
    "success_bound",
]
