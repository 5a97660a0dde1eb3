"""How long a reader goes on looking before it sleeps."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from fdcomm import CommTimeoutError, ConfigError, EngineWorkerQueue
from fdcomm.deadline import Deadline
from fdcomm.ring import RingReader
from fdcomm.ring.spin import default_spin_s
from fdcomm.ring.waiting import Patience
from tests.unit.ring_of_two import LIMIT_S, Ring, folder, ring

__all__ = ("folder", "ring")


def _patience(comes_after: int) -> tuple[Patience, Any]:
    """Patience over a word that is 1 from so many looks on, and a clock that goes on by one with every question."""
    ticks, looks = count(), count(1)

    class Words:
        def __getitem__(self, place: int) -> int:
            return int(next(looks) > comes_after)

    runtime = SimpleNamespace(monotonic=lambda: float(next(ticks)))
    board: Any = SimpleNamespace(words=Words(), runtime=runtime, closing=False)
    return Patience(board, turns=5), board


def test_it_goes_on_looking_for_so_long() -> None:
    patience, board = _patience(comes_after=40)
    assert not patience.spin(0, 1)
    assert patience.spin_on(0, 1, 100.0, Deadline(None, board.runtime.monotonic))
    patience, board = _patience(comes_after=40)
    assert not patience.spin_on(0, 1, 3.0, Deadline(None, board.runtime.monotonic))


def test_not_longer_than_the_call_may_last() -> None:
    patience, board = _patience(comes_after=40)
    assert not patience.spin_on(0, 1, 100.0, Deadline(4.0, board.runtime.monotonic))


def test_nor_when_the_ring_is_closed() -> None:
    patience, board = _patience(comes_after=40)
    board.closing = True
    assert not patience.spin_on(0, 1, 100.0, Deadline(None, board.runtime.monotonic))


def test_a_wait_looks_once_and_then_sleeps(ring: Ring, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is woken: a reader to whom nothing comes takes no processor."""
    _, _, other = ring
    other.close()
    with RingReader.attach("ring", 1, directory=folder, spin_s=0.001) as reader:
        patience, looked = reader._consumer._patience, count()
        monkeypatch.setattr(patience, "spin_on", lambda *_: bool(next(looked)))
        with pytest.raises(CommTimeoutError):
            reader.get(0.6)  # two sleeps are over by then
        assert next(looked) == 1
        assert patience.sleeps >= 2


def test_what_comes_meanwhile_is_got(ring: Ring, folder: str) -> None:
    writer, one, other = ring
    other.close()
    with RingReader.attach("ring", 1, directory=folder, spin_s=1.0) as reader:
        for number in range(3):
            writer.put(number, LIMIT_S)
            assert reader.get(LIMIT_S) == one.get(LIMIT_S) == number


@pytest.mark.parametrize("wrong", [-1, 1.5, float("nan"), True, "0.1"])
def test_wrong_arguments(ring: Ring, folder: str, wrong: Any) -> None:
    with pytest.raises(ConfigError, match="spin_s"):
        RingReader.attach("ring", 1, directory=folder, spin_s=wrong)


def test_the_environment_says_it_for_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FDCOMM_SPIN_S", raising=False)
    assert default_spin_s() == 0.0
    monkeypatch.setenv("FDCOMM_SPIN_S", "0.25")
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, data_path="ring") as server:
        address = ("127.0.0.1", server.get_server_port())
        with EngineWorkerQueue(address, client_id=0, role="reader", data_path="ring") as reader:
            server.put_tasks("batch")
            assert reader.get_tasks()[0] == ["batch"]
            path: Any = reader._paths["dispatch"]
            assert path._end.port._consumer._spin_s == 0.25
            for wrong in ("x", "2", "-1", "nan"):
                monkeypatch.setenv("FDCOMM_SPIN_S", wrong)
                with pytest.raises(ConfigError, match="FDCOMM_SPIN_S"):
                    default_spin_s()
