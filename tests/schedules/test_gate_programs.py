"""Every schedule of small programs over the gate; the published steps fail, and so does a host that forgets to wake."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.host.gate_channel import GateChannel
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, silence
from tests.schedules.gate_programs import PROGRAMS, RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    bound = Bound(preemptions=2, max_steps=300)
    race_is_found(race(name, shipped=True), bound, RACES[name][1])
    every_schedule_is_right(race(name, shipped=False), bound)


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
    silence(monkeypatch, GateChannel, method, condition)
    assert failure_is_found(*PROGRAMS[program]).verdict in ("deadlock", "livelock")


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
    failure_is_found(*PROGRAMS["2 engines"])
