"""The program of the readiness page: cache processes and workers in launch order, a kill and a restart."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120


@pytest.mark.multiproc
def test_the_program_prints_what_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "protocols" / "readiness.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^It prints:\n\n```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=LIMIT_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed
