"""Runs of components as a host records them: random ones of the model, real ones of processes, altered ones."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.errors import CommTimeoutError, StaleReportError
from fdcomm.status import StatusCoordinator
from fdcomm.status_part import StatusPart
from models.kernel import Action
from models.status import Config, State, Status
from models.status_state import initial_state
from tests.conformance.waiting import Background, until

__all__ = ("ALTERED", "EVENTS", "lines_of", "random_run", "real_runs", "whole_run")

Event = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
DECLARED = [["model_weights", 0, 2], ["kv_cache", 0, 2], ["prefix_tree", 1, 1]]
NAMES = [str(name) for name, _, _ in DECLARED]
CONFIG = Config(
    components=3,
    per_stage=2,
    parts=2,
    without=frozenset({5}),
    max_asked=None,
    mortal=frozenset({0, 1}),
)
_WEIGHT = {"Join": 20, "Take": 20, "Report": 12, "Settle": 60, "NextStage": 60, "Finish": 60, "Fail": 60, "Ask": 10}
_EVERY = {"Join", "Fence", "Ask", "Take", "Report", "Settle", "NextStage", "Finish", "Fail", "Expire"}
EVENTS = {"Declare", *_EVERY}


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


def random_run(seed: int, length: int) -> list[Event]:
    """Return the events of a run of the model, each crash hidden before its fence."""
    rng = random.Random(seed)
    model, state = Status(CONFIG), initial_state(CONFIG)
    opening = {"v": 1, "action": "Open", "protocol": "status", "dp": 0, "ranks": 2}
    events: list[Event] = [opening, _event(1, "Declare", {"components": DECLARED}, {}, state)]
    while len(events) < length:
        choices: dict[str, list[tuple[Action, State]]] = {}
        for action, after in model.steps(state):
            choices.setdefault(action.name, []).append((action, after))
        names = sorted(choices)
        name = rng.choices(names, [_WEIGHT.get(name, 2) for name in names])[0]
        action, after = rng.choice(choices[name])
        if name == "Report" and rng.random() < 0.7:
            good = Action("Report", (*action.params[:2], ("ok", 1)))
            action, after = next(step for step in choices[name] if step[0] == good)
        if name == "Crash":
            action = Action("Fence", action.params)
            after = next(then for step, then in model.fence(after) if step == action)
        args: dict[str, Any] = dict(action.params)
        if "component" in args:
            args["component"] = NAMES[args["component"]]
        events.append(_event(len(events), action.name, args, _result(action.name, state, after), after))
        state = after
    return events


def _result(name: str, before: State, after: State) -> dict[str, Any]:
    if name == "Ask":
        return {"number": after.asked, "outcome": after.outcome[-1]}
    if name == "Take":
        return {"number": after.asked}
    return {"counts": before.reports != after.reports} if name == "Report" else {}


def _event(seq: int, name: str, args: dict[str, Any], result: dict[str, Any], after: State) -> Event:
    return {
        "v": 1,
        "seq": seq,
        "protocol": "status",
        "dp": 0,
        "action": name,
        "args": args,
        "result": result,
        "post": {
            "asked": after.asked,
            "outcome": after.outcome[-1] if after.outcome else "",
            "word": list(after.word),
            "partial": list(after.partial),
            "changing": [NAMES[k] for k in sorted(after.changing)],
            "reports": [sorted([r.part, r.ok] for r in reports) for reports in after.reports],
            "lost": [[p for p, status in enumerate(row) if status == "lost"] for row in after.status],
        },
    }


def whole_run(seed: int = 0) -> list[Event]:
    """Return a run that has every action, and a report that comes too late, so that each can be altered."""
    for number in range(seed, seed + 2000):
        run = random_run(number, 70)
        late = any(event["action"] == "Report" and not event["result"]["counts"] for event in run)
        done = any(event["action"] == "Ask" and event["result"]["outcome"] == "open" for event in run)
        if late and done and {event["action"] for event in run} >= _EVERY:
            return run
    raise AssertionError("no seed gives a run with every action")


# -- real ones: every part is a process ------------------------------------------------------------------------------


def real_runs() -> list[list[Event]]:
    """Return the run of a real host whose parts are processes: changes, a failure, a kill, a return, a time limit."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-status-") as folder:
        file = Path(folder) / "host.ndjson"
        with (
            EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server,
            ExitStack() as stack,
        ):
            _use(server, stack)
        events = [json.loads(line) for line in file.read_text().splitlines()]
    return [[event for event in events if event["protocol"] == "status"]]


def _use(server: EngineWorkerQueue, stack: ExitStack) -> None:
    coordinator = StatusCoordinator(server)
    coordinator.declare()

    def lost(part: int) -> bool:
        return part in coordinator.statistics()["components"]["kv_cache"]["lost"]

    for rank in range(2):
        stack.enter_context(_process(server, "model_weights", rank))
    stack.enter_context(_process(server, "prefix_tree", 0))
    stack.enter_context(_process(server, "kv_cache", 0))
    with _process(server, "kv_cache", 1) as child:
        until(lambda: all(len(c["live"]) for c in coordinator.statistics()["components"].values()), "the parts")
        assert coordinator.clear(timeout=60).ok
        assert coordinator.clear(timeout=60).reports == ()  # nothing to do
        assert coordinator.update(timeout=60).ok
        child.kill()
        until(lambda: lost(1), "the fence")
    failed = coordinator.clear(timeout=60)
    assert [(report.component, report.part) for report in failed.failed] == [("kv_cache", 1)]
    queue = stack.enter_context(EngineWorkerQueue(server.address, num_client=2, client_id=1))
    part = StatusPart(queue, "kv_cache")
    assert part.take() is None
    late = Background(lambda: coordinator.clear(timeout=1.0))
    order = part.take(timeout=60)
    assert order is not None
    assert isinstance(late.error(), CommTimeoutError)
    _late_report(order.done)
    waiting = Background(lambda: coordinator.clear(timeout=60))
    order = part.take(timeout=60)
    assert order is not None
    order.fail("on purpose")
    assert not waiting.value().ok
    for goal in ("clear", "update"):
        call = coordinator.clear if goal == "clear" else coordinator.update
        waiting = Background(lambda call=call: call(timeout=60))  # type: ignore[misc]
        order = part.take(timeout=60)
        assert order is not None
        assert order.goal == goal
        order.done()
        assert waiting.value().ok


def _late_report(report: Callable[[], None]) -> None:
    try:
        report()
    except StaleReportError:
        return
    raise AssertionError("a late report was taken")


@contextmanager
def _process(server: EngineWorkerQueue, component: str, part: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.traces.status_part", str(server.get_server_port()), component, str(part)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "joined\n"
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()


# -- one small change of a run, after which it is none ---------------------------------------------------------------


def _index(events: list[Event], name: str, fits: Callable[[Event], bool] = lambda event: True) -> int:
    return next(index for index, event in enumerate(events) if event["action"] == name and fits(event))


def _dropped(name: str) -> Callable[[list[Event]], list[Event]]:
    """The last event of that name is left out, with the numbers closed up, unless nothing comes after it."""

    def change(events: list[Event]) -> list[Event]:
        del events[_index(events, name)]
        for number, event in enumerate(events[1:], 1):
            event["seq"] = number
        return events

    return change


def _renamed(name: str, other: str) -> Callable[[list[Event]], list[Event]]:
    def change(events: list[Event]) -> list[Event]:
        events[_index(events, name)]["action"] = other
        return events

    return change


def _posted(name: str, key: str, value: Callable[[Any], Any]) -> Callable[[list[Event]], list[Event]]:
    def change(events: list[Event]) -> list[Event]:
        post = events[_index(events, name)]["post"]
        post[key] = value(post[key])
        return events

    return change


def _late_counts(events: list[Event]) -> list[Event]:
    events[_index(events, "Report", lambda event: not event["result"]["counts"])]["result"]["counts"] = True
    return events


def _other_number(events: list[Event]) -> list[Event]:
    events[_index(events, "Take")]["result"]["number"] += 1
    return events


def _other_component(events: list[Event]) -> list[Event]:
    args = events[_index(events, "Settle")]["args"]
    args["component"] = NAMES[1 - NAMES.index(args["component"])] if args["component"] != NAMES[2] else NAMES[0]
    return events


def _gap(events: list[Event]) -> list[Event]:
    del events[_index(events, "Take")]
    return events


def _undeclared(events: list[Event]) -> list[Event]:
    events[_index(events, "Take")]["args"]["component"] = "something else"
    return events


def _copied(change: Callable[[list[Event]], list[Event]]) -> Callable[[list[Event]], list[Event]]:
    return lambda events: change(copy.deepcopy(events))


ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    name: _copied(change)
    for name, change in {
        "a join is missing": _dropped("Join"),
        "a take is missing": _dropped("Take"),
        "a request is missing": _dropped("Ask"),
        "a settlement is missing": _dropped("Settle"),
        "an end is missing": _dropped("Expire"),
        "a failure that was a success": _renamed("Fail", "Finish"),
        "a success that was a time limit": _renamed("Finish", "Fail"),
        "a stage that nobody begins": _renamed("NextStage", "Finish"),
        "a late report that counts": _late_counts,
        "an order of another request": _other_number,
        "another component is settled": _other_component,
        "a component that there is not": _undeclared,
        "a word that is wrong": _posted(
            "Settle", "word", lambda words: [0, *words[1:]] if words[0] else [1, *words[1:]]
        ),
        "a part that is not known to be partial": _posted("Ask", "partial", lambda rows: [not row for row in rows]),
        "a failure that was done": _posted("Fail", "outcome", lambda outcome: "done"),
        "a loss that is not seen": _posted("Fence", "lost", lambda rows: [[] for _ in rows]),
        "a gap in the numbers": _gap,
    }.items()
}
