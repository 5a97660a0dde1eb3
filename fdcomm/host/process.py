"""Owner's side of the host process: start it, notice its end, end it, remove what a killed one left."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
import weakref
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import fdcomm.errors
from fdcomm.errors import AddressInUseError, FdcommError, HostStartError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.host.main import Orders
from fdcomm.host.service import HostConfig
from fdcomm.rendezvous import Record, RecordLock

__all__ = ("HostProcess",)

_START_LIMIT_S: Final = 60.0
_STOP_LIMIT_S: Final = 5.0
_PACKAGE_PARENT: Final = str(Path(fdcomm.errors.__file__).resolve().parent.parent)


class HostProcess:
    """A running host.

    It is a fresh interpreter, not a fork: forking an engine that has threads can deadlock the child. It ends when
    this process ends, however that happens, because it reads a pipe that only this process holds open.
    """

    def __init__(
        self,
        config: HostConfig,
        *,
        port: int,
        tcp_host: str,
        key: bytes,
        trace: str,
        link: dict[str, Any] | None = None,
    ) -> None:
        """Start and wait until it serves.

        Raises:
            AddressInUseError: The port is taken.
            UnsafeConfigError: The runtime directory is not private.
            HostStartError: It ended, or was not ready in time.
        """
        config.check()
        packages = (link or {}).pop("packages", [])
        orders = Orders(asdict(config), port, tcp_host, key.hex(), trace, os.getpid(), link or {})
        # Not the engine's current directory: a json.py there is not the standard library's.
        code = (
            f"import sys; sys.path = [p for p in sys.path if p] + {[_PACKAGE_PARENT, *packages]!r}; "
            "from fdcomm.host.main import main; main()"
        )
        # -S: the host needs the standard library only (and for a link two packages), and starts faster so.
        self._finalizer: weakref.finalize[..., HostProcess] | None = None
        with no_fork():
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            close_in_child(self)
        self._owner = os.getpid()
        try:
            self.record = self._hand_over(orders)
        except BaseException:
            self._process.kill()
            self._close_pipes()
            self._process.wait()
            raise
        self._finalizer = weakref.finalize(self, _end, self._process, self.record.port, self._owner)

    def is_running(self) -> bool:
        """Return False once the process has ended."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process id of the host."""
        return self._process.pid

    def stop(self) -> None:
        """End it and remove what it left. Idempotent; bounded to a few seconds."""
        if self._finalizer is not None:
            self._finalizer()

    def after_fork_in_child(self) -> None:
        """In a forked child: let go of the pipe, so that the owner's end is still the host's end."""
        if self._finalizer is not None:
            self._finalizer.detach()
        self._close_pipes()
        self._process.returncode = 0  # not our child: nothing to wait for

    def _hand_over(self, orders: Orders) -> Record:
        pipe = self._process.stdin
        answers = self._process.stdout
        if pipe is None or answers is None:  # cannot be: both were asked for
            raise HostStartError("the host has no pipes")
        with contextlib.suppress(BrokenPipeError):  # it died at once: the answer below says so
            pipe.write(json.dumps(asdict(orders)).encode() + b"\n")
        answer = _read_line(answers.fileno())
        if not answer:
            code = self._process.poll()
            state = "was not ready in time" if code is None else f"ended with code {code}"
            raise HostStartError(
                f"the host process {state}; what it printed is on standard error. Interpreter: {sys.executable}"
            )
        message: dict[str, Any] = json.loads(answer)
        if "error" in message:
            raised = getattr(fdcomm.errors, message["error"], FdcommError)
            raise raised(message["message"])
        return Record(**message["record"])

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _read_line(fd: int) -> bytes:
    end = time.monotonic() + _START_LIMIT_S
    poll = select.poll()  # not select(): an engine may have more than 1024 files open
    poll.register(fd, select.POLLIN)
    line = b""
    while not line.endswith(b"\n"):
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            return b""
        chunk = os.read(fd, 65536)
        if not chunk:
            return b""
        line += chunk
    return line


def _end(process: subprocess.Popen[bytes], port: int, owner: int) -> None:
    if os.getpid() != owner:
        return
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    process.terminate()  # also when a child that this process forked meanwhile has the pipe
    try:
        process.wait(_STOP_LIMIT_S)
    except subprocess.TimeoutExpired:  # stopped (SIGSTOP), or starved
        process.kill()
        process.wait()
    # A host that ended in order has removed its record; one that was killed has not.
    with contextlib.suppress(AddressInUseError, FdcommError):
        with no_fork():  # a child would hold a copy of the lock
            RecordLock(port).release()
