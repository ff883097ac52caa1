"""Which folders one run reads and writes, and where its texts come from."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
PROFILES = ("smoke", "book", "record", "paper")


class ExperimentError(Exception):
    """A run, check or ledger that cannot go on; its message is one readable paragraph."""


@dataclass(frozen=True)
class Workspace:
    """Folders of one checkout: `root` holds notebooks/, book/, .cache/; `library` is the code keys depend on."""

    root: Path
    library: Path = field(default=PACKAGE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root).resolve())
        object.__setattr__(self, "library", Path(self.library).resolve())

    @classmethod
    def default(cls) -> Workspace:
        """The folder named by $PRIVLIB_ROOT (set by the runner), else the checkout this package lies in."""
        return cls(Path(os.environ.get("PRIVLIB_ROOT") or PACKAGE.parent))

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def profiles(self) -> Path:
        return self.notebooks / "profiles"

    @property
    def book(self) -> Path:
        return self.root / "book"

    @property
    def generated(self) -> Path:
        """What the book shows of the run at hand: executed notebooks, records/, run.json, times.json."""
        return self.book / "_generated"

    @property
    def tables(self) -> Path:
        """CSV twins of the records, copied by the builder beside the pages."""
        return self.book / "_extra" / "records"

    @property
    def recorded(self) -> Path:
        """Committed records: <profile>/<corpus>/<id>.json."""
        return self.book / "recorded"

    @property
    def labelled(self) -> Path:
        """Committed labelled texts that measure the verifier."""
        return self.book / "labelled"

    @property
    def claims(self) -> Path:
        return self.book / "claims.csv"

    @property
    def runs(self) -> Path:
        """Finished notebooks of every (profile, data), so that coming back to one costs nothing."""
        return self.root / ".cache" / "runs"


@dataclass(frozen=True)
class DataSource:
    """Where a run's texts come from: `kind` packaged, folder or hub; `argument` is what corpora.load receives."""

    kind: str
    argument: str
    folder: Path | None = None

    @classmethod
    def parse(cls, data: str, workspace: Workspace) -> DataSource:
        """Read DATA=packaged | hub | a folder that exists, relative to the current one; else raises ExperimentError."""
        if data in ("packaged", "hub"):
            return cls(data, data)
        folder = Path(data).resolve()
        if not folder.is_dir():
            raise ExperimentError(f"DATA must be 'packaged', 'hub' or a folder that exists, got {data!r}")
        return cls("folder", os.path.relpath(folder, workspace.root), folder)

    @property
    def slug(self) -> str:
        """Name of this source among the cached runs."""
        if self.folder is None:
            return self.kind
        return f"folder-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]}"
