"""Command line: `python -m privlib.experiments run | check | accept | ledger | report | clean`.

Exit status: 0 done, 1 a notebook failed or a check found a difference, 2 the request makes no sense.
"""

from __future__ import annotations

import argparse
import shutil
import sys

from privlib.experiments.workspace import PROFILES, DataSource, ExperimentError, Workspace


def run(workspace: Workspace, options: argparse.Namespace) -> int:
    from privlib.experiments import runner
    from privlib.experiments.gather import run_folder
    from privlib.experiments.profiles import plan

    data = DataSource.parse(options.data, workspace)
    jobs = plan(workspace, options.profile, data, options.only, options.set)
    outcome = runner.run(
        workspace,
        options.profile,
        data,
        jobs,
        workers=options.workers,
        timeout=options.timeout,
        progress=not options.quiet,
        changed=options.set,
    )
    folder = run_folder(workspace, options.profile, data, options.set)
    for name in outcome.executed:
        log = folder / name / "stderr.log"
        if log.stat().st_size:
            print(f"notice: {name} wrote to stderr, kept out of the book: {log.relative_to(workspace.root)}")
    for message in outcome.failures.values():
        print(f"FAILED {message}", file=sys.stderr)
    print(
        f"{len(outcome.executed)} executed, {len(outcome.current)} current already, "
        f"{len(outcome.failures)} failed (profile {options.profile}, data {data.kind})"
    )
    if options.set and not outcome.failures:
        print(f"notebook and records: {(folder / options.only[0]).relative_to(workspace.root)}")
    elif options.only and not outcome.failures:
        _tell(workspace, options.only)
    return 1 if outcome.failures else 0


def _tell(workspace: Workspace, notebooks: list[str]) -> None:
    """Print the verdicts of the claims that these notebooks judge, and what the book's folder holds now."""
    from privlib.experiments import ledger as claims
    from privlib.experiments.gather import published

    if workspace.claims.is_file():
        for one in claims.judge(workspace, notebooks):
            print(f"{one.claim.id} {one.verdict}: {one.ours}")
    state = published(workspace)
    whole = "the whole profile" if state.complete else f"only {', '.join(state.notebooks)}"
    print(f"book/_generated now holds {whole} (profile {state.profile}, data {state.data})")


def check(workspace: Workspace, options: argparse.Namespace) -> int:
    from privlib.experiments import regression

    data = DataSource.parse(options.data, workspace) if options.data else None
    result = regression.check(workspace, options.profile, data, options.only or ())
    for line in result.notices:
        print(f"notice: {line}")
    for line in result.differences:
        print(f"DIFFERS {line}", file=sys.stderr)
    print(f"{result.compared} records compared, {len(result.differences)} differences")
    return 1 if result.differences else 0


def accept(workspace: Workspace, options: argparse.Namespace) -> int:
    from privlib.experiments import regression

    changed = regression.accept(workspace, options.profile, DataSource.parse(options.data, workspace))
    for path in changed:
        print(f"{'recorded' if path.exists() else 'removed'} {path.relative_to(workspace.root)}")
    print(f"{len(changed)} files changed")
    return 0


def ledger(workspace: Workspace, options: argparse.Namespace) -> int:
    from privlib.experiments import ledger as claims
    from privlib.experiments.gather import published

    state = published(workspace)
    judgements = claims.judge(workspace)
    text = claims.render(judgements, state.profile, list(state.notebooks))
    (workspace.generated / "ledger.md").write_text(text, encoding="utf-8")
    for verdict in claims.VERDICTS:
        print(f"{sum(j.verdict == verdict for j in judgements):4d} {verdict}")
    return 0


def report(workspace: Workspace, options: argparse.Namespace) -> int:
    from privlib.experiments import report as execution

    (workspace.generated / "execution.md").write_text(execution.render(workspace), encoding="utf-8")
    return 0


def clean(workspace: Workspace, options: argparse.Namespace) -> int:
    for folder in (workspace.generated, workspace.tables, workspace.runs):
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m privlib.experiments")
    commands = parser.add_subparsers(dest="command", required=True)
    which = argparse.ArgumentParser(add_help=False)
    which.add_argument("--profile", choices=PROFILES, default="smoke")
    which.add_argument("--data", default="packaged", help="packaged, hub, or a folder")
    only = {"action": "append", "metavar": "NAME", "help": "this notebook only (may be repeated)"}
    changed = (
        "a parameter of the one notebook, in YAML, instead of the profile's (may be repeated); stays out of the book"
    )
    one = commands.add_parser("run", parents=[which], help="execute the notebooks that are not current")
    one.add_argument("--only", **only)
    one.add_argument("--set", action="append", default=[], metavar="PARAMETER=VALUE", help=changed)
    one.add_argument("--workers", type=int, default=2)
    one.add_argument("--timeout", type=int, help="seconds a cell may take (by default the profile's)")
    one.add_argument("--quiet", action="store_true", help="no progress bar")
    one.set_defaults(action=run)
    one = commands.add_parser("check", help="compare the run at hand with book/recorded")
    one.add_argument("--profile", choices=PROFILES, help="insist on this one (by default, that of the run at hand)")
    one.add_argument("--data", help="insist on packaged, hub, or a folder")
    one.add_argument("--only", **only)
    one.set_defaults(action=check)
    keep = commands.add_parser("accept", parents=[which], help="make the records of the run at hand the recorded ones")
    keep.set_defaults(action=accept)
    commands.add_parser("ledger", help="write book/_generated/ledger.md").set_defaults(action=ledger)
    commands.add_parser("report", help="write book/_generated/execution.md").set_defaults(action=report)
    commands.add_parser("clean", help="remove everything that a run can make again").set_defaults(action=clean)
    return parser


def main(argv: list[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        return options.action(Workspace.default(), options)
    except ExperimentError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
