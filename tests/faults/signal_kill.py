"""Kills forked processes after each system call of a signal's life, and looks at what they leave.

Run as ``python -m tests.faults.signal_kill FOLDER [FAULT SCENARIO]``: one interpreter without threads, which forks for
each kill, so that hundreds of kills take seconds. It prints one JSON list for each: the scenario, the number of the
system call, its name or the point's, and what was wrong ("" if nothing).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from fdcomm import IPCSignal, SignalInUseError, SignalNotFoundError
from fdcomm.signals import ipc_signal
from fdcomm.signals.files import NEW, Files
from fdcomm.testing.faults import Fault, FaultRuntime
from tests.conformance.signal_faults import changed

__all__ = ("CALLS", "SCENARIOS", "Case", "look")

NAME: Final = "killed"
OLD, FRESH, LAST = b"old old ", b"new new ", b"last one"
CALLS: Final = (
    *("open_directory", "open", "make", "again", "close", "abandon", "lock", "status", "find", "read"),
    *("reserve", "map", "link", "rename", "unlink"),
)


class Case(NamedTuple):
    """One kill."""

    scenario: str
    number: int
    after: str
    wrong: str


class Deadly(Files):
    """Files that kill their process after the n-th system call."""

    kills_after = 0
    made = 0
    names: list[str]


def _deadly(name: str) -> Callable[..., Any]:
    def call(self: Deadly, *arguments: Any, **options: Any) -> Any:
        result = getattr(Files, name)(self, *arguments, **options)
        Deadly.made += 1
        Deadly.names.append(name)
        if Deadly.made == Deadly.kills_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


for _name in CALLS:
    setattr(Deadly, _name, _deadly(_name))


def _signal(folder: str, content: bytes = FRESH, **options: Any) -> IPCSignal:
    made = IPCSignal(NAME, shm_size=8, directory=folder, **options)
    if options.get("create", True):
        made.shm.buf[:] = content
    return made


# -- what is there before: returns the handle of the living owner, if there is one -----------------------------------


def _nothing(folder: str) -> IPCSignal | None:
    del folder
    return None


def _stale(folder: str) -> IPCSignal | None:
    _signal(folder, OLD).close()
    return None


def _alive(folder: str) -> IPCSignal | None:
    return _signal(folder, OLD)


def _foreign(folder: str) -> IPCSignal | None:
    with open(os.path.join(folder, NAME), "xb") as file:
        file.write(OLD)
    return None


def _half(folder: str) -> IPCSignal | None:
    with open(os.path.join(folder, NAME + NEW), "xb") as file:
        file.write(b"half")
    return None


# -- what is done; `runtime` is the one that may kill ----------------------------------------------------------------


def _create(folder: str, runtime: FaultRuntime) -> None:
    _signal(folder, runtime=runtime)


def _insist(folder: str, runtime: FaultRuntime) -> None:
    _signal(folder, replace=True, runtime=runtime)


def _refused(folder: str, runtime: FaultRuntime) -> None:
    try:
        _signal(folder, runtime=runtime)
    except SignalInUseError:
        return
    raise AssertionError("a living owner's segment was replaced")


def _twice(folder: str, runtime: FaultRuntime) -> None:
    first = _signal(folder, runtime=runtime)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        _signal(folder, runtime=runtime)
    first.clear()


def _attach(folder: str, runtime: FaultRuntime) -> None:
    other = _signal(folder, create=False, runtime=runtime)
    other.owner_alive()
    other.clear()


def _attach_nothing(folder: str, runtime: FaultRuntime) -> None:
    try:
        _signal(folder, create=False, runtime=runtime)
    except SignalNotFoundError:
        return
    raise AssertionError("attached to nothing")


def _clear(folder: str, runtime: FaultRuntime) -> None:
    _signal(folder, runtime=runtime).clear()


def _close(folder: str, runtime: FaultRuntime) -> None:
    _signal(folder, runtime=runtime).close()


SCENARIOS: Final = {
    "create": (_nothing, _create),
    "create after a death": (_stale, _create),
    "create after a half create": (_half, _create),
    "create over other software": (_foreign, _insist),
    "create over a living owner": (_alive, _insist),
    "create, refused": (_alive, _refused),
    "create twice": (_nothing, _twice),
    "attach": (_alive, _attach),
    "attach to what a death has left": (_stale, _attach),
    "attach to nothing": (_nothing, _attach_nothing),
    "clear": (_nothing, _clear),
    "clear after a death": (_stale, _clear),
    "close": (_nothing, _close),
}


def _run(scenario: str, folder: str, kills_after: int, runtime: FaultRuntime) -> None:
    """Body of the process that is killed."""
    Deadly.kills_after, Deadly.made, Deadly.names = kills_after, 0, []
    vars(ipc_signal)["Files"] = Deadly
    SCENARIOS[scenario][1](folder, runtime)


def _descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))


def _kill(scenario: str, folder: str, kills_after: int, runtime: FaultRuntime) -> tuple[bool, str]:
    """Run the scenario in a fork that is killed; return whether it was, and what is wrong afterwards."""
    before = _descriptors()
    owner = SCENARIOS[scenario][0](folder)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _run(scenario, folder, kills_after, runtime)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    if not killed and status != 0:
        return False, f"the process ended with {status}"
    try:
        wrong = look(folder, owner)
    except Exception as error:  # noqa: BLE001 - reported
        wrong = repr(error)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    if not wrong and _descriptors() != before:
        wrong = f"descriptors {_descriptors()} instead of {before}"
    return killed, wrong


def look(folder: str, owner: IPCSignal | None) -> str:
    """Return what is wrong with what a killed process has left: nobody is in the way, and nothing is half-done."""
    limit = 0.0  # the kernel has freed every lock
    there = os.path.exists(os.path.join(folder, NAME))
    if there:
        other = _signal(folder, create=False, validate=False, timeout=limit)
        if bytes(other.shm.buf) not in (OLD, FRESH, bytes(8)):
            return f"the name leads to {bytes(other.shm.buf)!r}"
        mine = owner is not None and os.path.samestat(os.stat(os.path.join(folder, NAME)), os.fstat(owner.segment.fd))
        if owner is not None and owner.superseded == mine:
            return f"the old owner's handle says superseded={owner.superseded}"
        if owner is None and other.owner is not None and other.owner_alive(timeout=limit):
            return "the killed process still counts as the owner"
        other.close()
    elif owner is not None and not owner.superseded:
        return "the name of a living owner's segment is gone, and it is not told"
    if owner is not None:
        owner.clear(timeout=limit)
    new = _signal(folder, LAST, timeout=limit, replace=not there or _is_foreign(folder))
    if os.listdir(folder) != [NAME]:
        return f"after the next create there are {os.listdir(folder)}"
    if bytes(_signal(folder, create=False, timeout=limit).shm.buf) != LAST:
        return "an attacher does not see the next one's content"
    new.clear(timeout=limit)
    return f"after the next clear there are {os.listdir(folder)}" if os.listdir(folder) else ""


def _is_foreign(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, NAME)) and os.stat(os.path.join(folder, NAME)).st_size == len(OLD)


def _names(scenario: str, folder: str) -> tuple[list[str], list[str]]:
    """Return the system calls that the scenario makes, and the points that it passes."""
    passed: list[str] = []

    class Noting(FaultRuntime):
        def point(self, name: str) -> None:
            passed.append(name)

    read, write = os.pipe()
    owner = SCENARIOS[scenario][0](folder)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _run(scenario, folder, 0, Noting())
            with os.fdopen(write, "w") as pipe:
                json.dump([Deadly.names, passed], pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        names, points = json.load(pipe)
    os.waitpid(child, 0)
    if owner is not None:
        owner.clear()
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    return names, points


def main(folder: str, fault: str = "", only: str = "") -> None:
    """Kill after every system call, and at every point, of every scenario, or with a planted fault of one."""
    if fault:
        programs = changed(fault)
        vars(ipc_signal).update(_create=programs["create"], attach=programs["attach"], clear=programs["clear"])
    for scenario in [only] if only else SCENARIOS:
        names, points = _names(scenario, folder)
        for number, name in enumerate(names, 1):
            killed, wrong = _kill(scenario, folder, number, FaultRuntime())
            print(json.dumps(Case(scenario, number, name, wrong if killed else wrong or "was not killed")))
        for point in dict.fromkeys(points):
            killed, wrong = _kill(scenario, folder, 0, FaultRuntime([Fault(point, "kill")]))
            print(json.dumps(Case(scenario, 0, point, wrong if killed else wrong or "was not killed")))


if __name__ == "__main__":
    main(*sys.argv[1:])
