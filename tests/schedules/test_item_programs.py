"""Every schedule of small programs over bitmask, cache infos, connect tasks and the done queue."""

from __future__ import annotations

import pytest

from fdcomm.host.fifo_channel import FifoChannel
from fdcomm.testing import Bound, Exhaustive, explore, replay
from tests.schedules.item_programs import PROGRAMS, RACES, race

ALL = [(protocol, name) for protocol, programs in PROGRAMS.items() for name in programs]


@pytest.mark.parametrize(("protocol", "name"), ALL)
def test_every_schedule(protocol: str, name: str) -> None:
    program, bound = PROGRAMS[protocol][name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_shipped_steps_and_not_on_ours(name: str) -> None:
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive(), Bound(preemptions=3))
    assert shipped.failure is not None, str(shipped)
    assert shipped.failure.verdict == "invariant"
    assert replay(broken, shipped.failure).message == shipped.failure.message
    ours = explore(race(name, shipped=False), Exhaustive(), Bound())
    assert ours.failure is None, str(ours)
    assert ours.complete


def test_an_empty_that_looks_at_the_list_only_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    post = FifoChannel._post
    monkeypatch.setattr(FifoChannel, "_post", lambda self: {**post(self), "empty": not self._items})
    program, bound = PROGRAMS["bitmask"]["results are posted, taken, asked for"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is not None
    assert "were handled" in report.failure.message
