"""The line under a figure: what made it, in one sentence, with the rest behind a fold."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privlib.experiments.records import Record

SHORT = 12  # hexadecimal digits of a checksum that are shown; the whole is in the tooltip and in the record


@dataclass(frozen=True)
class Provenance:
    """Displays as HTML in a notebook; says nothing of time, so that two runs show the same."""

    record: Record
    place: str = ""  # the committed file, of a record of another run that is drawn here

    def __repr__(self) -> str:
        return f"Provenance of record {self.record.id}: {self.record.notebook}, seed {self.record.seed}"

    def _repr_html_(self) -> str:
        made = self.record
        parameters = ", ".join(f"{name} = {_shown(value)}" for name, value in made.parameters.items())
        inputs = [_sum("data", c["name"], c["sha256"]) for c in made.corpora]
        inputs += [_sum("model", m["name"], m["checksum"]) for m in made.models]
        versions = ", ".join(f"{name} {version}" for name, version in made.versions.items())
        lines = [
            ("Parameters", escape(parameters) or "none"),
            ("Inputs", "; ".join(inputs) or "none: closed form or simulated data"),
            ("Guarantee", "; ".join(map(escape, made.guarantee)) or "none stated: not a private release"),
            ("Versions", escape(versions)),
            ("Command", f"<code>{escape(made.command)}</code>"),
        ]
        items = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in lines)
        beside = f' <a href="../records/{escape(made.id)}.csv">Numbers of {escape(made.id)} (CSV)</a>'
        where = ""
        if self.place:
            beside, where = "", f" (<code>{escape(self.place)}</code>)"
        verb = "Recorded" if self.place else "Made"
        summary = (
            f"{verb} by <code>{escape(made.notebook)}</code>, profile {escape(made.profile)}, seed {made.seed}; "
            f"record <code>{escape(made.id)}</code>{where}"
        )
        return (
            f'<div class="privlib-provenance" data-record="{escape(made.id)}">'
            f"<details><summary>{summary}</summary><dl>{items}</dl></details>{beside}</div>"
        )


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, str) else repr(value)


def _sum(kind: str, name: str, checksum: str) -> str:
    return f'{kind} {escape(name)} <code title="{escape(checksum)}">{escape(checksum[:SHORT])}</code>'
