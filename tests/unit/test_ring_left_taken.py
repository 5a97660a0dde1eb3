"""A lock of an end that an interrupt left taken: calls end by their time limit, and the close does not hang."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm import ClosedError, CommTimeoutError, EngineWorkerQueue
from fdcomm.ring import RingWriter, turns
from tests.unit.ring_of_two import LIMIT_S, Ring, attach, folder, ring

__all__ = ("folder", "ring")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_CLOSE_S", 0.05)


def test_a_reader_is_closed_and_its_rank_free(ring: Ring, folder: str) -> None:
    writer, one, other = ring
    one._mutex.acquire()
    with pytest.raises(CommTimeoutError, match="another thread"):
        one.get(0.01)
    one.close()
    with attach(folder, 0) as again:
        writer.put("x", LIMIT_S)
        assert again.get(LIMIT_S) == other.get(LIMIT_S) == "x"


def test_a_reader_that_is_closed_within_a_lease_does_not_wait_for_itself(ring: Ring) -> None:
    writer, one, _ = ring
    writer.put(b"x", LIMIT_S)
    lease = one.lease(LIMIT_S)
    with pytest.raises(ClosedError), lease:
        one.close()


def test_a_writer_is_closed(folder: str) -> None:
    writer = RingWriter.create("ring", 1, directory=folder)
    writer._mutex.acquire()
    with pytest.raises(CommTimeoutError, match="another thread"):
        writer.put("x", 0.01)
    writer.close()
    RingWriter.create("ring", 1, directory=folder).close()


def test_a_queues_handle_is_closed_and_its_rank_free() -> None:
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, data_path="ring") as server:
        address = ("127.0.0.1", server.get_server_port())
        handle = EngineWorkerQueue(address, client_id=0, data_path="ring")
        server.put_tasks("a")
        assert handle.get_tasks()[0] == ["a"]
        path: Any = handle._paths["dispatch"]
        path._end.port._mutex.acquire()
        path._producer._mutex.acquire()
        handle.close()
        with EngineWorkerQueue(address, client_id=0, data_path="ring") as again:
            server.put_tasks("b")
            assert again.get_tasks(timeout=LIMIT_S)[0] == ["b"]
