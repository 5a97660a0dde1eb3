"""Every schedule of small programs over the words and the sender; the published reader fails, and so do faulty ones."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.layer_progress import PairWords
from fdcomm.layer_table import TimedTable
from fdcomm.layerwise import LayerSender
from tests.schedules.checks import every_schedule_is_right, failure_is_found, race_is_found, silence
from tests.schedules.layerwise_programs import PROGRAMS, RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    every_schedule_is_right(*PROGRAMS[name])


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    _, verdict, bound = RACES[name]
    race_is_found(race(name, shipped=True), bound, verdict)
    every_schedule_is_right(race(name, shipped=False), bound)


def test_a_writer_that_stores_the_step_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def store(self: Any, step: int, layer: int, both: int) -> None:
        self._runtime.store(*self._step, step if step < 2**31 else step - 2**32)
        self._runtime.store(*self._layer, layer)

    monkeypatch.setattr(PairWords, "_store", store)
    assert failure_is_found(*PROGRAMS["plain words, 2 readers"]).verdict == "invariant"


@pytest.mark.parametrize(
    ("method", "program"),
    [
        ("on_progress", "2 tasks"),
        ("on_cache_info", "2 tasks"),
        ("on_end", "a request is aborted"),
        ("_due", "2 tasks, room for 1"),
        ("close", "the sender is closed"),
    ],
)
def test_a_sender_that_does_not_wake_is_found(method: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    silence(monkeypatch, LayerSender, method, "_changed")
    if method == "on_end":
        # Progress wakes the sender too: only a task that the device never computes needs the abort to do it.
        monkeypatch.setattr(LayerSender, "on_progress", lambda self, *args: None)
    assert failure_is_found(*PROGRAMS[program]).verdict in ("deadlock", "livelock")


def test_a_table_without_its_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that are applied between the sender's critical sections are lost to whoever waits."""

    def on_progress(self: Any, slot: int, step: int, layer: int) -> None:
        with self._changed:
            self._changed.notify_all()
        self._runtime.sleep(0.001)  # virtual: others get their turn here
        self._table.progress(slot, step, layer)

    monkeypatch.setattr(LayerSender, "on_progress", on_progress)
    assert failure_is_found(*PROGRAMS["2 tasks"]).verdict in ("deadlock", "livelock")


def test_a_table_that_drops_early_progress_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = TimedTable.progress

    def progress(self: Any, slot: int, step: int, layer: int) -> None:
        original(self, slot, step, layer)
        self._table.slots[slot].early = None

    monkeypatch.setattr(TimedTable, "progress", progress)
    assert failure_is_found(*PROGRAMS["2 tasks"]).verdict in ("deadlock", "livelock", "invariant")
