"""Runs of real processes on one signal are what model and spec allow, and altered ones are not, for both judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.__main__ import main as models
from tests.traces.signal_runs import ALTERED, Steps, both, by_model, events_of, record, switches
from tla.__main__ import main as tla
from tla.signal_trace import judge

pytestmark = [pytest.mark.multiproc, pytest.mark.tlc]


@pytest.fixture(scope="module")
def run() -> Steps:
    """One run, always of the same choices; how the processes meet is the machine's doing."""
    return record(seed=3)


def test_a_run_shows_something(run: Steps) -> None:
    verdict = by_model(run)
    assert verdict.accepted, str(verdict)
    assert verdict.events > 100
    assert switches(run) > 0
    assert set(verdict.counts) >= {"Publish", "Validate", "Crash", "Restart"}


def test_real_runs_are_accepted_and_altered_ones_rejected_by_both(run: Steps, seed: int) -> None:
    real, *answers = both([run, *(change(run) for change in ALTERED.values())])
    assert real == ("", "")
    for name, answer in zip(ALTERED, answers, strict=True):
        assert all(answer), name
    (another,) = both([record(seed)])
    assert another == ("", ""), f"seed {seed}"


def test_a_file_is_judged_by_both_commands(run: Steps, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events_of(run)))
    assert models(["accept", "signal", str(file)]) == 0
    assert tla(["trace", str(file)]) == 0
    assert "signal dp=0: accepted" in capsys.readouterr().out


def test_what_is_no_run_is_refused(run: Steps) -> None:
    events = events_of(run)
    assert not judge([events[1:]])[0].accepted
    assert not judge([[]])[0].accepted
