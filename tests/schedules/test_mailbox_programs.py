"""Schedules of small programs over the mailbox and its socket; the published ones fail, and so do faulty ones."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.core.mailbox import Entry, Mailbox
from fdcomm.mailbox.results import Results
from fdcomm.zsocket.locked import LockedSocket
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found
from tests.schedules.mailbox_programs import PROGRAMS
from tests.schedules.mailbox_races import RACES, race

STUCK = ("deadlock", "livelock")


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    _, verdict, bound = RACES[name]
    race_is_found(race(name, shipped=True), bound, verdict)
    every_schedule_is_right(race(name, shipped=False), bound)


def test_who_does_not_look_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Mailbox.sent

    def sent(self: Any, request: Any) -> Any:
        entry: Entry = self.open[request]
        waiting, entry.cached = entry.cached, []
        batch = original(self, request)
        entry.cached = waiting
        return batch

    monkeypatch.setattr(Mailbox, "sent", sent)
    assert failure_is_found(*PROGRAMS["2 threads put"]).verdict in ("invariant", "error")


def test_two_senders_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is being sent does not keep others from sending."""
    original = Mailbox._begin

    def begin(self: Any, entry: Entry) -> Any:
        flying, entry.flying = entry.flying, ()
        batch = original(self, entry)
        entry.flying = batch or flying
        return batch

    monkeypatch.setattr(Mailbox, "_begin", begin)
    assert failure_is_found(*PROGRAMS["a handle and 3 results"]).verdict in ("invariant", "error")


def test_room_that_nobody_is_told_of_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Results, "_tell_waiting", lambda self: None)
    assert failure_is_found(*PROGRAMS["somebody waits for room"]).verdict in STUCK


@pytest.mark.parametrize("name", ["2 threads receive", "one receives, one sends"])
def test_a_look_that_rings_for_nobody_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LockedSocket, "_tell_others", lambda self, but=0: None)
    assert failure_is_found(*PROGRAMS[name]).verdict in STUCK


def test_a_socket_without_its_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(self: Any, parts: Any, operation: str, timeout: Any = None) -> None:
        self._port.send(parts)

    monkeypatch.setattr(LockedSocket, "send", send)
    assert failure_is_found(*PROGRAMS["2 threads send"]).verdict == "invariant"
