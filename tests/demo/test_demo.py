"""The demo runs, and its own check can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdcomm.trace import read
from models.dispatch_trace import accept_file
from tests.demo.__main__ import check
from tests.demo.run import Outcome, run


@pytest.mark.multiproc
@pytest.mark.parametrize("kill", [False, True])
def test_the_demo_delivers_and_its_trace_is_accepted(tmp_path: Path, kill: bool) -> None:
    trace = tmp_path / "demo.ndjson"
    outcome = run(trace, ranks=3, batches=4, kill=kill)
    assert check(outcome) == []
    assert outcome.put == [1, 2, 3, 4, "end"]
    verdicts = accept_file(str(trace))
    assert [verdict.accepted for verdict in verdicts] == [True], verdicts[0]
    actions = {event["action"] for event in read(trace)}
    assert {"Join", "CallPut", "PutTasks", "GetTasks", "ClearProducer", "Leave"} <= actions
    assert ({"Fence", "PutLost"} <= actions) is kill


@pytest.mark.parametrize(
    "got",
    [[1, 2], [1, 2, 2, "end"], [2, 1, "end"], [0, 1, 2, "end"], []],
    ids=["cut short", "twice", "out of order", "cleared batch", "nothing"],
)
@pytest.mark.parametrize("killed", [None, 1])
def test_the_check_sees_a_wrong_delivery(got: list[int | str], killed: int | None) -> None:
    right: list[int | str] = [1, 2, "end"]
    assert check(Outcome(put=right, got={0: right, 1: right}, killed=killed)) == []
    assert check(Outcome(put=right, got={0: right, 1: got}, killed=killed)) != []


def test_only_the_killed_rank_may_miss_a_batch() -> None:
    outcome = Outcome(put=[1, 2, "end"], got={0: [1, 2, "end"], 1: [1, "end"]}, killed=1)
    assert check(outcome) == []
    outcome.killed = 0
    assert check(outcome) == ["rank 1 received [1, 'end'] instead of [1, 2, 'end']"]
