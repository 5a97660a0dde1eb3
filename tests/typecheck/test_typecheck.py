"""What a user's type checker says about programs on top of fdcomm."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy comes with the [dev] extra")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def _mypy(name: str, cache: Path) -> set[tuple[int, str]]:
    """Return ``(line, error code)`` of what ``mypy --strict`` reports for a file, which is checked as a user's own."""
    options = ["--strict", "--config-file", "", "--no-error-summary", "--hide-error-context", "--show-error-codes"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir", str(cache), str(HERE / name)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert result.returncode in (0, 1), result.stderr
    found = set()
    for line in result.stdout.splitlines():
        if match := re.match(r"(.+?):(\d+): error: .*\[([a-z-]+)\]$", line):
            assert Path(match[1]).name == Path(name).name, line
            found.add((int(match[2]), match[3]))
        else:
            assert ": note: " in line, line
    return found


def _expected(name: str) -> set[tuple[int, str]]:
    lines = (HERE / name).read_text().splitlines()
    marked = [(number, line.split("# E: ")[1]) for number, line in enumerate(lines, 1) if "# E: " in line]
    return {(number, code) for number, codes in marked for code in codes.split(", ")}


@pytest.mark.slow
def test_a_right_program_is_accepted_and_a_wrong_one_refused(tmp_path: Path) -> None:
    assert _mypy("accepted.py", tmp_path) == set()
    expected = _expected("rejected/misuse.py")
    assert len(expected) > 10
    assert _mypy("rejected/misuse.py", tmp_path) == expected
