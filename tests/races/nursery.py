"""Processes that begin as forks of one that has imported everything, which takes an interpreter a third of a second.

Each is like one of its own: no memory, handle, thread or resource tracker is shared, it has pipes of its own, and it
ends as an interpreter does. Only processes that need no environment or interpreter of their own come from here.

``python -m tests.races.nursery FD`` is the one that forks; it ends with the process that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path

__all__ = ("Born", "born", "end")

_ROOT = Path(__file__).resolve().parents[2]
_LIMIT_S = 60.0
_PRELOADED = ("numpy", "fdcomm", "fdcomm.testing.faults", "tests.races.signal_child")
_servers: dict[int, tuple[subprocess.Popen[bytes], socket.socket]] = {}


class Born:
    """The parent's end of a process, as far as ``subprocess.Popen`` is needed."""

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int | None) -> None:
        self.pid = pid
        self._gone = os.pidfd_open(pid)
        self._over = False
        self.stdin = os.fdopen(stdin, "wb", buffering=0)
        self.stdout = os.fdopen(stdout, "rb", buffering=0)
        self.stderr = None if stderr is None else os.fdopen(stderr, "rb", buffering=0)

    def kill(self) -> None:
        """SIGKILL."""
        if not self._over:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._gone, signal.SIGKILL)

    def wait(self, timeout: float = _LIMIT_S) -> None:
        """Wait until it is gone.

        Raises:
            TimeoutError: It is not.
        """
        if self._over:
            return
        waiting = select.poll()
        waiting.register(self._gone, select.POLLIN)
        if not waiting.poll(timeout * 1000):
            raise TimeoutError(f"process {self.pid} has not ended after {timeout} s")
        os.close(self._gone)
        self._over = True


def born(module: str, *arguments: str, errors: bool = False) -> Born:
    """Start ``main()`` of a module as the process's program, with these arguments in ``sys.argv``.

    Args:
        errors: Its stderr is a pipe, too; else it is ours.
    """
    server = _server()
    (stdin, to), (back, stdout) = os.pipe(), os.pipe()
    theirs, said = [stdin, stdout], None
    if errors:
        said, stderr = os.pipe()
        theirs.append(stderr)
    try:
        socket.send_fds(server, [json.dumps([module, *arguments]).encode()], theirs)
    finally:
        for fd in theirs:
            os.close(fd)
    pid = server.recv(64)
    if not pid:
        raise RuntimeError("the process that forks has ended")
    return Born(int(pid), to, back, said)


def _server() -> socket.socket:
    """One for each process that asks: a fork has one of its own."""
    if os.getpid() not in _servers:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(_LIMIT_S)
        with theirs:
            command = [sys.executable, "-m", "tests.races.nursery", str(theirs.fileno())]
            process = subprocess.Popen(
                command,
                cwd=_ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # what forks should have one thread
            )
        _servers[os.getpid()] = process, ours
        atexit.register(end)
    return _servers[os.getpid()][1]


def end() -> None:
    """End the one that forks for this process, if there is one."""
    if os.getpid() in _servers:
        process, ours = _servers.pop(os.getpid())
        ours.close()
        process.wait(_LIMIT_S)


def _fork_on_demand(asked: socket.socket) -> list[str] | None:
    """Fork for each order. Returns the program and its arguments in the new process, and None at the end."""
    for module in _PRELOADED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    while True:
        order, pipes, _, _ = socket.recv_fds(asked, 4096, 3)
        if not order:
            return None
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for place, fd in enumerate(pipes):
                os.dup2(fd, place)
                os.close(fd)
            asked.close()
            program: list[str] = json.loads(order)
            return program
        for fd in pipes:
            os.close(fd)
        asked.send(str(pid).encode())


def main() -> None:
    """Fork until nobody asks any more, or be the process that was asked for."""
    program = _fork_on_demand(socket.socket(fileno=int(sys.argv[1])))
    if program is not None:
        sys.argv = [program[0], *program[1:]]
        importlib.import_module(program[0]).main()


if __name__ == "__main__":
    main()
