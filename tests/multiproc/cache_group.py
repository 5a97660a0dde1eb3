"""Runs the program of docs/cache-group.md, and has what it recorded judged."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from models.acceptance import Verdict
from models.dispatch_trace import accept_file

__all__ = ("CHANNELS", "GroupRun", "run_group")

ROOT = Path(__file__).resolve().parents[2]
CHANNELS = {"blocks": ("blocks",), "cache": ("pause", "transfer"), "status": ("status",)}
"""File of the program -> the channels in it that are judged."""

_LIMIT_S = 240


@dataclass(frozen=True)
class GroupRun:
    """A run: what the program printed and counted, where its records are, and the model's verdicts."""

    printed: str
    counted: str
    folder: Path
    verdicts: tuple[Verdict, ...]


def run_group(folder: Path, seed: int, disturbances: int) -> GroupRun:
    """Run the program in a process of its own."""
    page = (ROOT / "docs" / "cache-group.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = folder / "cache_group.py"
    file.write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(file), str(seed), str(disturbances), str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        try:
            printed, counted = process.communicate(timeout=_LIMIT_S)
        except BaseException:
            os.killpg(process.pid, 9)  # with the ranks that it has started
            raise
    if process.returncode != 0:
        raise AssertionError(f"seed {seed}: the program ended with {process.returncode}: {counted}")
    verdicts = [
        verdict for name, only in CHANNELS.items() for verdict in accept_file(str(folder / f"{name}.ndjson"), only)
    ]
    return GroupRun(printed, counted, folder, tuple(verdicts))
