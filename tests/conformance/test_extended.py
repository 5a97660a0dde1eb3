"""Bitmask, cache infos, connect tasks and the done queue: every edge of their models, through core and host."""

from __future__ import annotations

import pytest

from fdcomm.host.channel import DispatchChannel
from fdcomm.host.fifo_channel import FifoChannel
from fdcomm.host.members import Member
from models import done
from tests.conformance.core_edges import Deviation
from tests.conformance.extended import CORE, drive_done, drive_extended_core, drive_extended_service

PROTOCOLS = list(CORE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_core_takes_every_edge(protocol: str) -> None:
    coverage = drive_extended_core(protocol)
    assert coverage.edges > coverage.states > 400
    assert ("ClearRank" in coverage.actions) is (protocol == "bitmask")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_service_takes_every_edge_that_a_host_can(protocol: str) -> None:
    coverage = drive_extended_service(protocol)
    assert coverage.edges > 100
    assert {"Join", "Fence", "PutTasks", "PutLost", "PutTimeout", "GetTasks"} <= set(coverage.actions)


@pytest.mark.parametrize("protocol", ["done", "disaggregate"])
def test_the_done_queue_takes_every_edge(protocol: str) -> None:
    coverage = drive_done(done.Config(takers=2, max_done=3, most=2), protocol)
    assert set(coverage.actions) == {"Post", "Take", "Gone"}
    assert coverage.edges > 100


def _clears_say_nothing(patch: pytest.MonkeyPatch) -> None:
    clear = DispatchChannel.clear_data
    patch.setattr(DispatchChannel, "clear_data", lambda self, session: (clear(self, session)[0], ()))


def _clear_waits_for_nobody_and_drops_all(patch: pytest.MonkeyPatch) -> None:
    clear = DispatchChannel.clear_data

    def drop(self: DispatchChannel, session: int) -> object:
        answer = clear(self, session)
        self._core.log.clear()
        return answer

    patch.setattr(DispatchChannel, "clear_data", drop)


@pytest.mark.parametrize("plant", [_clears_say_nothing, _clear_waits_for_nobody_and_drops_all])
def test_a_wrong_clear_of_the_bitmask_shows(plant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(plant)
    plant(monkeypatch)
    with pytest.raises(Deviation):
        drive_extended_service("bitmask")


def test_a_clear_of_cache_infos_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdcomm.host.service.WITHOUT", {})
    with pytest.raises(Deviation, match="has clear_data"):
        drive_extended_service("cache_info")


def _looks_at_the_list_only(patch: pytest.MonkeyPatch) -> None:
    post = FifoChannel._post
    patch.setattr(FifoChannel, "_post", lambda self: {**post(self), "empty": not self._items})


def _keeps_what_the_lost_had(patch: pytest.MonkeyPatch) -> None:
    def stay(self: FifoChannel, member: Member, *, lost: bool) -> None:
        del member, lost

    patch.setattr(FifoChannel, "_exit", stay)


@pytest.mark.parametrize("plant", [_looks_at_the_list_only, _keeps_what_the_lost_had])
def test_a_fault_of_the_done_queue_shows(plant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(plant)
    plant(monkeypatch)
    with pytest.raises(Deviation):
        drive_done(done.Config(takers=1, max_done=2, most=1))
