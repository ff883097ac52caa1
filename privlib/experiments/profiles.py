"""From notebooks/profiles/<notebook>.yml, a profile and a data source to a plan of (notebook, parameters)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privlib.experiments.notebooks import Source, check_values, read_source
from privlib.experiments.workspace import PROFILES, DataSource, ExperimentError, Workspace

SOURCES = ("packaged", "folder", "hub")
REQUIRED = ("smoke", "book")  # every notebook is in these; the long profiles may leave some out


@dataclass(frozen=True)
class Job:
    """One notebook with the parameters it will be given."""

    source: Source
    parameters: dict[str, Any]

    @property
    def name(self) -> str:
        return self.source.name


def plan(
    workspace: Workspace,
    profile: str,
    data: DataSource,
    only: list[str] | None = None,
    changed: Sequence[str] = (),
) -> list[Job]:
    """The notebooks of a profile on a data source, by name, checked before anything runs.

    `profile` and `data` are set here; a profile file gives the rest, and `changed`, "parameter=value" each with the
    value as YAML, overrides it for the one notebook of `only`. Raises ExperimentError for a notebook without a
    profile file or the reverse, for unknown or missing sections, names that are no parameters, types that differ from
    the defaults', and an empty plan.
    """
    if changed and len(only or ()) != 1:
        raise ExperimentError(f"--set needs exactly one notebook (--only NAME), got {len(only or ())}")
    if profile not in PROFILES:
        raise ExperimentError(f"PROFILE must be one of {', '.join(PROFILES)}, got {profile!r}")
    notebooks = {path.stem: path for path in sorted(workspace.notebooks.glob("*.ipynb"))}
    if unknown := sorted(set(only or ()) - set(notebooks)):
        raise ExperimentError(
            f"no notebook {', '.join(unknown)} in {workspace.notebooks}; there are {', '.join(notebooks)}"
        )
    if only is None:
        orphans = sorted({path.stem for path in workspace.profiles.glob("*.yml")} - set(notebooks))
        if orphans:
            raise ExperimentError(f"profiles without a notebook: {', '.join(orphans)}")
    jobs = []
    for name, path in notebooks.items():
        if only is None or name in only:
            job = _job(workspace, path, profile, data)
            if job is not None:
                jobs.append(_changed(job, changed))
            elif only is not None:
                raise ExperimentError(f"{name} has no section {profile}: {data.kind}: in its profile file")
    if not jobs:
        raise ExperimentError(f"no notebook in {workspace.notebooks} has a section {profile}: {data.kind}:")
    return jobs


def _job(workspace: Workspace, path: Path, profile: str, data: DataSource) -> Job | None:
    file = workspace.profiles / f"{path.stem}.yml"
    sections = read_profiles(file)
    if data.kind not in sections.get(profile, {}):
        if profile in REQUIRED and data.kind != "hub":
            raise ExperimentError(f"{file.name}: has no section {profile}: {data.kind}:")
        return None
    source = read_source(path)
    given = sections[profile][data.kind]
    origin = f"{file.name} ({profile}, {data.kind})"
    check_values(source, given, origin)
    if given.get("profile", profile) != profile:
        raise ExperimentError(f"{origin}: profile must be {profile!r} or left out, got {given['profile']!r}")
    if data.folder is None and given.get("data", data.argument) != data.argument:
        raise ExperimentError(f"{origin}: data must be {data.argument!r} or left out, got {given['data']!r}")
    return Job(source, source.defaults | given | {"profile": profile, "data": data.argument})


def _changed(job: Job, changed: Sequence[str]) -> Job:
    import yaml

    given: dict[str, Any] = {}
    for one in changed:
        name, equals, value = one.partition("=")
        if not equals or name in (*given, "profile", "data"):
            raise ExperimentError(f"--set must be parameter=value, once each and not profile or data, got {one!r}")
        try:
            given[name] = yaml.load(value, Loader=_strict_loader())
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:  # "2020-13-45"
            raise ExperimentError(f"--set {name}: {' '.join(str(error).split())}") from error
    check_values(job.source, given, "--set")
    return Job(job.source, job.parameters | given)


def read_profiles(file: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """profile -> source -> parameters of one file; raises ExperimentError for unknown or repeated keys."""
    import yaml

    if not file.is_file():
        raise ExperimentError(f"{file.stem} has no profile file {file.name} in {file.parent}")
    try:
        loaded = yaml.load(file.read_text(encoding="utf-8"), Loader=_strict_loader())
    except yaml.YAMLError as error:
        raise ExperimentError(f"{file.name}: {' '.join(str(error).split())}") from error
    _expect_keys(file.name, loaded, PROFILES)
    for profile, sources in loaded.items():
        _expect_keys(f"{file.name}: {profile}", sources, SOURCES)
        for kind, parameters in sources.items():
            if parameters is None:
                sources[kind] = {}
            elif not isinstance(parameters, dict):
                raise ExperimentError(
                    f"{file.name}: {profile}: {kind} must map parameters to values, got {parameters!r}"
                )
    return loaded


def _expect_keys(where: str, loaded: Any, allowed: tuple[str, ...]) -> None:
    if not isinstance(loaded, dict) or not loaded or not set(loaded) <= set(allowed):
        got = sorted(map(str, loaded)) if isinstance(loaded, dict) else repr(loaded)
        raise ExperimentError(f"{where} must map some of {', '.join(allowed)}, got {got}")


def _strict_loader():
    """PyYAML's safe loader, but a key given twice is an error instead of the last one winning."""
    import yaml

    class StrictLoader(yaml.SafeLoader):
        def construct_mapping(self, node, deep=False):
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            if repeated := sorted({str(key) for key in keys if keys.count(key) > 1}):
                raise yaml.constructor.ConstructorError(
                    None, None, f"repeated key {', '.join(repeated)}", node.start_mark
                )
            return super().construct_mapping(node, deep)

    return StrictLoader
