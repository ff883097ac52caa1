"""Tables of the corpora and models that the records of a build and the committed ones were made from."""

from __future__ import annotations

from collections.abc import Iterable

from privlib.experiments.records import Record, read
from privlib.experiments.workspace import Workspace

SHOWN = 12  # hexadecimal digits of a checksum on the page; the records hold all


def all_records(workspace: Workspace) -> list[Record]:
    """Records of the run at hand, then the committed ones."""
    fresh = sorted((workspace.generated / "records").glob("*.json"))
    return [read(path) for path in [*fresh, *sorted(workspace.recorded.glob("*/*/*.json"))]]


def render(records: Iterable[Record]) -> str:
    """Markdown: one table of corpora, one of models, with the notebooks that used each."""
    corpora: dict[tuple[str, str, str, str], set[str]] = {}
    models: dict[tuple[str, str], set[str]] = {}
    for made in records:
        for one in made.corpora:
            key = (one["name"], one["source"], one["sha256"], one["terms"])
            corpora.setdefault(key, set()).add(made.notebook)
        for one in made.models:
            models.setdefault((one["name"], one["checksum"]), set()).add(made.notebook)
    lines = ["| corpus | file | SHA-256 begins | terms as recorded | used by |", "|---|---|---|---|---|"]
    for (name, source, checksum, terms), used in sorted(corpora.items()):
        lines.append(f"| {name} | {_cell(source)} | `{checksum[:SHOWN]}` | {_cell(terms)} | {_names(used)} |")
    lines += ["", "| model | SHA-256 begins | used by |", "|---|---|---|"]
    lines += [
        f"| {name} | `{checksum[:SHOWN]}` | {_names(used)} |" for (name, checksum), used in sorted(models.items())
    ]
    return "\n".join(lines) + "\n"


def _names(notebooks: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(notebooks))


def _cell(text: str) -> str:
    for character in "\\`*_{}[]<>|$":
        text = text.replace(character, f"\\{character}")
    return text
