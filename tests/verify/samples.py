"""Checks with a known outcome, for the tests of the command itself."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.verify.check import Check, Row

__all__ = ("crashing", "failing", "hanging", "passing", "raising", "telling")

CELL = ("dispatch", "V1")


def passing(number: int) -> Check:
    """Return a check that passes and reports ``number`` states."""
    return Check(*CELL, f"passes {number}", _pass, (number,))


def telling(level: str) -> Check:
    """Return a check that passes and tells as ``states`` in which process it runs."""
    return Check("dispatch", level, "tells its process", _tell)


def failing() -> Check:
    """Return a check that says that it failed."""
    return Check(*CELL, "fails", _fail)


def raising() -> Check:
    """Return a check that raises."""
    return Check(*CELL, "raises", _raise)


def crashing() -> Check:
    """Return a check that ends its process, after printing."""
    return Check(*CELL, "crashes", _crash)


def hanging(note: Path) -> Check:
    """Return a check that starts a process, writes its id and its temporary folder to ``note``, and never ends."""
    return Check(*CELL, "hangs", _hang, (str(note),))


def _pass(number: int) -> Row:
    return Row(*CELL, f"passes {number}", ok=True, states=number)


def _tell() -> Row:
    return Row(*CELL, "tells its process", ok=True, states=os.getpid())


def _fail() -> Row:
    return Row(*CELL, "fails", ok=False, detail="as planned")


def _raise() -> Row:
    raise ValueError("no such luck")


def _crash() -> Row:
    print("last words", flush=True)
    os._exit(3)


def _hang(note: str) -> Row:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    draft = Path(note + ".draft")
    draft.write_text(f"{child.pid}\n{tempfile.mkdtemp()}\n")
    draft.rename(note)
    while True:
        time.sleep(3600)
