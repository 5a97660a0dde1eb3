"""Schedules of small programs over the shipping producer and consumer, and what is found when one wakes nobody."""

from __future__ import annotations

import pytest

from fdcomm.mq.consumer import Consumer
from fdcomm.mq.producer import Producer
from fdcomm.testing import Bound
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, silence
from tests.schedules.fmq_programs import PROGRAMS, SLOW
from tests.schedules.fmq_races import RACES, race


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in SLOW])
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", sorted(SLOW))
def test_every_schedule_without_preemptions(name: str) -> None:
    every_schedule_is_right(PROGRAMS[name][0], Bound(preemptions=0))


def test_who_hears_and_wakes_nobody_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch, Producer, "_hear", "_changed")
    assert failure_is_found(*PROGRAMS["one by one"]).verdict in ("deadlock", "livelock")


def test_an_end_that_does_not_wait_for_who_waits_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Producer, "_require", lambda self, operation: None)
    monkeypatch.setattr(Consumer, "_require", lambda self, operation: None)
    assert failure_is_found(*PROGRAMS["an end while a get waits"]).verdict != "holds"


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    _, verdict, bound = RACES[name]
    race_is_found(race(name, shipped=True), bound, verdict)
    every_schedule_is_right(race(name, shipped=False), bound)
