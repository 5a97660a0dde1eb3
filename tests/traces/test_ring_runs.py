"""Level V6: what real processes do at a ring is a behaviour of spec and model, also when some are killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.__main__ import main as models
from tests.traces.ring_runs import ALTERED, accept, both, real_run
from tla.ring_trace import judge

pytestmark = [pytest.mark.multiproc, pytest.mark.tlc]


def test_a_real_run_is_accepted_and_altered_ones_are_not(seed: int, tmp_path: Path) -> None:
    run = real_run(seed)
    real, *answers = both([run, *(change(run) for change in ALTERED.values())])
    assert real == ("", ""), f"seed {seed}"
    for name, answer in zip(ALTERED, answers, strict=True):
        assert all(answer), f"seed {seed}: {name}"
    counts = accept(run).counts
    assert {"TakeOver", "StoreStart", "OpenGate", "Kill", "Fence"} <= set(counts), f"seed {seed}: {counts}"
    file = tmp_path / "run.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in run))
    assert models(["accept", "ring", str(file)]) == 0


def test_what_is_no_run_is_refused() -> None:
    for run in ([], [{"v": 1, "protocol": "ring", "dp": 0, "action": "Open"}]):
        assert not judge([run])[0].accepted
        assert not run or not accept(run).accepted
