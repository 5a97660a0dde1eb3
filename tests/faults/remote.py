"""Processes under remote control, and waiting for what they do."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import fdcomm

__all__ = (
    "LIMIT_S",
    "NIGHTLY",
    "Failed",
    "Remote",
    "fds_of",
    "host_pid",
    "is_gone",
    "page_of",
    "see_host_lost",
    "stopped",
    "until",
)

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 60.0  # a watchdog
NIGHTLY = os.environ.get("FDCOMM_PROFILE") == "deep"


class Failed(Exception):
    """The process answered with an error."""

    def __init__(self, answer: dict[str, Any]) -> None:
        super().__init__(f"{answer['error']}: {answer['text']}")
        self.name: str = answer["error"]
        self.typed: bool = answer["typed"]
        self.missing = tuple(answer["missing"])
        self.operation: str = answer["operation"]


class Remote:
    """One process that runs ``tests.faults.child``."""

    def __init__(self, python: str = sys.executable, *, prefix: Sequence[str] = (), **environment: str) -> None:
        self.process = subprocess.Popen(
            [*prefix, python, "-m", "tests.faults.child"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, order: str, *args: Any, **kwargs: Any) -> None:
        """Give an order and do not wait for the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"order": order, "args": args, "kwargs": kwargs}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Return the answer to the oldest order, or raise :class:`Failed`."""
        try:
            line = self._lines.get(timeout=LIMIT_S)
        except queue.Empty:
            raise AssertionError(f"process {self.process.pid} does not answer") from None
        assert line is not None, f"process {self.process.pid} ended"
        if "error" in line:
            raise Failed(line)
        return line.get("value", line)

    def ask(self, order: str, *args: Any, **kwargs: Any) -> Any:
        """Give an order and return the answer."""
        self.send(order, *args, **kwargs)
        return self.answer()

    def open(self, port: int, **arguments: Any) -> int:
        """Open a queue in the process."""
        opened: int = self.ask("open", address=["0.0.0.0", port], **arguments)
        cache = arguments.get("queue") == "EngineCacheQueue"
        self.call(
            "result_queue_empty" if cache else "num_tasks"
        )  # now the thread's own connection is there: points are those of the next call
        return opened

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call the queue's method and return what it returns."""
        return self.ask("call", method, *args, **kwargs)

    def start(self, method: str, *args: Any, at: str = "call.sent", **kwargs: Any) -> None:
        """Start a call and return when it has passed the point ``at``."""
        self.ask("arm", at, "tell")
        self.send("call", method, *args, **kwargs)
        assert self.answer() == {"point": at}

    def kill(self) -> None:
        """End the process with SIGKILL and wait until it is gone."""
        self.process.kill()
        self.process.wait(LIMIT_S)

    def ended(self) -> int:
        """Wait for the end of the process and return its code."""
        return self.process.wait(LIMIT_S)

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        try:
            self.process.wait(LIMIT_S if error is None else 2.0)
        except subprocess.TimeoutExpired:
            self.kill()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)


def until(look: Callable[[], Any], what: str) -> None:
    """Wait for the event itself, with a watchdog."""
    end = time.monotonic() + LIMIT_S
    clock = threading.Event()
    while not look():
        assert time.monotonic() < end, f"waited {LIMIT_S:.0f} s in vain: {what}"
        clock.wait(0.005)


def state_of(pid: int) -> str:
    """Return the kernel's letter for the state of a process; "" when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_gone(pid: int) -> bool:
    """Return True when the process has ended (a zombie has)."""
    return state_of(pid) in ("", "Z", "X")


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Stop a process that the test has started, for the time of the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: state_of(pid) == "T", f"process {pid} stops")
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def fds_of(pid: int | str = "self") -> int:
    """Return how many files a process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def see_host_lost(look: Callable[[], object]) -> None:
    """Call until it raises HostLostError: batches that were there may come first, and a poll notices in its time."""

    def lost() -> bool:
        try:
            look()
        except fdcomm.HostLostError:
            return True
        return False

    until(lost, "the end of the host is noticed")


def page_of(handle: fdcomm.EngineWorkerQueue) -> Path:
    """Return the path of the shared page of a handle's host."""
    return Path(handle._welcome["words_path"])


def host_pid(server: fdcomm.EngineWorkerQueue) -> int:
    """Return the process id of a server's host."""
    assert server._host is not None
    return server._host.pid
