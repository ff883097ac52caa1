"""How the size of a dictionary follows its rules, and the dictionaries as tables; from records only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlib.experiments.figures.plans import curves
from privlib.experiments.style import WIDTH

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from privlib.experiments.records import Record


def draw_sizes(record: Record) -> Figure:
    """Atoms that remain against the support threshold, a line a corpus; phrases only, no limit of size."""
    import matplotlib.pyplot as plt

    rows = record.rows[record.rows.rule == "threshold"]
    figure, axis = plt.subplots(figsize=(WIDTH, 3.8))
    curves(axis, rows, "setting", "size", "corpus")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xticks(ticks := sorted(rows.setting.unique()), [str(tick) for tick in ticks])
    axis.minorticks_off()
    axis.yaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("auxiliary documents an atom must be in")
    axis.set_ylabel("atoms that remain")
    axis.legend()
    return figure


def top_atoms(record: Record, count: int) -> pandas.DataFrame:
    """A table of the `count` best supported atoms a corpus, "label (support)", one column a corpus."""
    rows = record.rows[record.rows["rank"] <= count]
    cells = rows.assign(atom=[f"{label} ({n})" for label, n in zip(rows.label, rows.support, strict=True)])
    return cells.pivot(index="rank", columns="corpus", values="atom").fillna("")


def top_atoms_apart(record: Record, count: int) -> list[pandas.DataFrame]:
    """`top_atoms` as two tables, phrases and then combinations of metadata, whose long labels need a table's width."""
    table = top_atoms(record, count)
    long = [corpus for corpus in table if table[corpus].str.contains(" / ").any()]
    return [part for part in (table.drop(columns=long), table[long]) if part.shape[1]]


def overview(record: Record, part: str = "all") -> pandas.DataFrame:
    """A table of one part's statistics, a column a corpus; blank where a corpus has no such number."""
    rows = record.rows[record.rows.part == part]
    cells = rows.assign(shown=[f"{value:.4g}" for value in rows.value])
    order = list(dict.fromkeys(rows.statistic))
    return cells.pivot(index="statistic", columns="corpus", values="shown").reindex(order).fillna("")
