"""SIGKILL at real system calls of create, attach, clear and close, each in an interpreter of its own."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.faults.remote import NIGHTLY
from tests.faults.signal_kill import SCENARIOS
from tests.faults.signal_syscalls import Place, kill_at, places, works
from tests.multiproc.signal_process import interpreters

pytestmark = pytest.mark.multiproc

# Those that change what others see.
_CHANGING = ("openat", "flock", "fallocate", "mmap", "linkat", "link", "rename", "unlink", "unlinkat", "close")
_SAMPLE = 6


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory, and room beside it."""
    with TemporaryDirectory(prefix="fdcomm-test-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as outer:
        inner = Path(outer, "signals")
        inner.mkdir()
        yield inner
        assert list(inner.iterdir()) == []


@pytest.fixture(autouse=True, scope="module")
def _strace() -> None:
    if not works():
        pytest.skip("there is no strace that may trace here")


def test_a_few_kills(folder: Path, seed: int) -> None:
    choose = random.Random(seed)
    scenario = choose.choice(["create after a death", "create over a living owner", "clear", "attach"])
    found = [place for place in places(sys.executable, folder, scenario) if place.name in _CHANGING]
    for place in choose.sample(found, _SAMPLE):
        assert kill_at(sys.executable, folder, scenario, place) == "", (scenario, place)


def test_a_place_that_is_never_reached_is_told(folder: Path) -> None:
    assert "was not killed" in kill_at(sys.executable, folder, "close", Place("fallocate", 1000))


@pytest.mark.slow
@pytest.mark.skipif(not NIGHTLY, reason="takes minutes for each Python")
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("python", interpreters().values(), ids=interpreters())
def test_every_kill(folder: Path, python: str, scenario: str) -> None:
    wrong = {place: kill_at(python, folder, scenario, place) for place in places(python, folder, scenario)}
    assert {place: text for place, text in wrong.items() if text} == {}
