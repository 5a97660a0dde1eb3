"""The soak of pauses in short, judged by the model, too; what it is to find it finds; the whole of it by night."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fdcomm import EngineCacheQueue, PauseControl
from models.dispatch_trace import accept_file
from tests.faults.clean import nothing_is_left
from tests.faults.remote import NIGHTLY
from tests.soak import pause
from tests.soak.nursery import soak_nursery
from tests.soak.pause_words import RANKS, THREADS, Words

__all__ = ("nothing_is_left", "soak_nursery")

pytestmark = pytest.mark.multiproc
T = TypeVar("T")


def test_cycles_with_kills_and_stops(seed: int, tmp_path: Path) -> None:
    trace = tmp_path / "host.ndjson"
    figures = pause.run(60, seed, trace=trace, losses=0.2)
    assert figures.wrong == 0, figures
    assert sum(figures.cycles.values()) == 60
    assert sum(figures.kills.values()) == figures.restarts > 0
    assert figures.jobs["done"] > 100
    (verdict,) = accept_file(str(trace), only=("pause",))
    assert verdict.accepted, str(verdict)


@pytest.mark.skipif(not NIGHTLY, reason="nightly")
@pytest.mark.timeout(3600)
def test_ten_thousand_cycles(seed: int) -> None:
    figures = pause.run(10_000, seed)
    assert figures.wrong == 0, figures


class _Hasty(PauseControl):
    def clear(self, work: Callable[[], T], *args: Any, **named: Any) -> T:
        return work()


class _Forgetful(EngineCacheQueue):
    def get_transfer_done_signal(self) -> Any:
        super().get_transfer_done_signal()
        return super().get_transfer_done_signal()


class _Repetitive(EngineCacheQueue):
    _last: Any = None

    def get_transfer_done_signal(self) -> Any:
        last, self._last = self._last, None
        if last is None:
            last = self._last = super().get_transfer_done_signal()
        return last


@pytest.mark.parametrize(
    ("name", "fault", "what"),
    [
        ("PauseControl", _Hasty, "overlaps"),
        ("EngineCacheQueue", _Forgetful, "lost"),
        ("EngineCacheQueue", _Repetitive, "twice"),
    ],
)
def test_a_fault_is_found(name: str, fault: type, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pause, name, fault)
    assert getattr(pause.run(15, 7, losses=0.0), what) > 0


def test_the_command_prints_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert pause.main(["--cycles", "3", "--seed", "3"]) == 0
    first, _, rest = capsys.readouterr().out.partition("\n")
    assert first == "seed 3"
    assert sum(json.loads(rest)["cycles"].values()) == 3


def test_words(tmp_path: Path) -> None:
    with Words(tmp_path / "words", create=True) as ours, Words(tmp_path / "words") as theirs:
        theirs.busy(3, 1, True)
        assert theirs.begun(3, 1) == 1
        theirs.posted(3, 0)
        assert ours.busy_threads() == [(3, 1)]
        assert ours.counts(3) == [(0, 1), (1, 0)]
        assert ours.all_begun() == 1
        ours.fresh(3)
        assert [theirs.counts(rank) for rank in range(RANKS)] == [[(0, 0)] * THREADS] * RANKS
