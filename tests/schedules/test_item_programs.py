"""Every schedule of small programs over bitmask, cache infos, connect tasks and the done queue."""

from __future__ import annotations

import pytest

from fdcomm.host.fifo_channel import FifoChannel
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found
from tests.schedules.item_programs import PROGRAMS, RACES, race

ALL = [(protocol, name) for protocol, programs in PROGRAMS.items() for name in programs]


@pytest.mark.parametrize(("protocol", "name"), ALL)
def test_every_schedule(protocol: str, name: str) -> None:
    every_schedule_is_right(*PROGRAMS[protocol][name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_steps_and_not_on_ours(name: str) -> None:
    race_is_found(race(name, shipped=True), Bound(preemptions=3), "invariant")
    every_schedule_is_right(race(name, shipped=False), Bound())


def test_an_empty_that_looks_at_the_list_only_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    post = FifoChannel._post
    monkeypatch.setattr(FifoChannel, "_post", lambda self: {**post(self), "empty": not self._items})
    assert "were handled" in failure_is_found(*PROGRAMS["bitmask"]["results are posted, taken, asked for"]).message
