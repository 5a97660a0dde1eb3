"""The judge accepts what the protocol allows, and names the first event that it does not."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.__main__ import main
from models.acceptance import Verdict
from models.dispatch_trace import accept
from tests.explore.runs import random_run, unbounded

Event = dict[str, Any]


def judge(events: list[Event]) -> Verdict:
    (verdict,) = accept(json.dumps(event) for event in events)
    return verdict


def renumbered(events: list[Event]) -> list[Event]:
    """The events with fresh numbers, so that only the protocol can object."""
    return [events[0], *({**event, "seq": number} for number, event in enumerate(events[1:], 1))]


def small_run() -> list[Event]:
    """Two ranks, one producer: two batches, the second one cleared after rank 0 has taken it."""
    log: list[Event] = [{"v": 1, "action": "Open", "protocol": "dispatch", "dp": 0, "ranks": 2, "depth": 1}]

    def add(action: str, args: Event, result: Event | None = None, **post: Any) -> None:
        full = {"calls": 0, "epoch": 0, "exist": False, "log": [], "waiting": [], **post}
        event = {"v": 1, "seq": len(log), "protocol": "dispatch", "dp": 0, "action": action, "args": args}
        log.append({**event, "result": result or {}, "post": full, "t_ns": 5})

    add("Connect", {"producer": 0})
    add("Connect", {"producer": 1})
    add("Join", {"rank": 0})
    add("Join", {"rank": 1})
    add("CallPut", {"producer": 0, "id": 1}, calls=1, waiting=[1])
    add("PutTasks", {"producer": 0, "id": 1}, calls=1, exist=True, log=[1])
    add("CallPut", {"producer": 0, "id": 2}, calls=2, exist=True, log=[1], waiting=[2])
    add("GetTasks", {"rank": 1}, {"id": 1, "all_read": False}, calls=2, exist=True, log=[1], waiting=[2])
    add("GetTasks", {"rank": 0}, {"id": 1, "all_read": True}, calls=2, waiting=[2])
    add("PutTasks", {"producer": 0, "id": 2}, calls=2, exist=True, log=[2])
    add("ClearRank", {"rank": 0}, {"dropped": [2]}, calls=2, epoch=1)
    add("ClearRank", {"rank": 1}, {"dropped": []}, calls=2, epoch=1)
    add("Fence", {"rank": 1}, calls=2, epoch=1)
    add("FenceProducer", {"producer": 1}, calls=2, epoch=1)
    add("CallPut", {"producer": 0, "id": 3}, calls=3, epoch=1, waiting=[3])
    add("PutLost", {"producer": 0, "id": 3}, calls=3, epoch=1)
    add("Disconnect", {"producer": 0}, calls=3, epoch=1)
    return log


def test_a_good_run_is_accepted() -> None:
    verdict = judge(small_run())
    assert verdict.accepted, str(verdict)
    assert verdict.events == 17
    assert verdict.counts["GetTasks"] == 2


def test_every_prefix_of_a_good_run_is_accepted() -> None:
    run = small_run()
    assert all(judge(run[:length]).accepted for length in range(1, len(run) + 1))


def test_random_runs_are_accepted(seed: int) -> None:
    rng = random.Random(seed)
    for ranks, producers, depth in ((1, 1, 1), (2, 2, 1), (3, 2, 2), (4, 3, 3)):
        verdict = judge(random_run(rng, unbounded(ranks, producers, depth), 300))
        assert verdict.accepted, str(verdict)
        assert len(verdict.counts) >= 9, verdict.counts


def _drop(events: list[Event], at: int) -> None:
    del events[at]


def _double(events: list[Event], at: int) -> None:
    events.insert(at, copy.deepcopy(events[at]))


def _other_rank(events: list[Event], at: int) -> None:
    events[at]["args"]["rank"] = 1 - events[at]["args"]["rank"]


def _swap(events: list[Event], at: int) -> None:
    events[at], events[at + 1] = events[at + 1], events[at]


def _value(where: str, key: str, value: object) -> Callable[[list[Event], int], None]:
    def change(events: list[Event], at: int) -> None:
        events[at][where][key] = value

    return change


@pytest.mark.parametrize(
    ("at", "change", "event", "reason"),
    [
        pytest.param(4, _drop, "seq 7 GetTasks(rank=1)", "not enabled", id="a rank reads that never joined"),
        pytest.param(6, _drop, "seq 6 CallPut", "log = [1]", id="a put is missing"),
        pytest.param(8, _double, "seq 9 GetTasks(rank=1)", "not enabled", id="a rank takes a batch twice"),
        pytest.param(8, _other_rank, "seq 9 GetTasks(rank=0)", "not enabled", id="wrong rank"),
        pytest.param(5, _swap, "seq 5 PutTasks", "not enabled", id="put before its call"),
        pytest.param(9, _value("result", "id", 2), "seq 9 GetTasks", "the model says", id="wrong batch"),
        pytest.param(9, _value("result", "all_read", False), "seq 9", "all_read", id="wrong all_read"),
        pytest.param(9, _value("post", "exist", True), "seq 9", "exist = True", id="exist stays up"),
        pytest.param(11, _value("result", "dropped", []), "seq 11", "dropped", id="a clear hides what it dropped"),
        pytest.param(12, _value("post", "epoch", 2), "seq 12", "epoch = 2", id="the second clear is effective"),
        pytest.param(13, _drop, "seq 15 PutLost", "not enabled", id="lost without a fence"),
        pytest.param(1, _drop, "seq 4 CallPut", "not enabled", id="a producer that never connected"),
    ],
)
def test_an_altered_run_is_rejected(
    at: int, change: Callable[[list[Event], int], None], event: str, reason: str
) -> None:
    run = small_run()
    change(run, at)
    verdict = judge(renumbered(run))
    assert not verdict.accepted
    assert verdict.event.startswith(event), verdict.event
    assert reason in verdict.reason
    assert verdict.possible


@pytest.mark.parametrize("change", [_drop, _double, _swap])
def test_numbers_out_of_order_are_rejected(change: Callable[[list[Event], int], None]) -> None:
    run = small_run()
    change(run, 5)
    verdict = judge(run)
    assert not verdict.accepted
    assert "seq" in verdict.reason


def test_a_crash_is_silent_only_before_its_fence() -> None:
    run = small_run()[:5]
    run.append({**run[4], "seq": 5, "action": "Crash", "args": {"rank": 1}})
    assert "not an action that a host can see" in judge(run).reason
    fenced = [*small_run()[:5], {**run[4], "seq": 5, "action": "Fence", "args": {"rank": 1}}]
    assert judge(fenced).accepted
    again = [*fenced, {**fenced[5], "seq": 6}]
    assert "not enabled" in judge(again).reason


@pytest.mark.parametrize(
    ("action", "args", "value"), [("ExistTasks", {}, True), ("NumTasks", {}, 1), ("TaskTicket", {"rank": 0}, 1)]
)
def test_reads_are_judged_and_change_nothing(action: str, args: Event, value: object) -> None:
    run = small_run()
    read = {"v": 1, "protocol": "dispatch", "dp": 0, "action": action, "args": args, "result": {"value": value}}
    assert judge([*run[:7], read, *run[7:]]).accepted
    wrong = judge([*run[:6], read, *run[6:]])
    assert not wrong.accepted
    assert "the model says" in wrong.reason


def test_channels_are_judged_apart() -> None:
    first = small_run()
    second = [{**event, "dp": 1} for event in small_run()]
    lines = [json.dumps(event) for pair in zip(first, second, strict=True) for event in pair]
    verdicts = accept(lines)
    assert [(verdict.channel, verdict.accepted) for verdict in verdicts] == [
        ("dispatch dp=0", True),
        ("dispatch dp=1", True),
    ]
    second[9]["result"]["id"] = 7
    lines = [json.dumps(event) for pair in zip(first, second, strict=True) for event in pair]
    assert [verdict.accepted for verdict in accept(lines)] == [True, False]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([], "empty"),
        (["{"], "not JSON"),
        (["[]"], "format 1"),
        (['{"v": 2}'], "format 1"),
        (['{"v": 1, "protocol": "unheard-of", "dp": 0, "action": "Open"}'], "not dispatch"),
        (['{"v": 1, "protocol": "dispatch", "dp": 0, "action": "Open"}'], "ranks and depth"),
        (['{"v": 1, "protocol": "dispatch", "dp": 0, "action": "Join", "seq": 1}'], "first event"),
    ],
)
def test_what_is_no_trace_is_rejected(lines: list[str], reason: str) -> None:
    (verdict,) = accept(lines)
    assert not verdict.accepted
    assert reason in verdict.reason


def test_the_command_judges_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.ndjson", tmp_path / "bad.ndjson"
    run = small_run()
    good.write_text("".join(json.dumps(event) + "\n" for event in run))
    run[8]["args"]["rank"] = 0
    bad.write_text("".join(json.dumps(event) + "\n" for event in run))
    assert main(["accept", "dispatch", str(good)]) == 0
    assert "ACCEPTED, 17 events" in capsys.readouterr().out
    assert main(["accept", "dispatch", str(good), str(bad)]) == 1
    out = capsys.readouterr().out
    assert "REJECTED at event 9: seq 9 GetTasks(rank=0)" in out
