"""Items that their taker cannot unpickle lose only themselves; what is only counted is not unpickled at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from fdcomm import EngineCacheQueue, EngineWorkerQueue
from fdcomm.errors import ConfigError, PayloadError
from tests.faults.clean import nothing_is_left

__all__ = ("nothing_is_left",)

pytestmark = pytest.mark.multiproc
LIMIT_S = 30.0


def _fail(what: str) -> NoReturn:
    raise LookupError(what)


class Unreadable:
    """Pickles, and does not unpickle."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return _fail, (self.what,)


@pytest.fixture
def engine() -> Iterator[EngineWorkerQueue]:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as queue:
        yield queue


@pytest.mark.parametrize("where", [0, 1, 2])
def test_the_others_of_the_call_are_delivered_first(engine: EngineWorkerQueue, where: int) -> None:
    items: list[Any] = ["a", "b"]
    items.insert(where, Unreadable("first"))
    for item in items:
        engine.put_disaggregated_tasks(item)
    assert engine.get_disaggregated_tasks() == ["a", "b"]
    engine.put_disaggregated_tasks("later")
    with pytest.raises(PayloadError, match="first") as caught:
        engine.get_disaggregated_tasks()
    assert isinstance(caught.value.__cause__, LookupError)
    assert engine.get_disaggregated_tasks() == ["later"]
    assert engine.get_disaggregated_tasks() is None


def test_each_of_several_is_told(engine: EngineWorkerQueue) -> None:
    for item in (Unreadable("first"), Unreadable("second")):
        engine.put_disaggregated_tasks(item)
    for what in ("first", "second"):
        with pytest.raises(PayloadError, match=what):
            engine.get_disaggregated_tasks()
    assert engine.get_disaggregated_tasks() is None


def test_cache_infos_are_counted_where_they_are(engine: EngineWorkerQueue) -> None:
    assert engine.num_cache_infos() == 0
    engine.put_cache_info([Unreadable("info")] * 3, timeout=LIMIT_S)
    assert engine.num_cache_infos() == 3


def test_exist_tasks_without_shared_words(engine: EngineWorkerQueue) -> None:
    """On another machine the answer is the same, at one or two round trips."""
    with (
        EngineWorkerQueue(engine.address, num_client=2, client_id=0, role="reader") as zero,
        EngineWorkerQueue(engine.address, num_client=2, client_id=1) as one,
    ):
        for queue in (zero, one):
            page, queue._page = queue._page, None
            assert page is not None
            page.close()
        assert [zero.exist_tasks(), one.exist_tasks()] == [False, False]
        engine.put_tasks("batch", timeout=LIMIT_S)
        assert [zero.exist_tasks(), one.exist_tasks(), zero.task_ticket()] == [True, True, 1]
        zero.get_tasks()
        assert [zero.exist_tasks() for _ in range(2)] == [False, True]
        assert one.exist_tasks()
        assert one.get_tasks() == (["batch"], True)
        assert [zero.exist_tasks(), one.exist_tasks(), one.task_ticket()] == [False, False, 0]


@pytest.mark.parametrize("ticket", [-1, True, "1", None, 1.0])
def test_a_ticket_of_a_transfer_task_is_one(ticket: Any) -> None:
    with (
        EngineCacheQueue(("0.0.0.0", 0), is_server=True) as server,
        EngineCacheQueue(server.address, client_id=0) as rank,
    ):
        server.put_transfer_task("task")
        with pytest.raises(ConfigError, match=r"transfer_ticket\(\)"):
            rank.get_transfer_task(ticket=ticket)
        assert rank.get_transfer_task(ticket=rank.transfer_ticket() + 1) == (None, False)
        assert rank.get_transfer_task(ticket=rank.transfer_ticket()) == ("task", True)
