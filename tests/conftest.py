"""For every test session: Hypothesis profiles, a printed seed, a private runtime directory, and a look at what is left.

A session that leaves a process, a socket or a shared page behind has failed, whatever its tests say. What other
sessions and other programs on the machine have does not count.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_SEED = "FDCOMM_SEED"
_PROFILE = "FDCOMM_PROFILE"
_MARK = "FDCOMM_TEST_SESSION"
_RUNTIME = "FDCOMM_RUNTIME_DIR"
_GRACE_S = 10.0

# No deadlines: the machine's load is not the code's fault. Watchdogs (pytest-timeout) end what hangs.
settings.register_profile(
    "dev", deadline=None, print_blob=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow]
)
# The same examples in every run, so that a red build is the change's doing. New examples are the nightly run's task.
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None)
settings.register_profile("deep", settings.get_profile("dev"), max_examples=5000)

_pages_before = pytest.StashKey[set[str]]()
_left_behind = pytest.StashKey[list[str]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Fix the seed and the session's places before any worker process starts: they inherit the environment."""
    settings.load_profile(os.environ.get(_PROFILE) or ("ci" if os.environ.get("CI") else "dev"))
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        own = Path(os.environ[_RUNTIME]) / worker
        own.mkdir(mode=0o700, exist_ok=True)
        os.environ[_RUNTIME] = str(own)
    else:
        os.environ.setdefault(_SEED, str(random.SystemRandom().randrange(2**32)))
        os.environ[_MARK] = f"{os.getpid()}-{os.urandom(8).hex()}"
        # Directly in /tmp, not in TMPDIR: the path of a socket may have 107 bytes.
        os.environ[_RUNTIME] = tempfile.mkdtemp(prefix="fdcomm-test-", dir="/tmp")
        config.stash[_pages_before] = _pages()
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = os.environ[_SEED]


def pytest_report_header() -> str:
    """Say how to repeat the session's random choices."""
    return f"seed: {_SEED}={os.environ[_SEED]}"


@pytest.fixture
def seed() -> int:
    """The session's seed, for a test's own ``random.Random(seed)``. Printed in the header, and set by FDCOMM_SEED."""
    return int(os.environ[_SEED])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Look for what the session left behind. Under xdist only the controller does, after its workers have ended."""
    config = session.config
    if os.environ.get("PYTEST_XDIST_WORKER") or _pages_before not in config.stash:
        return
    before = config.stash[_pages_before]
    left = _settled(lambda: [*_processes(), *_pages_without_user(before), *_runtime_files()])
    config.stash[_left_behind] = left
    shutil.rmtree(os.environ[_RUNTIME], ignore_errors=True)
    if left and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Name what was left behind, and repeat the seed where it is needed."""
    left = config.stash.get(_left_behind, [])
    if left:
        terminalreporter.section("left behind by this session (this fails it)", red=True)
        for line in left:
            terminalreporter.line(line)
    if left or terminalreporter.stats.get("failed"):
        terminalreporter.line(f"to repeat the random choices: {_SEED}={os.environ[_SEED]}")


def _settled(look: Callable[[], list[str]]) -> list[str]:
    """Look again until nothing is left or the grace is over: what was told to end may need a moment."""
    end = time.monotonic() + _GRACE_S
    pause = threading.Event()
    while (left := look()) and time.monotonic() < end:
        pause.wait(0.2)
    return left


def _processes() -> list[str]:
    """Processes that carry the session's mark or are this process's children."""
    mark = f"{_MARK}={os.environ[_MARK]}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        pid = int(entry.name)
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
            state, parent = (entry / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:  # ended meanwhile, or another user's
            continue
        ours = mark in environment or int(parent) == os.getpid()
        if ours and pid != os.getpid() and state != "Z" and "multiprocessing.resource_tracker" not in command:
            found.append(f"process {pid}: {command[:150]}")
    return found


def _pages() -> set[str]:
    folder = Path("/dev/shm")
    return {path.name for path in folder.glob(f"fdcomm-{os.getuid()}-*")} if folder.is_dir() else set()


def _pages_without_user(before: set[str]) -> list[str]:
    """Shared pages that appeared during the session and that no living process has mapped."""
    new = _pages() - before
    if not new:
        return []
    mapped = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            text = maps.read_text(errors="replace")
        except OSError:
            continue
        mapped |= {name for name in new if f"/dev/shm/{name}" in text}
    return [f"shared page /dev/shm/{name}" for name in sorted(new - mapped)]


def _runtime_files() -> list[str]:
    folder = Path(os.environ[_RUNTIME])
    return [
        f"file {path.relative_to(folder)} in the runtime directory" for path in folder.rglob("*") if not path.is_dir()
    ]
