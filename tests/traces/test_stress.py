"""A recorded run of several processes: both judges accept it, and it is what the processes say."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from fdcomm.trace import read
from models.dispatch_trace import accept_file
from tests.traces.stress import Story, compare, run
from tla.trace import judge, read_channels


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Story]:
    trace = tmp_path_factory.mktemp("stress") / "stress.ndjson"
    return trace, run(trace)


@pytest.mark.multiproc
def test_the_workers_say_what_was_recorded(recorded: tuple[Path, Story]) -> None:
    trace, story = recorded
    events = [event for event in read(trace) if event["protocol"] == "dispatch"]
    assert compare(story, events) == []
    actions = {event["action"] for event in events}
    assert {"Fence", "Join", "Leave", "ClearRank", "ClearProducer", "GetTasks", "PutTasks"} <= actions


@pytest.mark.multiproc
def test_the_model_accepts_it(recorded: tuple[Path, Story]) -> None:
    (verdict,) = accept_file(str(recorded[0]), only=("dispatch",))
    assert verdict.accepted, verdict


@pytest.mark.multiproc
@pytest.mark.tlc
def test_tlc_accepts_it(recorded: tuple[Path, Story]) -> None:
    (verdict,) = judge([run for run in read_channels(recorded[0]) if run[0]["protocol"] == "dispatch"])
    assert verdict.accepted, verdict


@pytest.mark.multiproc
def test_the_comparison_sees_what_was_not_so(recorded: tuple[Path, Story]) -> None:
    trace, story = recorded
    events = [event for event in read(trace) if event["protocol"] == "dispatch"]

    def said(change: int) -> list[str]:
        other = copy.deepcopy(story)
        mine = other.said[0][0]
        if change == 0:
            del mine[2]
        elif change == 1:
            mine[1], mine[2] = mine[2], mine[1]
        elif change == 2:
            mine.append(mine[-1])
        else:
            mine[1]["all_read"] = not mine[1]["all_read"]
        return compare(other, events)

    assert [bool(said(change)) for change in range(4)] == [True] * 4
