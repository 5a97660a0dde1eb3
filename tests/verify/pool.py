"""Runs checks in worker processes. A check that crashes its process, or hangs, is a failed row; the others go on.

Each worker leads a process group of its own and has a private temporary folder, so that whatever a killed check had
started (TLC, hosts) is ended and removed with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.verify.check import Check, Row, run
from tla.shared import FOLDER as TLC_RUNS

__all__ = ("run_all",)

_TAIL = 2000


def _serve(connection: Connection, log: str, folder: str, runs: str) -> None:
    os.setsid()
    os.environ["TMPDIR"] = folder
    os.environ["FDCOMM_RUNTIME_DIR"] = os.path.join(folder, "run")
    os.environ[TLC_RUNS] = runs
    tempfile.tempdir = None
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.close(fd)
    connection.send(None)  # ready: from here on the process group is ours to end
    while True:
        try:
            check: Check = connection.recv()
        except EOFError:
            return
        # A row belongs to the cell of its check, whatever the check wrote there.
        connection.send(replace(run(check), protocol=check.protocol, level=check.level))


class _Worker:
    def __init__(self, folder: Path, number: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.log = folder / f"worker{number}.log"
        private = folder / f"w{number}"
        private.mkdir()
        runs = folder / "tlc"  # all workers' together, and gone with this invocation
        runs.mkdir(exist_ok=True)
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, str(self.log), str(private), str(runs)))
        self.process.start()
        theirs.close()
        self.check: Check | None = None
        self.ready = False
        self.used = False
        self.since = time.monotonic()

    def give(self, check: Check) -> None:
        self.check, self.since, self.used = check, time.monotonic(), True
        self.connection.send(check)

    def stop(self) -> None:
        """End the worker and everything that it started."""
        self.connection.close()
        if self.ready:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()

    def failure(self, reason: str) -> Row:
        check = self.check
        assert check is not None
        printed = self.log.read_text(errors="replace")[-_TAIL:].strip() if self.log.exists() else ""
        detail = reason + (f"; it printed:\n{printed}" if printed else "")
        seconds = time.monotonic() - self.since
        return Row(check.protocol, check.level, check.what, ok=False, detail=detail, seconds=seconds)


def run_all(
    checks: Sequence[Check],
    jobs: int,
    limit_s: float,
    started: Callable[[Check], None] = lambda check: None,
    finished: Callable[[Check, Row], None] = lambda check, row: None,
) -> list[Row]:
    """Run the checks in their order, ``jobs`` at a time, and return their rows in the same order.

    Args:
        checks: What to run.
        jobs: How many processes work at once.
        limit_s: A check that takes longer is ended and has failed.
        started: Called when a check starts.
        finished: Called with its row when it is done.
    """
    rows: dict[int, Row] = {}
    order = {id(check): index for index, check in enumerate(checks)}
    todo = deque(checks)
    # Directly in /tmp, not in TMPDIR: hosts put sockets there, and the path of a socket may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="fdcomm-verify-", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        workers: list[_Worker] = []
        made = 0

        def done(worker: _Worker, row: Row) -> None:
            check = worker.check
            assert check is not None
            worker.check = None
            rows[order[id(check)]] = row
            finished(check, row)

        def give(worker: _Worker) -> None:
            if todo and todo[0].fresh and worker.used:
                worker.stop()
                workers.remove(worker)
            elif todo:
                worker.give(todo.popleft())
                assert worker.check is not None
                started(worker.check)

        try:
            while len(rows) < len(checks):
                busy = sum(worker.check is not None for worker in workers)
                while len(workers) < min(jobs, len(todo) + busy):
                    workers.append(_Worker(folder, made))
                    made += 1
                for worker in _talkative(workers, limit_s):
                    try:
                        row = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.process.join()
                        code = worker.process.exitcode
                        if worker.check is None:
                            raise RuntimeError(f"a worker ended with {code} before it was given work") from None
                        done(worker, worker.failure(f"its process ended with {code}"))
                        worker.stop()
                        workers.remove(worker)
                        continue
                    if row is None:
                        worker.ready = True
                    else:
                        done(worker, row)
                    give(worker)
                for worker in [w for w in workers if w.check and time.monotonic() - w.since > limit_s]:
                    done(worker, worker.failure(f"not done after {limit_s:.0f} s, so it was ended"))
                    worker.stop()
                    workers.remove(worker)
        finally:
            for worker in workers:
                worker.stop()
    return [rows[index] for index in range(len(checks))]


def _talkative(workers: Iterable[_Worker], limit_s: float) -> list[_Worker]:
    """Wait until a worker says something or ends, or until the next check is over its time."""
    by_connection = {worker.connection: worker for worker in workers}
    ends = [worker.since + limit_s for worker in by_connection.values() if worker.check]
    patience = max(0.0, min(ends) - time.monotonic()) + 0.01 if ends else limit_s
    return [by_connection[ready] for ready in wait(list(by_connection), patience) if isinstance(ready, Connection)]
