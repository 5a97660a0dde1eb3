"""Every schedule of small programs over rearrangements; the published steps fail, and so does a host that is quiet."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.rearrange import Rearrange
from fdcomm.host.rearrange_channel import RearrangeChannel
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, silence
from tests.schedules.rearrange_programs import PROGRAMS
from tests.schedules.rearrange_races import RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    bound = Bound(preemptions=2, max_steps=300)
    race_is_found(race(name, shipped=True), bound, RACES[name][1])
    every_schedule_is_right(race(name, shipped=False), bound)


@pytest.mark.parametrize(
    ("program", "method"),
    [
        ("2 workers meet", "_changed"),
        ("a worker is lost", "_wake_all"),
        ("the host ends", "shut_down"),
    ],
)
def test_a_host_that_does_not_wake_is_found(program: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch, RearrangeChannel, method, "_readable")
    if method == "_wake_all":
        monkeypatch.setattr(RearrangeChannel, "_changed", _silent)
    assert failure_is_found(*PROGRAMS[program]).verdict in ("deadlock", "livelock")


def _silent(self: Any, action: str, who: Any = None, result: Any = None) -> None:
    """A change of which nobody is told."""
    self._version += 1
    self._record(action, who or {}, result)
    if action in ("Arrive", "Updated"):
        self._readable.notify_all()


def test_a_worker_that_begins_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Rearrange.arrive

    def arrive(self: Rearrange, rank: int) -> bool:
        arrived = original(self, rank)
        if arrived and self.worker[rank] == "here":
            self.worker[rank] = "swap"
        return arrived

    monkeypatch.setattr(Rearrange, "arrive", arrive)
    failure_is_found(*PROGRAMS["the request's limit passes"])
