"""The look at the end of a test session finds what was left, and only that."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

_LEAVES = """
import os, subprocess, sys

def test_leaves_three_things():
    code = "import time; time.sleep(3600)"
    quiet = subprocess.DEVNULL
    child = subprocess.Popen([sys.executable, "-c", code], stdout=quiet, stderr=quiet, start_new_session=True)
    child.returncode = 0  # no warning about it: that is what this test is about
    page = f"/dev/shm/fdcomm-{os.getuid()}-test{os.getpid()}"
    open(page, "w").close()
    open(os.path.join(os.environ["FDCOMM_RUNTIME_DIR"], "port-1.json"), "w").close()
    print(f"LEFT {child.pid} {page}")
"""

_CLEAN = """
import os, subprocess, sys

def test_cleans_up(seed):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    assert seed == 12
"""


def _session(folder: Path, body: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "conftest.py")
    (folder / "test_it.py").write_text(body)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "FDCOMM_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        env={**environment, "FDCOMM_SEED": "12"},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.slow
def test_what_is_left_fails_the_session(tmp_path: Path) -> None:
    result = _session(tmp_path, _LEAVES)
    pid, page = re.findall(r"LEFT (\d+) (\S+)", result.stdout)[0]
    os.kill(int(pid), signal.SIGKILL)
    os.unlink(page)
    assert result.returncode == 1, result.stdout
    assert "1 passed" in result.stdout
    assert f"process {pid}: " in result.stdout
    assert f"shared page {page}" in result.stdout
    assert "file port-1.json in the runtime directory" in result.stdout
    assert "FDCOMM_SEED=12" in result.stdout


def test_a_clean_session_passes(tmp_path: Path) -> None:
    result = _session(tmp_path, _CLEAN)
    assert result.returncode == 0, result.stdout
    assert "left behind" not in result.stdout
