"""Every schedule of small programs over the gate; the published steps fail, and so does a host that forgets to wake."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.host.gate_channel import GateChannel
from fdcomm.testing import Bound, Exhaustive, explore, replay
from tests.schedules.gate_programs import PROGRAMS, RACES, race


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


@pytest.mark.parametrize(
    ("method", "condition", "program"),
    [
        ("put_answer", "_readable", "2 requests"),
        ("collect", "_writable", "2 requests, room for 1"),
        ("collect", "_writable", "1 request, made twice"),
        ("close_session", "_readable", "a rank is lost"),
        ("shut_down", "_readable", "the host ends"),
    ],
)
def test_a_host_that_does_not_wake_is_found(
    method: str, condition: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(GateChannel, method)

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        real = getattr(self, condition)
        if isinstance(real, _Quiet):
            return original(self, *args, **named)
        setattr(self, condition, _Quiet(real))
        try:
            return original(self, *args, **named)
        finally:
            setattr(self, condition, real)

    monkeypatch.setattr(GateChannel, method, quiet)
    scenario, bound = PROGRAMS[program]
    report = explore(scenario, Exhaustive(), bound)
    assert report.failure is not None
    assert report.failure.verdict in ("deadlock", "livelock"), str(report)


def test_a_host_that_takes_answers_apart_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check for the round and the removal in two critical sections: two engines take one round."""

    def collect(self: Any, session: int, timeout: Any, limit: Any, operation: str) -> Any:
        while True:
            with self._readable:
                done = next((r for r in self._core.rounds if len(r.answers) == 2), None)
                if done is None:
                    self._readable.wait(None)
                    continue
            with self._readable:
                self._core.rounds = [r for r in self._core.rounds if r is not done]
                return [done.answers[rank] for rank in (0, 1)]

    monkeypatch.setattr(GateChannel, "collect", collect)
    scenario, bound = PROGRAMS["2 engines"]
    report = explore(scenario, Exhaustive(), bound)
    assert report.failure is not None
