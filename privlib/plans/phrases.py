"""Atoms from public text: two-word phrases, filtered and merged by the rules of a domain profile."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from itertools import pairwise
from typing import Any

from privlib.dp import checks
from privlib.plans.represent import Tfidf
from privlib.plans.universe import AtomUniverse, auxiliary_counts, refuse_private

FULL_SUPPORT = 25
"""Auxiliary documents a phrase must be in (DP-SPIN, Appendix C.4); small splits ask for one text in a thousand."""

_LINK = re.compile(r"https?://\S+|www\.\S+|[@#]\w+|\w+@\w+\.\w+")
_RUN = re.compile(r"[^\W\d_]+(?:[ \t]+[^\W\d_]+)+")  # words with nothing but blanks between: phrases do not cross marks


@dataclass(frozen=True)
class DomainProfile:
    """Rules of one domain, read from a data file: which words make a phrase a theme of that domain.

    `function`: words no phrase holds. `generic`: words that make a phrase say nothing. `sentiment`: a phrase of
    these only is a mood, not a theme. `outside`: words of other domains. `domain`: if not empty, a phrase
    needs one of them. `variants`: phrase -> canonical phrase. `sha256`: of the file, for the manifest.
    """

    name: str
    function: frozenset[str]
    generic: frozenset[str]
    sentiment: frozenset[str]
    outside: frozenset[str]
    domain: frozenset[str]
    variants: dict[str, str]
    sha256: str

    @classmethod
    def load(cls, name: str) -> DomainProfile:
        """Packaged profile by name; raises ValueError with the names there are."""
        folder = resources.files("privlib.plans") / "profiles"
        names = sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))
        if not isinstance(name, str) or name not in names:
            raise ValueError(f"profile must be one of {names}, got {name!r}")
        content = (folder / f"{name}.json").read_bytes()
        found = json.loads(content)
        base = json.loads((folder / "generic.json").read_bytes())
        lists = {
            key: frozenset([*base.get(key, "").split(), *found.get(key, "").split()])
            for key in ("function", "generic", "sentiment", "outside", "domain")
        }
        return cls(name, variants=found.get("variants", {}), sha256=hashlib.sha256(content).hexdigest(), **lists)

    @cached_property
    def _dropped(self) -> frozenset[str]:
        return self.function | self.generic | self.outside

    @cached_property
    def _themes(self) -> frozenset[str]:
        return frozenset(self.variants.values())

    def keeps(self, phrase: str) -> bool:
        """Whether a two-word phrase names a theme of this domain; one that `variants` lists does, by decision."""
        if _listed(phrase, self.variants) or phrase in self._themes:
            return True
        words = phrase.split()
        if any(len(word) < 3 or word in self._dropped for word in words):
            return False
        if all(word in self.sentiment for word in words) or words[0] == words[1]:
            return False
        return not self.domain or any(singular(word) in self.domain or word in self.domain for word in words)


def phrase_universe(
    auxiliary: Sequence[str], profile: str = "generic", size: int = 100, support_threshold: int | None = None
) -> AtomUniverse:
    """The `size` most supported two-word phrases of the auxiliary split, as atoms.

    Lower-case; two words with only a blank between; filtered by the domain `profile`; variants merged (the
    profile's list, plural with singular, one word order with the other), never phrases of other words; kept when
    in `support_threshold` auxiliary documents (None: `scaled_threshold`; the manifest says which); ranked by
    support, ties by label. Fewer than `size` when fewer remain: the manifest holds both numbers and the `shortfall`.
    `auxiliary`: public texts or a public corpus, disjoint from the protected split. TF-IDF is fitted on them.
    Raises ValueError when no phrase remains, without texts, and for a corpus whose provenance is not public, TypeError
    for what is no sequence of texts.
    Source: DP-SPIN, Appendices C.4 and E.4.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"size must be an integer of at least 1, got {size!r}")
    refuse_private(auxiliary)
    texts = checks.texts("auxiliary", auxiliary)
    if not texts:
        raise ValueError("auxiliary must hold texts, got none")
    if support_threshold is not None:
        checks.whole("support_threshold", support_threshold, at_least=1)
    rules = DomainProfile.load(profile)
    threshold = scaled_threshold(len(texts)) if support_threshold is None else support_threshold
    documents = [set(phrases(text)) for text in texts]
    counts = Counter(phrase for found in documents for phrase in found)
    kept = {phrase for phrase in counts if rules.keeps(phrase)}
    canonical = canonical_forms({phrase: counts[phrase] for phrase in kept}, rules.variants)
    support = Counter(label for found in documents for label in {canonical[p] for p in found if p in canonical})
    enough = [label for label, count in support.items() if count >= threshold]
    if not enough:
        raise ValueError(f"no phrase of profile {profile!r} is in {threshold} of the {len(documents)} auxiliary texts")
    labels = sorted(enough, key=lambda label: (-support[label], label))[:size]
    variants: dict[str, list[str]] = {label: [] for label in labels}
    for phrase, label in sorted(canonical.items()):
        if label in variants and phrase != label and counts[phrase] > 1:
            variants[label].append(phrase)
    manifest: dict[str, Any] = {
        "builder": "phrases",
        "profile": profile,
        "profile_sha256": rules.sha256,
        "rules": [
            "lower case; two words with a blank between",
            "no function, generic or out-of-domain word; not sentiment only; a word of the domain",
            "variants, plurals and word orders merged",
            "by support, ties by label",
        ],
        "candidates": len(counts),
        "after_filter": len(kept),
        "after_merge": len(support),
        "support_threshold": threshold,
        "requested": size,
        "size": len(labels),
        "shortfall": size - len(labels),
        **auxiliary_counts(auxiliary),
        "support": {label: support[label] for label in labels},
    }
    descriptions = tuple(", ".join(variants[label]) for label in labels)
    return AtomUniverse(tuple(labels), descriptions, manifest, Tfidf.fit([*auxiliary, *labels]))


def scaled_threshold(auxiliary_records: int) -> int:
    """25 documents at 25,000 auxiliary records or more, one in a thousand below, at least 3."""
    return min(FULL_SUPPORT, max(3, math.ceil(auxiliary_records / 1000)))


def phrases(text: str) -> list[str]:
    """All pairs of neighbouring words of one text, lower-case, links, handles and hashtags left out."""
    found = []
    for run in _RUN.findall(_LINK.sub(" . ", text.lower())):
        words = run.split()
        found += [f"{first} {second}" for first, second in pairwise(words)]
    return found


def singular(word: str) -> str:
    """Singular of a regular English plural, other words unchanged."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")) and len(word) > 4:
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def canonical_forms(support: dict[str, int], variants: dict[str, str]) -> dict[str, str]:
    """Phrase -> the phrase that stands for it: listed variants first, else the best supported of its group.

    A group holds phrases of the same two words up to plural and order; the tie goes to the first by alphabet.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for phrase in support:
        named = _listed(phrase, variants) or phrase
        groups.setdefault(tuple(sorted(map(singular, named.split()))), []).append(phrase)
    chosen = {}
    for group in groups.values():
        listed = sorted({named for phrase in group if (named := _listed(phrase, variants))})
        best = listed[0] if listed else min(group, key=lambda phrase: (-support[phrase], phrase))
        chosen.update(dict.fromkeys(group, best))
    return chosen


def _listed(phrase: str, variants: dict[str, str]) -> str | None:
    """What the profile's list says of a phrase or of its singular."""
    return variants.get(phrase) or variants.get(" ".join(map(singular, phrase.split())))
