"""Every schedule of small programs over the words and the sender; the published reader fails, and so do faulty ones."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm.layer_progress import PairWords
from fdcomm.layer_table import TimedTable
from fdcomm.layerwise import LayerSender
from fdcomm.testing import Exhaustive, explore, replay
from tests.schedules.layerwise_programs import PROGRAMS, RACES, race


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_schedule(name: str) -> None:
    program, bound = PROGRAMS[name]
    report = explore(program, Exhaustive(), bound)
    assert report.failure is None, str(report)
    assert report.complete


@pytest.mark.parametrize("name", RACES)
def test_the_race_is_found_on_the_published_steps_and_not_on_ours(name: str) -> None:
    _, verdict, bound = RACES[name]
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive(), bound)
    assert shipped.failure is not None, str(shipped)
    assert shipped.failure.verdict == verdict
    assert replay(broken, shipped.failure).verdict == verdict
    ours = explore(race(name, shipped=False), Exhaustive(), bound)
    assert ours.failure is None, str(ours)
    assert ours.complete


def _found(program: str) -> str:
    scenario, bound = PROGRAMS[program]
    report = explore(scenario, Exhaustive(), bound)
    assert report.failure is not None, str(report)
    return report.failure.verdict


def test_a_writer_that_stores_the_step_first_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def store(self: Any, step: int, layer: int, both: int) -> None:
        self._runtime.store(*self._step, step if step < 2**31 else step - 2**32)
        self._runtime.store(*self._layer, layer)

    monkeypatch.setattr(PairWords, "_store", store)
    assert _found("plain words, 2 readers") == "invariant"


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
    original = getattr(LayerSender, method)

    def quiet(self: Any, *args: Any, **named: Any) -> Any:
        real = self._changed
        self._changed = _Quiet(real)
        try:
            return original(self, *args, **named)
        finally:
            self._changed = real

    monkeypatch.setattr(LayerSender, method, quiet)
    if method == "on_end":
        # Progress wakes the sender too: only a task that the device never computes needs the abort to do it.
        monkeypatch.setattr(LayerSender, "on_progress", lambda self, *args: None)
    assert _found(program) in ("deadlock", "livelock")


def test_a_table_without_its_lock_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports that are applied between the sender's critical sections are lost to whoever waits."""

    def on_progress(self: Any, slot: int, step: int, layer: int) -> None:
        with self._changed:
            self._changed.notify_all()
        self._runtime.sleep(0.001)  # virtual: others get their turn here
        self._table.progress(slot, step, layer)

    monkeypatch.setattr(LayerSender, "on_progress", on_progress)
    assert _found("2 tasks") in ("deadlock", "livelock")


def test_a_table_that_drops_early_progress_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = TimedTable.progress

    def progress(self: Any, slot: int, step: int, layer: int) -> None:
        original(self, slot, step, layer)
        self._table.slots[slot].early = None

    monkeypatch.setattr(TimedTable, "progress", progress)
    assert _found("2 tasks") in ("deadlock", "livelock", "invariant")
