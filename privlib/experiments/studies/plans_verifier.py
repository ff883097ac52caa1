"""How often the verifier is right, counted on texts that another hand labelled; rows only, no text leaves."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from privlib import plans
from privlib.dp.audit import clopper_pearson
from privlib.experiments.workspace import Workspace

if TYPE_CHECKING:
    import pandas

FILES = ("development", *(f"development-{letter}" for letter in "bcdefghi"), "evaluation")
ORIGINS = ("template", "prose", "model")
APART = "unsupported_prose"  # invented causes and advice: no claim of the plan's language, reported apart
CONSISTENT = "none"
EVERY = "all"
_FAILURE = 0.025  # of each limit alone: 95 % intervals


@dataclass(frozen=True)
class Item:
    """One labelled text of the plan called `plan`; `spans` (start, end) are its false passages.

    A corrupted text has the same `base` as the consistent one that it was made from.
    """

    plan: str
    origin: str
    kind: str
    corruption: str
    text: str
    spans: tuple[tuple[int, int], ...]
    base: str


@dataclass(frozen=True)
class LabelledSet:
    """Plans with their universes by name, and the labelled texts by file; `sha256` is that of SHA256SUMS."""

    plans: dict[str, tuple[plans.SemanticPlan, tuple[str, ...]]]
    items: dict[str, tuple[Item, ...]]
    sha256: str


@dataclass(frozen=True)
class Judged:
    """One text with what the verifier said: which violations overlap a labelled passage and have the right kind.

    `violations`: (kind, right) of each. Right is a violation that overlaps a labelled passage of its own kind; in
    texts of the model, whose several errors carry one kind, any kind that overlaps. `accepted`: there is none.
    `localised`: some violation overlaps a labelled passage and has the labelled kind.
    """

    item: Item
    accepted: bool
    localised: bool
    violations: tuple[tuple[str, bool], ...]


def load(folder: Path | None = None) -> LabelledSet:
    """The labelled set of a folder, that of the checkout unless given.

    Raises ValueError when a file differs from SHA256SUMS: a set that changed after it was frozen measures nothing.
    """
    folder = Workspace.default().labelled if folder is None else Path(folder)
    sums = (folder / "SHA256SUMS").read_text(encoding="utf-8")
    for line in sums.splitlines():
        digest, name = line.split()
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise ValueError(f"labelled set must be as it was frozen, but {name} differs from SHA256SUMS")
    files = [folder / "plans.json", *sorted(folder.glob("plans-*.json"))]
    stored = {name: entry for path in files for name, entry in json.loads(path.read_text(encoding="utf-8")).items()}
    known = {
        name: (plans.SemanticPlan.from_json(json.dumps(entry["plan"])), tuple(entry["universe"]))
        for name, entry in stored.items()
    }
    items = {
        file: tuple(
            Item(
                *(row[name] for name in ("plan", "origin", "kind", "corruption", "text")),
                spans=tuple((start, end) for start, end, _ in row["spans"]),
                base=row["id"].removesuffix(f"-{row['corruption']}"),
            )
            for row in map(json.loads, (folder / f"{file}.jsonl").read_text(encoding="utf-8").splitlines())
        )
        for file in FILES
    }
    return LabelledSet(known, items, hashlib.sha256(sums.encode()).hexdigest())


def judge(labelled: LabelledSet, items: Iterable[Item], with_universe: bool) -> list[Judged]:
    """The verifier's answer to each text, with the public labels of its plan or without them."""
    judged = []
    for item in items:
        plan, universe = labelled.plans[item.plan]
        verdict = plans.verify(item.text, plan, universe if with_universe else None)
        placed = [(v.kind, _overlaps(v.span, item.spans)) for v in verdict.violations]
        right = tuple((kind, at and (item.origin == "model" or kind == item.kind)) for kind, at in placed)
        judged.append(Judged(item, verdict.accepted, any(at and kind == item.kind for kind, at in placed), right))
    return judged


def _overlaps(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def score(judged: Sequence[Judged]) -> list[dict[str, str | int | float]]:
    """Shares of some judged texts with 95 % Clopper-Pearson limits: one row a (subject, measure).

    subject a corruption: `recall` is the share of its texts that are rejected, `localised` the share that is rejected
    at the labelled passage for the labelled kind. subject a kind: `precision`, the share of the violations of that
    kind that are right, `recall` and `localised` as for a corruption, of the corrupted texts whose error is of the
    kind (without unsupported prose). subject all: `recall` and `localised` over the corrupted texts without
    unsupported prose, `specificity` the share of consistent texts that are accepted, `precision` the share of the
    rejected texts that are corrupted (it depends on how many of the texts are), `violation precision` the share of
    violations that are right. Texts with unsupported prose count in their own rows only. Shares of nothing are left
    out.
    """
    rows: list[dict[str, str | int | float]] = []

    def add(subject: str, measure: str, outcomes: Sequence[bool]) -> None:
        if outcomes:
            low, high = clopper_pearson(sum(outcomes), len(outcomes), _FAILURE)
            share = sum(outcomes) / len(outcomes)
            counted = {"items": len(outcomes), "share": share, "low": low, "high": high}
            rows.append({"subject": subject, "measure": measure} | counted)

    core = [one for one in judged if one.item.corruption != APART]
    corrupted = [one for one in core if one.item.corruption != CONSISTENT]
    violations = [violation for one in core for violation in one.violations]
    add(EVERY, "recall", [not one.accepted for one in corrupted])
    add(EVERY, "localised", [one.localised for one in corrupted])
    add(EVERY, "specificity", [one.accepted for one in core if one.item.corruption == CONSISTENT])
    add(EVERY, "precision", [one.item.corruption != CONSISTENT for one in core if not one.accepted])
    add(EVERY, "violation precision", [right for _, right in violations])
    for name in sorted({one.item.corruption for one in judged} - {CONSISTENT}):
        of_it = [one for one in judged if one.item.corruption == name]
        add(name, "recall", [not one.accepted for one in of_it])
        add(name, "localised", [one.localised for one in of_it])
    for kind in plans.verifier.KINDS:
        of_it = [one for one in corrupted if one.item.kind == kind]
        add(kind, "recall", [not one.accepted for one in of_it])
        add(kind, "localised", [one.localised for one in of_it])
        add(kind, "precision", [right for name, right in violations if name == kind])
    return rows


def quality(labelled: LabelledSet, files: Sequence[str] = FILES) -> pandas.DataFrame:
    """One row a (file, labels known, origin, subject, measure), see `score`; origin all: every text of the file."""
    import pandas as pd

    rows = []
    for file in files:
        for known in (True, False):
            judged = judge(labelled, labelled.items[file], known)
            for origin in (EVERY, *ORIGINS):
                chosen = [one for one in judged if origin in (EVERY, one.item.origin)]
                at = {"file": file, "universe": "known" if known else "unknown", "origin": origin}
                rows += [at | row for row in score(chosen)]
    return pd.DataFrame(rows)
