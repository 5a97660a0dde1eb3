"""Schedules of small programs over the block lists and their client; the published ones fail, and so do faulty ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fdcomm.blocks import BlockLists
from fdcomm.core.blocks import Blocks
from fdcomm.testing import Bound
from fdcomm.transfer_client import TransferClient
from fdcomm.transfer_receiver import Receiver
from fdcomm.transfer_reset import Reset
from tests.schedules.blocks_programs import LONG, PROGRAMS
from tests.schedules.blocks_races import RACES, race
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, silence


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LONG])
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", LONG)
def test_every_schedule_without_preemptions(name: str) -> None:
    every_schedule_is_right(PROGRAMS[name][0], Bound(preemptions=0))


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    _, verdict, bound = RACES[name]
    race_is_found(race(name, shipped=True), bound, verdict)
    every_schedule_is_right(race(name, shipped=False), bound)


STUCK = ("deadlock", "livelock")


@pytest.mark.parametrize(
    ("owner", "method", "program"),
    [
        (TransferClient, "_register", "a result and its number"),
        (Receiver, "_ended", "a reset while a task runs"),
        (Receiver, "_ended", "somebody waits for a block"),
        (Receiver, "settle", "somebody waits for a late target"),
        (Receiver, "settle", "a reset waits for a late task"),
    ],
)
def test_who_wakes_nobody_is_found(owner: type, method: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch, owner, method, "_changed")
    assert failure_is_found(*PROGRAMS[program]).verdict in STUCK


def test_a_result_that_is_dropped_because_its_number_is_not_known_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Receiver, "await_number", lambda self, number: self._client._core.find(number))
    assert failure_is_found(*PROGRAMS["a result and its number"]).verdict in (*STUCK, "invariant")


def test_a_reset_that_does_not_withdraw_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Reset, "_withdraw", lambda self: setattr(self, "_to_withdraw", False))
    assert failure_is_found(*PROGRAMS["a reset of paused ranks"]).verdict in STUCK


def test_a_reset_that_withdraws_once_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task whose call returns after the withdraw stays in the queue, and nobody takes it."""
    monkeypatch.setattr(Reset, "issued", lambda self: None)
    assert failure_is_found(*PROGRAMS["a reset of paused ranks"]).verdict in STUCK


def test_a_reset_that_waits_for_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Blocks.rebuild

    def rebuild(self: Any) -> bool:
        self.tasks.clear()
        return original(self)

    monkeypatch.setattr(Reset, "_await", lambda self, left, deadline: 0)
    monkeypatch.setattr(Blocks, "rebuild", rebuild)
    assert failure_is_found(*PROGRAMS["a reset while a task runs"]).verdict in ("error", "invariant")


def test_a_result_that_is_handled_outside_of_the_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table forgets the task first, and its blocks come back in a second section (P8.1)."""

    def ended(self: Any, task: Any, result: Any) -> tuple[Any, list[Any]]:
        client = self._client
        swap = client._swaps.pop(task.index)
        del client._core.tasks[task.index]
        client._changed.notify_all()
        client._changed.wait(0.001)  # another section
        client._core.tasks[task.index] = task
        client._core.handle(task, result.outcome)
        args = {"task": task.index, "outcome": result.outcome, "late": False}
        client._blocks._record("Handle", args, {"given": -1})
        return swap, []

    monkeypatch.setattr(Receiver, "_ended", ended)
    assert failure_is_found(*PROGRAMS["a reset while a task runs"]).verdict in ("error", "invariant")


@pytest.mark.parametrize("program", ["somebody waits for a late target", "a reset waits for a late task"])
def test_lists_that_look_at_no_running_rank_are_found(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was in use here before results named the ranks that are at their tasks (late-write-into-freed-target)."""
    original = Receiver.handle
    monkeypatch.setattr(Receiver, "handle", lambda self, result: original(self, replace(result, running=())))
    assert failure_is_found(*PROGRAMS[program]).verdict == "invariant"


def test_an_end_that_tells_nobody_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransferClient, "_told", lambda self, tasks, why: [])
    assert failure_is_found(*PROGRAMS["the port is lost"]).verdict in STUCK


def test_lists_that_wake_nobody_at_the_end_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch, BlockLists, "_tell", "_changed")
    assert failure_is_found(*PROGRAMS["the client is closed"]).verdict in STUCK
