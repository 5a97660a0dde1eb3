"""Recorded runs judged by TLC: a true one is accepted, an altered one is rejected at the right event."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tla.__main__ import main
from tla.trace import judge, read_channels

Run = list[dict[str, Any]]


class _Recorder:
    """Writes a run by hand: two ranks, one batch retained. The state after each event is stated, not computed."""

    def __init__(self) -> None:
        self.events: Run = [{"v": 1, "action": "Open", "protocol": "dispatch", "dp": 0, "ranks": 2, "depth": 1}]
        self.post: dict[str, Any] = {"calls": 0, "epoch": 0, "exist": False, "log": [], "waiting": []}

    def did(self, action: str, args: dict[str, int], result: dict[str, Any] | None = None, **post: Any) -> None:
        self.post = {**self.post, **post}
        self.events.append(
            {
                "v": 1,
                "seq": len(self.events),
                "protocol": "dispatch",
                "dp": 0,
                "action": action,
                "args": args,
                "result": result or {},
                "post": self.post,
                "t_ns": 0,
            }
        )


def _run() -> Run:
    """Every action that a host can see, each at least once."""
    rec = _Recorder()
    rec.did("Connect", {"producer": 0})
    rec.did("Join", {"rank": 0})
    rec.did("Join", {"rank": 1})
    rec.did("CallPut", {"producer": 0, "id": 1}, calls=1, waiting=[1])
    rec.did("PutTasks", {"producer": 0, "id": 1}, waiting=[], log=[1], exist=True)
    rec.did("Connect", {"producer": 1})
    rec.did("CallPut", {"producer": 1, "id": 2}, calls=2, waiting=[2])
    rec.did("CallPut", {"producer": 0, "id": 3}, calls=3, waiting=[2, 3])
    rec.did("GetTasks", {"rank": 1}, {"id": 1, "all_read": False})
    rec.did("PutTimeout", {"producer": 0, "id": 3}, waiting=[2])
    rec.did("ClearProducer", {"producer": 0}, {"dropped": []}, epoch=1)
    rec.did("GetTasks", {"rank": 0}, {"id": 1, "all_read": True}, log=[], exist=False)
    rec.did("PutTasks", {"producer": 1, "id": 2}, waiting=[], log=[2], exist=True)
    rec.did("ClearRank", {"rank": 0}, {"dropped": []})
    rec.did("ClearRank", {"rank": 0}, {"dropped": [2]}, log=[], exist=False, epoch=2)
    rec.did("CallPut", {"producer": 1, "id": 4}, calls=4, waiting=[4])
    rec.did("Fence", {"rank": 1})
    rec.did("PutLost", {"producer": 1, "id": 4}, waiting=[])
    rec.did("Join", {"rank": 1})
    rec.did("CallPut", {"producer": 1, "id": 5}, calls=5, waiting=[5])
    rec.did("FenceProducer", {"producer": 1}, waiting=[])
    rec.did("Leave", {"rank": 0})
    rec.did("Disconnect", {"producer": 0})
    return rec.events


def _with(change: Callable[[Run], object], *, renumber: bool = True) -> Run:
    run = copy.deepcopy(_run())
    change(run)
    if renumber:
        for seq, event in enumerate(run[1:], 1):
            event["seq"] = seq
    return run


def _swap(at: int) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        run[at], run[at + 1] = run[at + 1], run[at]

    return change


def _set(at: int, part: str, key: str, value: object) -> Callable[[Run], None]:
    def change(run: Run) -> None:
        run[at][part][key] = value

    return change


# Name -> (altered run, index of the first impossible event).
ALTERED: dict[str, tuple[Run, int]] = {
    "a get is missing": (_with(lambda run: run.pop(9)), 10),
    "a get happened twice": (_with(lambda run: run.insert(10, copy.deepcopy(run[9]))), 10),
    "two events changed places": (_with(_swap(12)), 12),
    "the wrong rank": (_with(_set(12, "args", "rank", 1)), 12),
    "the wrong batch": (_with(_set(9, "result", "id", 2)), 9),
    "not the last reader": (_with(_set(12, "result", "all_read", False)), 12),
    "the wrong call timed out": (_with(_set(10, "args", "id", 2)), 10),
    "a clear dropped more": (_with(_set(14, "result", "dropped", [2])), 14),
    "exist stayed up": (_with(_set(12, "post", "exist", True)), 12),
    "the epoch did not move": (_with(_set(15, "post", "epoch", 1)), 15),
    "a call vanished": (_with(_set(8, "post", "waiting", [3])), 8),
    "a put while a rank was lost": (_with(lambda run: run[18].update(action="PutTasks")), 18),
    "a fenced rank leaves": (_with(lambda run: run[19].update(action="Leave")), 19),
    "a gap in the numbers": (_with(lambda run: run.pop(9), renumber=False), 9),
    "an unknown action": (_with(lambda run: run[9].update(action="Crash")), 9),
    "a rank that is not there": (_with(_set(9, "args", "rank", 2)), 9),
    "a producer that never came": (_with(_set(7, "args", "producer", 2)), 7),
    "a number that is text": (_with(_set(4, "post", "calls", "1")), 4),
    "another channel": (_with(lambda run: run[9].update(dp=1)), 9),
    "no Open": (_with(lambda run: run.pop(0)), 0),
    "an empty run": ([], 0),
}


@pytest.mark.tlc
def test_altered_runs_are_rejected_where_they_were_altered() -> None:
    """One start of TLC judges all of them, with true runs between them."""
    names = list(ALTERED)
    verdicts = judge([_run(), *(ALTERED[name][0] for name in names), _run()])
    assert verdicts[0].accepted
    assert verdicts[-1].accepted
    found = {name: verdict.position for name, verdict in zip(names, verdicts[1:-1], strict=True)}
    assert found == {name: at for name, (_, at) in ALTERED.items()}
    for verdict, name in zip(verdicts[1:-1], names, strict=True):
        assert not verdict.accepted
        assert verdict.reason
        run, at = ALTERED[name]
        assert verdict.event == (run[at] if run else None)


@pytest.mark.tlc
def test_runs_of_other_shapes_and_reads() -> None:
    run = _run()
    reads: Run = [
        {"v": 1, "protocol": "dispatch", "dp": 0, "action": "ExistTasks", "args": {}, "result": {"value": True}},
        {"v": 1, "protocol": "dispatch", "dp": 0, "action": "NumTasks", "args": {}, "result": {"value": 1}},
        {"v": 1, "protocol": "dispatch", "dp": 0, "action": "TaskTicket", "args": {"rank": 0}, "result": {"value": 1}},
    ]
    with_reads = [*run[:6], *reads, *run[6:]]
    false_read = [*run[:6], {**reads[2], "result": {"value": 2}}, *run[6:]]
    other = [{**run[0], "ranks": 3, "depth": 2, "dp": 4}, *({**event, "dp": 4} for event in run[1:6])]
    first, second, third = judge([with_reads, false_read, other])
    assert first.accepted
    assert (second.accepted, second.position) == (False, 6)
    assert third.accepted
    assert third.channel == "dispatch dp=4"


@pytest.mark.tlc
def test_the_command_judges_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.ndjson"
    channels = [_run(), [{**event, "dp": 1} for event in _run()]]
    file.write_text("".join(json.dumps(event) + "\n" for pair in zip(*channels, strict=True) for event in pair))
    assert main(["trace", str(file)]) == 0
    assert "dispatch dp=1: accepted, 24 events" in capsys.readouterr().out
    altered = ALTERED["the wrong rank"][0]
    file.write_text("".join(json.dumps(event) + "\n" for event in altered))
    assert main(["trace", str(file)]) == 1
    assert "REJECTED at event 12 of 24: seq 12 GetTasks(rank=1)" in capsys.readouterr().out


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    file = tmp_path / "run.ndjson"
    file.write_text(json.dumps(_run()[0]) + "\nnot json\n")
    with pytest.raises(ValueError, match="line 2 is not an event: not json"):
        read_channels(file)
