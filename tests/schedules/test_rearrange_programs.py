"""Every schedule of small programs over rearrangements; the published steps fail, and so does a host that is quiet."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.rearrange import Rearrange
from fdcomm.host.rearrange_channel import RearrangeChannel
from fdcomm.testing import Bound, Exhaustive, explore, replay
from tests.schedules.rearrange_programs import PROGRAMS
from tests.schedules.rearrange_races import RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    bound = Bound(preemptions=2, max_steps=300)
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive(), bound)
    assert shipped.failure is not None, str(shipped)
    assert shipped.failure.verdict == RACES[name][1]
    assert replay(broken, shipped.failure).verdict == shipped.failure.verdict
    ours = explore(race(name, shipped=False), Exhaustive(), bound)
    assert ours.failure is None, str(ours)
    assert ours.complete


@pytest.mark.parametrize(
    ("program", "method"),
    [
        ("2 workers meet", "_changed"),
        ("a worker is lost", "_wake_all"),
        ("the host ends", "shut_down"),
    ],
)
def test_a_host_that_does_not_wake_is_found(program: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(RearrangeChannel, method)

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        real = self._readable
        self._readable = _Quiet(real)
        try:
            return original(self, *args, **named)
        finally:
            self._readable = real

    monkeypatch.setattr(RearrangeChannel, method, quiet)
    if method == "_wake_all":
        monkeypatch.setattr(RearrangeChannel, "_changed", _silent)
    scenario, bound = PROGRAMS[program]
    report = explore(scenario, Exhaustive(), bound)
    assert report.failure is not None
    assert report.failure.verdict in ("deadlock", "livelock"), str(report)


def _silent(self: Any, action: str, who: Any = None, result: Any = None) -> None:
    """A change of which nobody is told."""
    self._version += 1
    self._record(action, who or {}, result)
    if action in ("Arrive", "Updated"):
        self._readable.notify_all()


class _Quiet:
    """A condition that tells nobody."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def notify_all(self) -> None:
        """Nobody is told."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __enter__(self) -> Any:
        return self.real.__enter__()

    def __exit__(self, *exc: object) -> Any:
        return self.real.__exit__(*exc)


def test_a_worker_that_begins_alone_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Rearrange.arrive

    def arrive(self: Rearrange, rank: int) -> bool:
        arrived = original(self, rank)
        if arrived and self.worker[rank] == "here":
            self.worker[rank] = "swap"
        return arrived

    monkeypatch.setattr(Rearrange, "arrive", arrive)
    program, bound = PROGRAMS["the request's limit passes"]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is not None
