"""Runs of components as a host records them: random ones of the model, real ones of processes, altered ones."""

from __future__ import annotations

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
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, index_of, lines_of, runs_of
from tests.traces.walks import draw, fenced

__all__ = ("ALTERED", "EVENTS", "lines_of", "random_run", "real_runs", "whole_run")

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


def random_run(seed: int, length: int) -> list[Event]:
    """Return the events of a run of the model, each crash hidden before its fence."""
    rng = random.Random(seed)
    model, state = Status(CONFIG), initial_state(CONFIG)
    opening = {"v": 1, "action": "Open", "protocol": "status", "dp": 0, "ranks": 2}
    events: list[Event] = [opening, _event(1, "Declare", {"components": DECLARED}, {}, state)]
    while len(events) < length:
        steps = draw(rng, model, state, lambda name: _WEIGHT.get(name, 2))
        action, after = rng.choice(steps)
        if action.name == "Report" and rng.random() < 0.7:
            good = Action("Report", (*action.params[:2], ("ok", 1)))
            action, after = next(step for step in steps if step[0] == good)
        action, after = fenced(model, action, after)
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
        return [runs_of(file)["status"]]


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


def _late_counts(events: list[Event]) -> list[Event]:
    events[index_of(events, "Report", lambda event: not event["result"]["counts"])]["result"]["counts"] = True
    return events


def _other_component(events: list[Event]) -> list[Event]:
    args = events[index_of(events, "Settle")]["args"]
    args["component"] = NAMES[1 - NAMES.index(args["component"])] if args["component"] != NAMES[2] else NAMES[0]
    return events


ALTERED = on_copies(
    {
        "a join is missing": dropped("Join"),
        "a take is missing": dropped("Take"),
        "a request is missing": dropped("Ask"),
        "a settlement is missing": dropped("Settle"),
        "an end is missing": dropped("Expire"),
        "a failure that was a success": renamed("Fail", "Finish"),
        "a success that was a time limit": renamed("Finish", "Fail"),
        "a stage that nobody begins": renamed("NextStage", "Finish"),
        "a late report that counts": _late_counts,
        "an order of another request": valued("Take", "result", "number", lambda number: number + 1),
        "another component is settled": _other_component,
        "a component that there is not": valued("Take", "args", "component", lambda name: "something else"),
        "a word that is wrong": valued(
            "Settle", "post", "word", lambda words: [0, *words[1:]] if words[0] else [1, *words[1:]]
        ),
        "a part that is not known to be partial": valued(
            "Ask", "post", "partial", lambda rows: [not row for row in rows]
        ),
        "a failure that was done": valued("Fail", "post", "outcome", lambda outcome: "done"),
        "a loss that is not seen": valued("Fence", "post", "lost", lambda rows: [[] for _ in rows]),
        "a gap in the numbers": gap("Take"),
    }
)
