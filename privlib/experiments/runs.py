"""The run folder of DP-SPIN: one grid, one folder, one run a point, simulated files apart from the curator's.

    <root>/grid.yaml                     public settings that every run of the grid shares
    <root>/simulated/<run>/              config.yaml, private_plan.json, summary.txt or FAILED, verifier_attempts.json
    <root>/curator/<run>/metrics.json    made with the true sketch, so no guarantee covers it: not for release

Nothing here is a release: config.yaml holds the seed of the noise, and whoever knows that takes the noise away; the
bills of several plans of one sketch add up besides. For a release call the mechanism once with `Secure()`.

A run is finished when its simulated folder is there; both folders appear whole, by a rename, the simulated one last. A
kill at any moment leaves a finished run or one that is made again. One process at a time works on a root.
Source: DP-SPIN, Appendices C.7 to C.9; the split into two trees and the refusal to mix grids (the paper's scripts
delete the older grid) are ours.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privlib import plans
from privlib.dp import Simulation
from privlib.experiments.records import plain
from privlib.plans.decoders import MAX_ATTEMPTS, Decoder

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SIMULATED, CURATOR, GRID, FAILED = "simulated", "curator", "grid.yaml", "FAILED"
NOTE = (
    "For the curator only: computed from the true sketch of the protected texts and covered by no privacy guarantee. "
    "Do not release it with the plan."
)
_NAME = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Decoding:
    """How a run tells its plan: `name` and public `settings` (model, checksum, tokens, seed) say what `decoder` is."""

    name: str
    decoder: Decoder = field(repr=False, compare=False)
    settings: Mapping[str, Any] = field(default_factory=dict)
    max_attempts: int = MAX_ATTEMPTS


@dataclass(frozen=True)
class Runs:
    """The runs of one grid in the folder `root`.

    `settings`: public, what all runs share: corpus, split, universe, sparsity, requested units. An empty folder is
    given them as grid.yaml. Raises ValueError when the folder holds another grid, or files but no grid.
    """

    root: Path
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root))
        settings = plain(dict(self.settings), "settings")
        path = self.root / GRID
        if path.exists():
            _check_same(f"{self.root} holds another grid", _load(path), settings)
            return
        if self.root.is_dir() and any(not child.name.endswith(".part") for child in self.root.iterdir()):
            raise ValueError(f"{self.root} must be empty or hold a grid, got files without {GRID}")
        self.root.mkdir(parents=True, exist_ok=True)
        _write_whole(path, _yaml(settings))

    def run(
        self, sketch: plans.Sketch, mechanism: plans.mechanisms.PlanMechanism, decoding: Decoding, seed: int
    ) -> Path:
        """Simulate, tell, verify and measure one point of the grid; returns its simulated folder.

        `sketch`: private; `mechanism`: its public settings name the run; `decoding`: see `Decoding`; `seed` >= 0 of
        the simulated noise. A finished run is left as it is. A run whose decoder raised has the file FAILED, with
        the type of the error alone, in place of summary.txt; its plan stands, and it is made again next time.
        Raises ValueError when the folder holds this run with other settings.
        Noise: a stream of its own for every setting of the mechanism, universe and seed; two decoders of one setting
        are given the same plan. Text, attempts and marker are functions of the plan (Theorem 5.8).
        """
        config = self._config(mechanism, decoding, seed)
        name = _name(mechanism, decoding, seed)
        done = self.root / SIMULATED / name
        if done.is_dir():
            _check_same(f"run {name} was made", _load(done / "config.yaml"), config)
            if not (done / FAILED).exists():
                return done
        stream = _json([config["mechanism"], config["universe"]])
        plan = mechanism.release(sketch, Simulation(seed).child(stream))
        drawn = mechanism.draw(sketch.masses, Simulation(seed).child(stream))  # the same coins: what the plan is of
        report = error = None
        try:
            report = plans.report(plan, decoding.decoder, mechanism.universe, decoding.max_attempts)
        except Exception as caught:
            error = type(caught).__name__
        files = {"config.yaml": _yaml(config), "private_plan.json": plan.to_json() + "\n"}
        files |= _told(report) if report is not None else {FAILED: f"The decoder raised {error}.\n"}
        metrics = {"note": NOTE} | utility(sketch, mechanism, plan, *drawn)
        metrics |= {} if report is None else telling(report, plan)
        _place(self.root / CURATOR / name, {"metrics.json": _json(metrics)})
        _place(done, files)
        return done

    def table(self) -> pd.DataFrame:
        """One row a finished run, by name: what tells points apart (Appendix C.9), seed, the curator's measures.

        First columns: what the runs share, the grid's settings that are one number or text (units, sparsity).
        Made with the true sketch, so not for release. Raises ValueError when no run is finished.
        """
        import pandas as pd

        rows = []
        for made in sorted((self.root / SIMULATED).glob("*/summary.txt")):
            if made.parent.name.endswith(".part"):
                continue
            config = _load(made.with_name("config.yaml"))
            path = self.root / CURATOR / made.parent.name / "metrics.json"
            metrics = json.loads(path.read_text(encoding="utf-8"))
            settings, size = config["mechanism"], config["universe"]["size"]
            keys = {
                "mechanism": settings["name"],
                "unit": settings["unit"],
                "universe_size": size,
                "plan_size": settings["plan_size"],
                "epsilon": settings["epsilon"],
                "delta": settings.get("delta", 0.0),
                "contribution_bound": settings["contribution_bound"],
                "decoder": config["decoder"]["name"],
            }
            measured = {name: value for name, value in metrics.items() if isinstance(value, (bool, int, float))}
            shared = {name: value for name, value in config["grid"].items() if isinstance(value, (int, float, str))}
            rows.append(shared | keys | {"seed": config["seed"]} | measured)
        if not rows:
            raise ValueError(f"{self.root} must hold a finished run, found none")
        return pd.DataFrame(rows)

    def _config(self, mechanism: plans.mechanisms.PlanMechanism, decoding: Decoding, seed: int) -> dict[str, Any]:
        return plain(
            {
                "grid": dict(self.settings),
                "mechanism": {"name": mechanism.name} | public_settings(mechanism),
                "universe": {"size": len(mechanism.universe), "fingerprint": mechanism.universe.fingerprint},
                "decoder": {"name": decoding.name, "max_attempts": decoding.max_attempts} | dict(decoding.settings),
                "seed": seed,
            },
            "config",
        )


def public_settings(mechanism: plans.mechanisms.PlanMechanism) -> dict[str, Any]:
    """Every field of a mechanism but the universe, without those that are None: all of them are public."""
    fields = {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__ if name != "universe"}
    return {name: dict(v) if isinstance(v, Mapping) else v for name, v in fields.items() if v is not None}


def utility(
    sketch: plans.Sketch,
    mechanism: plans.mechanisms.PlanMechanism,
    plan: plans.SemanticPlan,
    indices: np.ndarray,
    values: np.ndarray,
) -> dict[str, float]:
    """Retained mass, loss, overlap, and errors of the noisy values, from the true sketch: never released.

    `indices`, `values`: what the mechanism drew; all m for the full sketches, the admitted ones for private top-L.
    """
    place = {label: k for k, label in enumerate(mechanism.universe.labels)}
    admitted = [place[atom.label] for atom in plan.atoms]
    masses = sketch.masses
    errors = {f"error_{norm}": e for norm, e in plans.value_errors(masses, indices, values).items()}
    return {
        "mass_retained": plans.mass_retained(masses, admitted),
        "loss": plans.loss(masses, admitted),
        "overlap": plans.overlap(masses, admitted),
    } | errors


def telling(report: plans.Report, plan: plans.SemanticPlan) -> dict[str, Any]:
    """What became of the text: attempts, whether the fallback was taken, share of admitted atoms that it names."""
    kinds = [violation.kind for attempt in report.attempts for violation in attempt.verdict.violations]
    dropped = [violation.kind for attempt in report.attempts for violation in attempt.dropped]
    return {
        "attempts": len(report.attempts),
        "fallback": report.fallback,
        "mention_rate": len(plans.mentioned(report.text, plan)) / max(1, len(plan.atoms)),
        "violations": {kind: kinds.count(kind) for kind in sorted(set(kinds))},
        "dropped": {kind: dropped.count(kind) for kind in sorted(set(dropped))},
    }


def _told(report: plans.Report) -> dict[str, str]:
    attempts = [
        {
            "accepted": attempt.verdict.accepted,
            "text": attempt.text,
            "violations": [vars(violation) for violation in attempt.verdict.violations],
            "feedback": attempt.feedback,
            "answers": attempt.answers,
            "dropped": [vars(violation) for violation in attempt.dropped],
        }
        for attempt in report.attempts
    ]
    return {
        "summary.txt": report.text,
        "verifier_attempts.json": _json({"fallback": report.fallback, "attempts": attempts}),
    }


def _name(mechanism: plans.mechanisms.PlanMechanism, decoding: Decoding, seed: int) -> str:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"seed must be an integer of at least 0, got {seed!r}")
    if not _NAME.fullmatch(decoding.name):
        raise ValueError(f"decoding.name must be letters and digits with single . _ - between, got {decoding.name!r}")
    size = f"m{len(mechanism.universe)}-L{mechanism.plan_size}"
    return f"{mechanism.name}-{mechanism.unit}-{size}-eps{mechanism.epsilon!r}-{decoding.name}-seed{seed}"


def _place(folder: Path, files: Mapping[str, str]) -> None:
    """Write a folder whole: beside its place, then renamed onto it; an older one there goes first."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    for name, text in files.items():
        (part / name).write_text(text, encoding="utf-8", errors="backslashreplace")
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)


def _write_whole(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _check_same(what: str, found: Any, wanted: Mapping[str, Any]) -> None:
    if found != wanted:
        found = found if isinstance(found, dict) else {}
        differ = sorted(key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key))
        raise ValueError(f"{what} with other settings ({', '.join(differ)} differ): take a folder of its own")


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def _yaml(value: Mapping[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(dict(value), sort_keys=True, allow_unicode=True)


def _load(path: Path) -> Any:
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))
