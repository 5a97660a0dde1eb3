"""The demo runs, and its own check can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fdcomm.trace import read
from models.dispatch_trace import accept_file
from tests.demo.__main__ import check, judge
from tests.demo.run import Outcome, run


@pytest.mark.multiproc
@pytest.mark.parametrize("kill", [False, True])
def test_the_demo_delivers_and_its_trace_is_accepted(tmp_path: Path, kill: bool) -> None:
    trace = tmp_path / "demo.ndjson"
    outcome = run(trace, ranks=3, batches=4, kill=kill)
    assert check(outcome) == []
    assert outcome.put == [1, 2, 3, 4, "end"]
    verdicts = accept_file(str(trace), only=("dispatch",))
    assert [verdict.accepted for verdict in verdicts] == [True], verdicts[0]
    actions = {event["action"] for event in read(trace)}
    assert {"Join", "CallPut", "PutTasks", "GetTasks", "ClearProducer", "Leave"} <= actions
    assert ({"Fence", "PutLost"} <= actions) is kill


@pytest.mark.multiproc
@pytest.mark.tlc
def test_both_judges_accept_the_run_and_reject_an_altered_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "demo.ndjson"
    run(trace, ranks=2, batches=3, kill=True)
    assert judge(trace) == []
    lines = trace.read_text().splitlines(keepends=True)
    first_get = next(number for number, line in enumerate(lines) if '"GetTasks"' in line)
    event = json.loads(lines[first_get])
    event["args"]["rank"] = 1 - event["args"]["rank"]
    lines[first_get] = json.dumps(event) + "\n"
    trace.write_text("".join(lines))
    assert len(judge(trace)) == 2
    assert "GetTasks" in capsys.readouterr().out


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
