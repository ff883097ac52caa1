"""What happened while a corpus was read. For the curator's eyes; it never enters a released record."""

from __future__ import annotations

from collections import Counter


class LoadingReport:
    """Counts of one or more readings, filled by `corpora.load`, `corpora.read` and `corpora.hub`.

    Pass an empty report as `report=`; the corpus that comes back knows nothing of it, because
    exact counts of a private file are not covered by any guarantee.

    >>> report = LoadingReport()
    >>> report.skip("empty text"); report.read(3); report.keep(2)
    >>> report
    LoadingReport(rows=3, kept=2, skipped={'empty text': 1}, notes={})
    """

    def __init__(self) -> None:
        self.rows = 0
        self.kept = 0
        self.skipped: Counter[str] = Counter()  # reason -> rows left out
        self.notes: Counter[str] = Counter()  # remark -> rows kept that it holds for

    def read(self, rows: int = 1) -> None:
        self.rows += rows

    def keep(self, rows: int = 1) -> None:
        self.kept += rows

    def skip(self, reason: str) -> None:
        self.skipped[reason] += 1

    def note(self, remark: str) -> None:
        self.notes[remark] += 1

    def __repr__(self) -> str:
        return (
            f"LoadingReport(rows={self.rows}, kept={self.kept}, "
            f"skipped={dict(sorted(self.skipped.items()))}, notes={dict(sorted(self.notes.items()))})"
        )
