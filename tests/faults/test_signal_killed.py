"""SIGKILL after each system call of create, attach, clear and close: nobody is in the next one's way."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fdcomm.signals import creating, files, stepping, steps
from tests.faults.remote import LIMIT_S, ROOT
from tests.faults.signal_kill import CALLS, SCENARIOS, Case


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder in memory."""
    with TemporaryDirectory(prefix="fdcomm-test-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        yield folder


def _kills(folder: str, *fault: str) -> list[Case]:
    command = [sys.executable, "-W", "error", "-m", "tests.faults.signal_kill", folder, *fault]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=LIMIT_S, check=True)
    return [Case(*json.loads(line)) for line in done.stdout.splitlines()]


def _yielded() -> set[str]:
    """Return the steps that stand in the code: every constant that a program yields or hands to the guard."""
    found = set()
    for module in (creating, steps, stepping):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Yield) and isinstance(node.value, ast.Constant):
                found.add(str(node.value.value))
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "take_guard":
                found.add(str(ast.literal_eval(node.args[1])))
    return found


def _calling() -> set[str]:
    """Return the methods of Files with a system call, each killed after. Not: what locks use, what rings list."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(files.Files))):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            text = ast.unparse(node)
            if any(call in text for call in ("os.", "fcntl.", "self._opened", "self._close_all")):
                found.add(node.name)
    return found - {"path", "open_or_make", "listed", "after_fork_in_child"}


def test_the_list_of_system_calls_is_that_of_the_code() -> None:
    assert _calling() == set(CALLS)


def test_every_kill_leaves_room_for_the_next(folder: str) -> None:
    cases = _kills(folder)
    assert [case for case in cases if case.wrong] == []
    assert {case.scenario for case in cases} == set(SCENARIOS)
    after = Counter(case.after for case in cases)
    assert [call for call in CALLS if not after[call]] == []
    assert len(cases) > 250
    # What is not passed here: the disk is full, and the guard is taken.
    passed = {case.after.rpartition(".")[2] for case in cases if case.after.startswith("signal.")}
    assert _yielded() - passed == {"NoSpace"}
    assert list(Path(folder).iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "scenario"), [("TempDropped", "create"), ("Supersedes", "create over a living owner")]
)
def test_a_fault_is_found(folder: str, fault: str, scenario: str) -> None:
    assert [case for case in _kills(folder, fault, scenario) if case.wrong] != []
