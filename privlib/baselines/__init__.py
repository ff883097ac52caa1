"""What the systems are compared with: other private releases of a text collection, and references without privacy.

Private: `KeywordHistogram`, `CategoryHistogram` and `UraniaStyle`, mechanisms with a bill, at record level under
add/drop. Without privacy, and so named: `ClusterReference`, `SentenceReference` (direct or redacted). All give
`Theme`s, told by `in_words`. Texts: `AugPE` and, with labels paid for, `LabelledPE` (private evolution), and
`DPFineTuning` of a language model. Beside synthesis: bucket centroids by local noise (`LocalEmbeddings`,
`LocalBuckets`) or by a trusted curator (`CuratorRelease`). The systems import none of this.
"""

from __future__ import annotations

from privlib.baselines.aug_pe import AugPE, Evolution
from privlib.baselines.central import CuratorRelease
from privlib.baselines.clustering import UraniaRelease, UraniaStyle
from privlib.baselines.fine_tuning import DPFineTuning, Learner, Session, TunedTexts
from privlib.baselines.grouping import BucketMeans
from privlib.baselines.histograms import CategoryHistogram, KeywordHistogram, NoisyHistogram
from privlib.baselines.keywords import keyword_rows, public_vocabulary
from privlib.baselines.labelled_pe import LabelledEvolution, LabelledPE
from privlib.baselines.local import LocalBuckets, LocalEmbeddings, UnaryEncoding
from privlib.baselines.redaction import redact
from privlib.baselines.references import NO_GUARANTEE, ClusterReference, SentenceReference
from privlib.baselines.space import PublicSpace
from privlib.baselines.themes import Theme, in_words

__all__ = [
    "NO_GUARANTEE",
    "AugPE",
    "BucketMeans",
    "CategoryHistogram",
    "ClusterReference",
    "CuratorRelease",
    "DPFineTuning",
    "Evolution",
    "KeywordHistogram",
    "LabelledEvolution",
    "LabelledPE",
    "Learner",
    "LocalBuckets",
    "LocalEmbeddings",
    "NoisyHistogram",
    "PublicSpace",
    "SentenceReference",
    "Session",
    "Theme",
    "TunedTexts",
    "UnaryEncoding",
    "UraniaRelease",
    "UraniaStyle",
    "in_words",
    "keyword_rows",
    "public_vocabulary",
    "redact",
]
