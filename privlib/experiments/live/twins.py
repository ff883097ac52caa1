"""Figures whose sliders walk over recorded grids: no Python in the page, only rows of committed records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from privlib.experiments.live.charts import axis, layer, layered, series
from privlib.experiments.records import Record, recorded
from privlib.experiments.workspace import ExperimentError, Workspace

Row = dict[str, Any]
BEST = ("record", "book")  # profiles whose records are shown, the larger first
CURVE, HERE = "curve", "here"


@dataclass(frozen=True)
class Twin:
    """One figure made of the records `record`.

    `rows` turns a record into rows of `choices` and `slider` (grid columns), "series", "value", "low", "high" and,
    where it is not the slider itself, `x`. A page shows the rows of one choice and one slider value as "here", all of
    that choice as "curve". `labels`: what a reader sees for a column.
    """

    name: str
    title: str
    record: str
    rows: Callable[[Record], Iterable[Row]]
    slider: str
    labels: dict[str, str]
    alt: str
    value: str = "value"
    choices: tuple[str, ...] = ()
    x: str = ""
    log: bool = False
    log_value: bool = False

    def plain(self, workspace: Workspace) -> Row:
        """Rows, controls and chart as a page needs them. Raises ExperimentError where no record is committed."""
        made = committed(self.record, workspace)
        rows = [row for one in made for row in self.rows(one)]
        for row in rows:
            row["text"] = f"{row['value']:.4g}" + (
                f" ({row['low']:.4g} to {row['high']:.4g})" if row["low"] < row["high"] else ""
            )
        columns = (*self.choices, self.slider)
        places = [tuple(row[column] for column in (*columns, "series", *filter(None, [self.x]))) for row in rows]
        if len(set(places)) < len(places):
            raise ExperimentError(
                f"records {self.record!r} vary in more than {columns}: their points would lie on others"
            )
        return {
            "title": self.title,
            "controls": [
                {
                    "name": column,
                    "label": self.labels[column],
                    "kind": "grid" if column == self.slider else "choice",
                    "choices": _values(rows, column, column == self.slider),
                }
                for column in columns
            ],
            "charts": [{"name": HERE, "alt": self.alt, "spec": self.spec()}],
            "rows": rows,
            "made": [
                f"{one.profile}/{one.corpus}/{one.id}.json, seed {one.seed}, privlib {one.versions['privlib']}"
                for one in made
            ],
        }

    def spec(self) -> Row:
        """The curve of a choice with the point at the slider on it; without a curve where x is another column."""
        x = axis(self.x or self.slider, self.labels[self.x or self.slider], log=self.log)
        y = axis("value", self.value, log=self.log_value)
        looks = series()
        if self.x:
            line = {"type": "line", "point": {"filled": True, "size": 40}, "strokeWidth": 1.5}
            return layered([layer(HERE, line, x=x, y=y, **looks)])
        return layered(
            [
                layer(CURVE, {"type": "line", "strokeWidth": 2}, x=x, y=y, **looks),
                layer(
                    HERE,
                    {"type": "rule", "strokeWidth": 4, "opacity": 0.5},
                    x=x,
                    y={**y, "field": "low"},
                    y2={"field": "high"},
                    color=looks["color"],
                ),
                layer(
                    HERE,
                    {"type": "point", "filled": True, "size": 110},
                    x=x,
                    y=y,
                    color=looks["color"],
                    shape=looks["shape"],
                ),
            ]
        )


def committed(id: str, workspace: Workspace) -> list[Record]:
    """The records of one id that a page shows: one a corpus, of the largest profile there is."""
    order = {profile: place for place, profile in enumerate(BEST)}
    best: dict[str, Record] = {}
    for one in sorted(recorded(id, workspace), key=lambda one: order.get(one.profile, len(order))):
        if one.profile in order:
            best.setdefault(one.corpus, one)
    if not best:
        raise ExperimentError(f"no record {id!r} of profile {' or '.join(BEST)} is committed in {workspace.recorded}")
    return [best[corpus] for corpus in sorted(best)]


def _values(rows: Sequence[Row], column: str, ordered: bool) -> list[Any]:
    found = dict.fromkeys(row[column] for row in rows)
    return sorted(found) if ordered else list(found)


def _table(made: Record) -> Iterable[Row]:
    return (dict(zip(made.columns, values, strict=True)) for values in made.values)


def _measures(
    names: dict[str, str], grid: Sequence[str], by: str, only: Callable[[Row], bool] = lambda row: True
) -> Callable[[Record], Iterable[Row]]:
    """Rows of one record, one a measure: `names` maps the shown name to its column, which has _low and _high."""

    def rows(made: Record) -> Iterable[Row]:
        for row in filter(only, _table(made)):
            for shown, column in names.items():
                yield {
                    "corpus": _setting(row, made),
                    "measure": shown,
                    **{name: row[name] for name in grid},
                    "series": row[by],
                    "value": row[column],
                    "low": row[f"{column}_low"],
                    "high": row[f"{column}_high"],
                }

    return rows


def _setting(row: Row, made: Record) -> str:
    """The corpus, with what else a grid of plans varies; a case names its corpora itself."""
    if "case" in row:
        return row["case"]
    sizes = [f"{sign} = {row[name]}" for sign, name in (("m", "universe_size"), ("K", "sparsity")) if name in row]
    return ", ".join([row.get("corpus", made.corpus), *sizes])


def _tradeoff(made: Record) -> Iterable[Row]:
    for row in _table(made):
        if row["method"] == "quantization":
            shared = {"corpus": made.corpus, "dilution": row["strength"], "series": row["secret"]}
            yield {
                **shared,
                "measure": "error of the attack",
                "value": row["mean"],
                "low": row["low"],
                "high": row["high"],
            }
            kept, sd = row["joint"], row["joint_sd"]
            yield {**shared, "measure": "utility kept", "value": kept, "low": kept - sd, "high": kept + sd}


def _deviations(made: Record) -> Iterable[Row]:
    for row in _table(made):
        value = row["noise_std"]
        yield {
            "epsilon": row["epsilon"],
            "delta": f"{row['delta']:g}",
            "series": row["calibration"],
            "value": value,
            "low": value,
            "high": value,
        }


def _laws(made: Record) -> Iterable[Row]:
    for row in _table(made):
        value = row["probability"]
        yield {"scale": row["scale"], "x": row["x"], "series": row["law"], "value": value, "low": value, "high": value}


# of a dozen methods those that a reader weighs against each other
CENTROIDS = ("paper", "joint", "integrated, denoised", "anchored", "anchored, denoised", "central, anchored")
CENTROIDS += ("public anchors", "no privacy")


TWINS = (
    Twin(
        name="plans",
        title="Semantic plans: what a plan keeps",
        record="plans-mass-retained",
        rows=_measures(
            {"mass retained": "mass_retained", "overlap with the true plan": "overlap"}, ("epsilon",), "mechanism"
        ),
        slider="epsilon",
        choices=("corpus", "measure"),
        labels={"epsilon": "ε", "corpus": "corpus", "measure": "measure"},
        value="mean over draws",
        log=True,
        alt="Mass retained or overlap against epsilon, one line a mechanism, rising; the slider marks one epsilon.",
    ),
    Twin(
        name="synthesis",
        title="Synthesis from embeddings: what released centroids are good for",
        record="synthesis-utility-methods",
        rows=_measures(
            {"F1": "f1", "precision": "precision", "recall": "recall", "l2 distance": "l2"},
            ("epsilon",),
            "method",
            lambda row: row["scored"] == "all" and row["method"] in CENTROIDS,
        ),
        slider="epsilon",
        choices=("corpus", "measure"),
        labels={"epsilon": "ε", "corpus": "corpus", "measure": "measure"},
        value="mean over seeds",
        log=True,
        alt="Utility of released centroids against epsilon, one line a method; the slider marks one epsilon.",
    ),
    Twin(
        name="quantization",
        title="Dataset-level secrets: attack error and utility",
        record="quantization-tradeoff",
        rows=_tradeoff,
        slider="dilution",
        choices=("corpus", "measure"),
        labels={"dilution": "γ/k", "corpus": "corpus", "measure": "measure"},
        value="mean over draws",
        alt="Attack error or utility against gamma over k, one line a secret; the slider marks one setting.",
    ),
    Twin(
        name="calibration",
        title="Gaussian noise by three calibrations",
        record="calibration-gaussian",
        rows=_deviations,
        slider="epsilon",
        choices=("delta",),
        labels={"epsilon": "ε", "delta": "δ"},
        value="standard deviation",
        log=True,
        log_value=True,
        alt="Standard deviation of Gaussian noise against epsilon, one line a calibration, falling.",
    ),
    Twin(
        name="integers",
        title="Three laws on the integers",
        record="noise-laws",
        rows=_laws,
        slider="scale",
        x="x",
        labels={"scale": "scale", "x": "integer"},
        value="probability",
        alt="Probability of each integer, one line a law, highest in the middle; the slider sets the scale.",
    ),
)
