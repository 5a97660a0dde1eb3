"""Lines of JSON from a child process, with a watchdog."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.races.nursery import Born

__all__ = ("ROOT", "WATCHDOG_S", "read_line")

ROOT = Path(__file__).resolve().parents[2]

WATCHDOG_S = 60.0
"""No wait of a race test is longer. It is not a time that anything should take."""


def read_line(process: subprocess.Popen[bytes] | Born) -> Any:
    """Return the child's next line.

    Raises:
        EOFError: It ended.
        TimeoutError: The watchdog.
    """
    assert process.stdout is not None
    fd, line, end = process.stdout.fileno(), b"", time.monotonic() + WATCHDOG_S
    while not line.endswith(b"\n"):
        if not select.select([fd], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError(f"process {process.pid} said nothing for {WATCHDOG_S} s")
        # Byte by byte: what follows belongs to the next call.
        byte = os.read(fd, 1)
        if not byte:
            raise EOFError(f"process {process.pid} has closed its output")
        line += byte
    return json.loads(line)
