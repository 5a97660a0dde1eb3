"""Level V6: what real processes do to a word is a behaviour of spec and model, also when one is killed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.__main__ import main as models
from tests.traces.word_runs import ALTERED, accept, both, real_run
from tla.word_trace import judge

pytestmark = [pytest.mark.multiproc, pytest.mark.tlc]


def test_real_runs_are_accepted_and_altered_ones_are_not(seed: int, tmp_path: Path) -> None:
    run = real_run(seed)
    assert {"Lock", "LoadOld", "StoreSum", "Unlock"} <= set(accept(run).counts)
    real, *answers = both([run, *(change(run) for change in ALTERED.values())])
    assert real == ("", ""), f"seed {seed}"
    for name, answer in zip(ALTERED, answers, strict=True):
        assert all(answer), f"seed {seed}: {name}"
    file = tmp_path / "run.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in run))
    assert models(["accept", "word.add", str(file)]) == 0


def test_what_is_no_run_is_refused() -> None:
    opening = {"v": 1, "protocol": "word.add", "dp": 0, "action": "Open", "adders": 1, "comparers": 0, "adds": 1}
    for run in ([], [opening], [{**opening, "victim": 1}]):
        assert not judge([run])[0].accepted
        assert not run or not accept(run).accepted
