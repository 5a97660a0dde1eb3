"""Level V6: what real processes do at a meeting is a behaviour of spec and model, also when one is killed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from models.__main__ import main as models
from tests.traces.meeting_runs import ALTERED, KINDS, accept, both, real_run
from tla.meeting_trace import judge

pytestmark = [pytest.mark.multiproc, pytest.mark.tlc]


def test_real_runs_are_accepted_and_altered_ones_are_not(seed: int, tmp_path: Path) -> None:
    runs = [real_run(seed, kind) for kind in KINDS]
    answers = both([*runs, *(change(runs[0]) for change in ALTERED.values())])
    assert answers[: len(runs)] == [("", "")] * len(runs), f"seed {seed}"
    for name, answer in zip(ALTERED, answers[len(runs) :], strict=True):
        assert all(answer), f"seed {seed}: {name}"
    counts = sum((accept(run).counts for run in runs), Counter[str]())
    wanted = {
        "Kill",
        "AskFence",
        "AskReset",
        "Come",
        "StoreLife",
        "SeeWhy",
        "SeeStanding",
        "LookLocked",
        "Sleep",
        "Wake",
        "StoreCount",
    }
    assert wanted <= set(counts), f"seed {seed}: {counts}"
    file = tmp_path / "run.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in runs[0]))
    assert models(["accept", "meeting", str(file)]) == 0


def test_what_is_no_run_is_refused() -> None:
    for run in ([], [{"v": 1, "protocol": "meeting", "dp": 0, "action": "Open"}]):
        assert not judge([run])[0].accepted
        assert not run or not accept(run).accepted
