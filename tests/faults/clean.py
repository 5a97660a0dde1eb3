"""What every test with real processes leaves: nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.remote import fds_of, until

__all__ = ("nothing_is_left",)


def _files() -> set[Path]:
    return {path for path in Path(os.environ["FDCOMM_RUNTIME_DIR"]).rglob("*") if not path.is_dir()}


def _children() -> set[str]:
    while True:
        lists = Path("/proc/self/task").glob("*/children")
        try:
            return {pid for children in lists for pid in children.read_text().split()}
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread has ended meanwhile: its children are another's now


def _fds_are_back(before: int) -> bool:
    if fds_of() > before:
        gc.collect()  # what only the collector closes is not left behind
    return fds_of() <= before


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No file in the runtime directory, no child process, no file descriptor more than before."""
    files, fds, children = _files(), fds_of(), _children()
    yield
    until(lambda: _files() <= files, f"files go: {_files() - files}")
    until(lambda: _children() <= children, f"processes end: {_children() - children}")
    # Threads that serve sockets close them a moment after they were let go of.
    until(lambda: _fds_are_back(fds), f"descriptors are closed: {os.listdir('/proc/self/fd')}")
