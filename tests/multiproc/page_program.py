"""The program of a page, run as a user would run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

__all__ = ("prints_what_the_page_says",)

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 120


def prints_what_the_page_says(page_of: str, folder: Path) -> None:
    """Run the only program of a page under docs in the folder, and compare what it prints with what the page says."""
    page = (ROOT / "docs" / f"{page_of}.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (printed,) = re.findall(r"^It prints:\n\n```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = folder / "program.py"
    file.write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=environment, cwd=folder, timeout=LIMIT_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == printed
