"""A closed handle leaves no descriptor of shared memory open, also where the collector of cycles does not run."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Iterator
from typing import Literal

import pytest

from fdcomm import EngineWorkerQueue

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="descriptors are listed in /proc")

NUM_CLIENT = 1
_TIMES = 3


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _open_files() -> set[tuple[str, str]]:
    """Every open descriptor with what it is open on."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself is closed
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return found


@pytest.mark.parametrize("data_path", ["ring", "host"])
def test_a_closed_client_leaves_none(data_path: Literal["ring", "host"]) -> None:
    with (
        EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=NUM_CLIENT, data_path=data_path) as server,
        _no_collector(),
    ):
        address = ("127.0.0.1", server.get_server_port())

        def use() -> None:
            with EngineWorkerQueue(address, num_client=NUM_CLIENT, client_id=0, data_path=data_path) as rank:
                server.put_tasks(["a"])
                assert rank.get_tasks()[0] == [["a"]]
                rank.clear_data()

        use()
        before = _open_files()
        for _ in range(_TIMES):
            use()
        assert _open_files() == before


def test_a_closed_server_leaves_none() -> None:
    with _no_collector():
        EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=NUM_CLIENT).close()
        before = _open_files()
        for _ in range(_TIMES):
            EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=NUM_CLIENT).close()
        assert _open_files() == before
