"""Progress of a verification: a live bar on a terminal, one line per finished check elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tests.verify.check import Check, Row

__all__ = ("Reporter",)


class Reporter:
    """Told of each check's start and end; shows them."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        self._total = total
        self._done = 0
        self._running: dict[str, None] = {}
        self._console = console or Console()
        self._progress: Progress | None = None
        if self._console.is_terminal:
            self._progress = Progress(
                TextColumn("verify"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}", markup=False),
                console=self._console,
                transient=True,
            )
            self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> Reporter:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    def started(self, check: Check) -> None:
        """A worker took the check."""
        self._running[f"{check.level} {check.what}"] = None
        self._show()

    def finished(self, check: Check, row: Row) -> None:
        """The check has its row."""
        self._done += 1
        self._running.pop(f"{check.level} {check.what}", None)
        verdict = "ok  " if row.ok else "FAIL"
        if self._progress is None:
            width = len(str(self._total))
            place = f"[{self._done:{width}}/{self._total}]"
            print(f"{place} {verdict} {row.level} {row.protocol}: {row.what}  {row.seconds:.1f} s", flush=True)
        elif not row.ok:
            self._progress.console.print(f"{verdict} {row.level} {row.protocol}: {row.what}", markup=False)
        self._show()
        sys.stdout.flush()

    def _show(self) -> None:
        if self._progress:
            running = " | ".join(self._running)
            self._progress.update(self._task, completed=self._done, description=running[:90])
