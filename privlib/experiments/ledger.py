"""The claims ledger: book/claims.csv judged by its own rules against the records of this build.

A verdict is never typed. Records of the run at hand come first; the committed records of the record
profile, and for other corpora those of the book profile, are used too, and a rule must hold on every one of them.
"""

from __future__ import annotations

import ast
import csv
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from privlib.experiments import rules
from privlib.experiments.gather import Published, published
from privlib.experiments.records import Record, read, recorded
from privlib.experiments.workspace import ExperimentError, Workspace

REPRODUCED = "reproduced"
TREND = "trend only"
SIZE = "not at this size"
CONTRADICTED = "contradicted"
NOT_RUN = "not run here"
PROVED = "proved and tested"
ABSENT = "not checkable from our copy"
SETTING = "set as in the paper"  # nothing to compute, so nothing reproduced
VERDICTS = (REPRODUCED, PROVED, TREND, SIZE, CONTRADICTED, SETTING, NOT_RUN, ABSENT)
PYTHON = ".venv/bin/python -m"  # as a reader types it at the top of a checkout
TABLES = "% tables"  # the ledger page includes what stands before and after this line at two places
SHAPES = ("trend", "ordering")  # claims that a trend or order reproduces; for the others it is the trend only


@dataclass(frozen=True)
class Claim:
    """One row of book/claims.csv; all strings."""

    id: str
    paper: str
    item: str
    kind: str
    claim: str
    value: str
    unit: str
    where: str
    needs: str
    notebook: str
    record: str
    test: str
    rule: str
    tolerance: str


@dataclass(frozen=True)
class Judgement:
    claim: Claim
    verdict: str
    ours: str = ""


def read_claims(path: Path) -> list[Claim]:
    """Rows of the ledger; raises ExperimentError for other columns, repeated ids or rules that do not parse."""
    names = [f.name for f in fields(Claim)]
    with open(path, newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != names:
            raise ExperimentError(f"{path.name} must have the columns {', '.join(names)}, got {reader.fieldnames}")
        claims = [Claim(**row) for row in reader]
    if repeated := [id for id, count in Counter(claim.id for claim in claims).items() if count > 1]:
        raise ExperimentError(f"{path.name} repeats {', '.join(repeated)}")
    for claim in claims:
        _explained(claim, lambda claim=claim: rules.parse(claim.rule) if claim.rule else None)
    return claims


def judge(workspace: Workspace, notebooks: Collection[str] | None = None) -> list[Judgement]:
    """Verdict of every claim, or of those that `notebooks` judge.

    Raises ExperimentError naming the claim whose record, test, column or rule is missing.
    """
    state = published(workspace)
    fresh = {made.id: made for made in map(read, sorted((workspace.generated / "records").glob("*.json")))}
    claims = [one for one in read_claims(workspace.claims) if notebooks is None or one.notebook in notebooks]
    return [_explained(claim, lambda claim=claim: _judge(workspace, claim, fresh, state)) for claim in claims]


def verdict(claim: Claim, records: Sequence[Record], *, small_grid: bool = False) -> Judgement:
    """Judge one claim that has a rule on records.

    The first alternative that holds on every record decides: a number is reproduced; a trend or order
    reproduces a claim of that kind and is `trend only` for the others, as a bound always is. When none holds the
    claim is contradicted, or `not at this size` where the rule says that the record is smaller.
    A record of another corpus that has none of the rows asked for is passed over. What is ours names the corpora of
    the rows that were judged: by their own column, else the record's.
    small_grid: whether no such row anywhere means that this profile does not run the claim (else it is an error).
    """
    rule = rules.parse(claim.rule)
    heard = []
    for alternative in rule.alternatives:
        findings, missed = [], None
        for made in records:
            try:
                one = rules.evaluate(alternative, made.rows, claim.tolerance)
                large = ", record run" if made.profile == "record" else ""
                large += ", parameters of its own" if made.changed else ""
                findings.append((", ".join(one.corpora or (made.corpus,)) + large, one))
            except rules.NoRows as error:
                missed = error
        if not findings:
            if not small_grid:
                raise missed
            return Judgement(claim, NOT_RUN, f"not in the grid of this profile: {missed}")
        ours = "; ".join(f"{corpora}: {one.ours}" for corpora, one in findings)
        if all(one.holds for _, one in findings):
            exact = alternative.kind == "number" or (claim.kind in SHAPES and alternative.kind != "bound")
            return Judgement(claim, REPRODUCED if exact else TREND, ours)
        heard.append(ours)
    return Judgement(claim, SIZE if rule.smaller else CONTRADICTED, " / ".join(heard))


def _judge(workspace: Workspace, claim: Claim, fresh: dict[str, Record], state: Published) -> Judgement:
    for node in _nodes(claim):
        if not test_exists(workspace.root, node):
            raise ExperimentError(f"names the test {node}, which is not in the tree")
    if not claim.rule:
        return Judgement(claim, NOT_RUN)
    word = rules.parse(claim.rule).word
    if word == "absent":
        return Judgement(claim, ABSENT)
    if word == "setting":
        if not claim.notebook or not (workspace.notebooks / f"{claim.notebook}.ipynb").is_file():
            raise ExperimentError(f"has the rule 'setting' and names no notebook that sets it, got {claim.notebook!r}")
        return Judgement(claim, SETTING, "nothing to compute")
    if word is not None:
        if not claim.test:
            raise ExperimentError(f"has the rule {word!r} and names no test")
        return Judgement(
            claim, PROVED if word == "theorem" else CONTRADICTED, "" if word == "theorem" else "counter-example"
        )
    records = [fresh[claim.record]] if claim.record in fresh else []
    here = {(profile, made.corpus) for made in records for profile in ("book", made.profile)}
    for made in recorded(claim.record, workspace) if claim.record else ():
        if made.profile in ("record", "book") and (made.profile, made.corpus) not in here:
            records.append(made)
    if not records and not state.complete:
        return Judgement(claim, NOT_RUN, "its notebook is not in this partial run")
    if not records:
        raise ExperimentError(f"names the record {claim.record!r}, which neither this run nor book/recorded holds")
    if {made.notebook for made in records} != {claim.notebook}:
        raise ExperimentError(f"names the notebook {claim.notebook!r}, its record is made by {records[0].notebook!r}")
    return verdict(claim, records, small_grid=state.profile == "smoke")


def test_exists(root: Path, node: str) -> bool:
    """Whether a pytest node id (file::function or file::Class::function, parameters aside) is in the tree."""
    file, _, rest = node.partition("::")
    return rest.partition("[")[0] in _tests_in(root / file)


test_exists.__test__ = False  # a name that pytest would collect where it is imported


@cache
def _tests_in(path: Path) -> frozenset[str]:
    if not path.is_file():
        return frozenset()
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return frozenset(found)


def _nodes(claim: Claim) -> list[str]:
    return [node.strip() for node in claim.test.split(";") if node.strip()]


def _explained(claim: Claim, work):
    try:
        return work()
    except ExperimentError as error:
        raise ExperimentError(f"claim {claim.id} {error}") from error


def render(judgements: Sequence[Judgement], profile: str, notebooks: Sequence[str]) -> str:
    """Markdown for the ledger page: counts, the line TABLES, one table a paper. `notebooks`: those with a page."""
    papers = list(dict.fromkeys(j.claim.paper for j in judgements))
    counts = Counter((j.claim.paper, j.verdict) for j in judgements)
    reading = [j for j in judgements if j.claim.rule and rules.parse(j.claim.rule).word is None]
    seen = Counter(j.verdict for j in reading if rules.parse(j.claim.rule).seen)
    lines = [
        f"Of the {len(reading)} rules that read records, {seen.total()} were written by hands that had seen values of "
        "these or of smaller runs: read those as descriptions. Their rows say *rule written after values*.",
        "",
        f"Verdicts of this build (profile {profile}), computed from its records:",
        "",
        "| verdict | " + " | ".join(papers) + " | all | by a rule written after values |",
        "|---|" + "---|" * (len(papers) + 2),
    ]
    for name in VERDICTS:
        row = [counts[paper, name] for paper in papers]
        lines.append(f"| {name} | " + " | ".join(map(str, row)) + f" | {sum(row)} | {seen[name]} |")
    lines += ["", TABLES]
    for paper in papers:
        lines += [
            "",
            f"## {paper}",
            "",
            "| id | verdict | where | claim | paper's value | ours | evidence |",
            "|" + "---|" * 7,
        ]
        lines += [_row(j, profile, notebooks) for j in judgements if j.claim.paper == paper]
    return "\n".join(lines) + "\n"


def _row(judgement: Judgement, profile: str, notebooks: Sequence[str]) -> str:
    claim = judgement.claim
    evidence = []
    rule = rules.parse(claim.rule) if claim.rule else None
    if claim.notebook:
        link = f"[{_escaped(claim.notebook)}](_generated/{claim.notebook}.ipynb)" if claim.notebook in notebooks else ""
        if rule is not None and rule.word == "setting":
            does = f"a setting of `notebooks/{claim.notebook}.ipynb` or of its profiles"
        else:
            does = f"`{PYTHON} privlib.experiments run --profile {profile} --only {claim.notebook}`"
        evidence.append(f"{link} {does}".strip())
    evidence += [f"`{PYTHON} pytest {node}`" for node in _nodes(claim)]
    if rule is not None and rule.word is None:
        written = "rule written after values" if rule.seen else "rule"
        tolerance = f", tolerance `{claim.tolerance}`" if claim.tolerance else ""
        evidence.append(f"{written} `{claim.rule.removeprefix(rules.SEEN)}`{tolerance}")
    if not evidence and judgement.verdict == NOT_RUN:
        evidence.append(_escaped(f"needs {claim.needs}"))
    value = " ".join(part for part in (claim.value, claim.unit) if part)
    name = f"[{claim.id}]{{#claim-{claim.id}}}"
    cells = [name, f"**{judgement.verdict}**", *map(_escaped, (claim.item, claim.claim, value, judgement.ours))]
    return "| " + " | ".join([*cells, "; ".join(evidence).replace("|", "\\|")]) + " |"


def _escaped(text: str) -> str:
    for character in "\\`*_{}[]<>|#~$":
        text = text.replace(character, f"\\{character}")
    return text
