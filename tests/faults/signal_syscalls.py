"""Kills processes at each real system call of a signal's life, each process an interpreter of its own.

What is a system call here says the kernel: ``strace`` lists those of a scenario of :mod:`tests.faults.signal_kill`, and
then delivers SIGKILL when the process comes to one of them, so after the one before. Run as
``python -m tests.faults.signal_syscalls FOLDER SCENARIO`` this is the process that is killed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

from fdcomm.testing.faults import FaultRuntime
from tests.faults.remote import LIMIT_S, ROOT
from tests.faults.signal_kill import SCENARIOS, look

__all__ = ("Place", "kill_at", "places", "works")

_BEGIN, _END = "/fdcomm-test-begin", "/fdcomm-test-end"
_MARKS: Final = "access,faccessat,faccessat2"
_LINE: Final = re.compile(r"(\w+)\(")


class Place(NamedTuple):
    """A system call of a process: the n-th of that name since its start."""

    name: str
    number: int


def works() -> bool:
    """Return True if there is an strace that may trace here."""
    try:
        done = subprocess.run(
            ["strace", "-qq", "-o", os.devnull, "-e", "inject=getppid:signal=SIGKILL:when=1", sys.executable, "-c", ""],
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def _run(python: str, options: list[str], output: Path, folder: Path, scenario: str) -> tuple[int, str, str]:
    command = ["strace", "-qq", "-o", str(output), *options, python, "-B", "-W", "error"]
    done = subprocess.run(
        [*command, "-m", __name__, str(folder), scenario],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.returncode, done.stderr, output.read_text()


def _prepared(folder: Path, scenario: str, python: str, options: list[str]) -> tuple[int, str, str, str]:
    """Run a scenario; return how it ended, its errors, what strace wrote, and what is wrong afterwards."""
    owner = SCENARIOS[scenario][0](str(folder))
    try:
        code, errors, trace = _run(python, options, folder.with_suffix(".strace"), folder, scenario)
        try:
            wrong = look(str(folder), owner)
        except Exception as error:  # noqa: BLE001 - reported
            wrong = repr(error)
    finally:
        if owner is not None:
            owner.close()
        for path in folder.iterdir():
            path.unlink()
        folder.with_suffix(".strace").unlink(missing_ok=True)
    return code, errors, trace, wrong


def places(python: str, folder: Path, scenario: str) -> list[Place]:
    """Return every system call of a scenario, in order, and the first one after it."""
    code, errors, trace, wrong = _prepared(folder, scenario, python, [])
    assert (code, errors, wrong) == (0, "", "")
    counts: Counter[str] = Counter()
    found: list[Place] = []
    inside = False
    for line in trace.splitlines():
        call = _LINE.match(line)
        if call is None:
            continue
        counts[call[1]] += 1
        if inside:
            found.append(Place(call[1], counts[call[1]]))
        inside = (inside or _BEGIN in line) and _END not in line
    assert found
    return found


def kill_at(python: str, folder: Path, scenario: str, place: Place) -> str:
    """Kill an interpreter that comes to this system call; return what is wrong with what it leaves ("": nothing)."""
    options = ["-e", f"trace={_MARKS},{place.name}", "-e", f"inject={place.name}:signal=SIGKILL:when={place.number}"]
    code, errors, trace, wrong = _prepared(folder, scenario, python, options)
    if code not in (-9, 137) or _BEGIN not in trace:
        return f"it was not killed within the scenario: it ended with {code}: {errors}"
    return wrong


def main(folder: str, scenario: str) -> None:
    """Body of the process that is killed."""
    runtime, act = FaultRuntime(), SCENARIOS[scenario][1]
    os.access(_BEGIN, os.F_OK)
    act(folder, runtime)
    os.access(_END, os.F_OK)
    os._exit(0)  # an orderly end would clear what is there


if __name__ == "__main__":
    main(*sys.argv[1:])
