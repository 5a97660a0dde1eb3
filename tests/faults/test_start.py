"""Starting a host from an engine in an unusual state: files open, a crowded current directory, no standard streams."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import LIMIT_S, ROOT

SERVE = """
import sys
sys.path.append({root!r})
from fdcomm import EngineWorkerQueue
with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine:
    engine.put_tasks(1, timeout=60)
    with EngineWorkerQueue(engine.address, client_id=0) as reader:
        assert reader.get_tasks(timeout=60) == ([1], True)
open({done!r}, "w").close()
"""


@pytest.fixture
def many_files() -> Iterator[None]:
    """More than 1024 open files, as an engine with many connections has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    fds = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for fd in fds:
        os.close(fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_with_more_than_1024_files_open() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine:
        with EngineWorkerQueue(engine.address, client_id=0) as reader:
            engine.put_tasks(1, timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S) == ([1], True)


def test_in_a_directory_with_modules_of_the_same_name(tmp_path: Path) -> None:
    """The host is the standard library's and ours, whatever lies where the engine was started."""
    for name in ("json", "socket", "select", "secrets", "threading", "fdcomm"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current directory')\n")
    program = tmp_path / "elsewhere" / "engine.py"
    program.parent.mkdir()
    done = tmp_path / "done"
    program.write_text(SERVE.format(root=str(ROOT), done=str(done)))
    subprocess.run([sys.executable, str(program)], cwd=tmp_path, check=True, timeout=LIMIT_S)
    assert done.exists()


def test_without_standard_streams(tmp_path: Path) -> None:
    """A daemon has closed them, so their numbers go to the first files that are opened."""
    program, done = tmp_path / "engine.py", tmp_path / "done"
    program.write_text(
        "import os\nfor fd in (0, 1, 2):\n    os.close(fd)\n" + SERVE.format(root=str(ROOT), done=str(done))
    )
    subprocess.run([sys.executable, str(program)], check=True, timeout=LIMIT_S)
    assert done.exists()


def test_a_start_that_fails_leaves_nothing() -> None:
    """The claim on the port is given back before the error is told."""
    before = set(os.listdir(os.environ["FDCOMM_RUNTIME_DIR"]))
    for _ in range(3):
        with pytest.raises(ValueError, match="trace="):
            EngineWorkerQueue(("0.0.0.0", 0), is_server=True, trace="/dev/null/trace")
        assert set(os.listdir(os.environ["FDCOMM_RUNTIME_DIR"])) == before


def test_a_full_disk_ends_the_trace_only(capfd: pytest.CaptureFixture[str]) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, trace="/dev/full") as engine:
        with EngineWorkerQueue(engine.address, client_id=0) as reader:
            engine.put_tasks(1, timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S) == ([1], True)
    assert capfd.readouterr().err.count("the trace /dev/full ends here: No space left on device") == 1
