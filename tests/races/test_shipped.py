"""The re-enactment costs what the published queue costs: so many round trips per call."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.managers import BaseProxy
from typing import Any

import pytest

from tests.races.shipped import ShippedQueue
from tests.races.variants import Shipped


class _Trips:
    """Counts the round trips of all proxies of this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        callmethod = BaseProxy._callmethod

        def counted(proxy: Any, *arguments: Any) -> Any:
            self.count += 1
            return callmethod(proxy, *arguments)

        monkeypatch.setattr(BaseProxy, "_callmethod", counted)

    def of(self, call: Any) -> int:
        before = self.count
        call()
        return self.count - before


@pytest.fixture(params=[1, 2, 4], ids=lambda ranks: f"{ranks} ranks")
def queues(request: pytest.FixtureRequest) -> Iterator[list[ShippedQueue]]:
    with Shipped(request.param) as variant:
        yield [variant.reader(rank) for rank in range(request.param)]


def test_round_trips(queues: list[ShippedQueue], monkeypatch: pytest.MonkeyPatch) -> None:
    ranks, trips, engine = len(queues), _Trips(monkeypatch), queues[0]
    exist = 1  # not on this machine's shared memory: a unix socket's address does not read 0.0.0.0
    assert trips.of(lambda: engine.put_tasks("A")) == ranks + 6 + exist
    assert trips.of(engine.exist_tasks) == exist
    assert trips.of(engine.num_tasks) == 3
    for reader in queues[:-1]:
        assert trips.of(reader.get_tasks) == ranks + 9
    assert trips.of(queues[-1].get_tasks) == ranks + 10 + exist
    assert trips.of(engine.clear_data) == 4


def test_every_rank_reads_each_batch(queues: list[ShippedQueue]) -> None:
    for number in range(3):
        queues[0].put_tasks(number)
        assert [queue.exist_tasks() for queue in queues] == [True] * len(queues)
        last = len(queues) - 1
        assert [queue.get_tasks() for queue in queues] == [([number], rank == last) for rank in range(len(queues))]
        assert not queues[0].exist_tasks()
