"""The re-enactment of the cache queue costs what the published one costs: so many round trips per call."""

from __future__ import annotations

from multiprocessing.managers import BaseProxy
from typing import Any

import pytest

from tests.races.cache_race import CacheShipped


def test_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    trips = 0
    callmethod = BaseProxy._callmethod

    def counted(proxy: Any, *arguments: Any) -> Any:
        nonlocal trips
        trips += 1
        return callmethod(proxy, *arguments)

    def of(call: Any) -> int:
        before = trips
        call()
        return trips - before

    with CacheShipped(2, "cache") as variant:
        manager, first, last = variant.producer(), variant.reader(0), variant.reader(1)
        monkeypatch.setattr(BaseProxy, "_callmethod", counted)
        assert of(first.get_transfer_task) == 4
        assert of(lambda: manager.put_transfer_task("A")) == 5
        assert of(first.get_transfer_task) == 7
        assert of(last.get_transfer_task) == 8
        assert of(lambda: first.put_transfer_done_signal("A")) == 3
        assert of(manager.get_transfer_done_signal) == 4
        assert of(manager.get_transfer_done_signal) == 3


def test_every_rank_reads_each_task() -> None:
    with CacheShipped(2, "cache") as variant:
        manager, ranks = variant.producer(), [variant.reader(0), variant.reader(1)]
        for number in range(3):
            manager.put_transfer_task(number)
            assert [rank.get_transfer_task() for rank in ranks] == [(number, False), (number, True)]
