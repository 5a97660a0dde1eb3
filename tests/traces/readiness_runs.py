"""Runs of readiness as a host records them: random ones of the model, a real one of processes, altered ones."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from fdcomm import EngineWorkerQueue, FdcommError, PeerLostError, Readiness, StartFailedError
from models.kernel import Action
from models.readiness import Readiness as Model
from models.readiness import State
from models.readiness_state import DEAD, LIVE, initial_state
from models.readiness_trace import shape_of
from tests.conformance.waiting import Background, until
from tests.races.nursery import Born, born
from tests.races.pipes import read_line
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, index_of, lines_of, runs_of
from tests.traces.walks import draw, fenced

__all__ = ("ALTERED", "EVENTS", "lines_of", "random_run", "real_run", "whole_run")

DECLARED: list[tuple[str, int, tuple[str, ...]]] = [("cache", 2, ()), ("worker", 1, ("cache",))]
SHAPE = shape_of(DECLARED)
_LIMIT_S = 60.0
_EVERY = {"Join", "Fence", "Leave", "Ready", "Fail", "Withdraw", "Stall", "Recover", "Wait"}
_EVERY |= {"Complete", "GiveUp", "Expire"}
EVENTS = {"Declare", *_EVERY}
_WEIGHT = {"Join": 15, "Ready": 15, "Complete": 40, "GiveUp": 10, "Beat": 8, "Leave": 1, "Crash": 1, "Expire": 1}
# What is hidden -> what shows it.
_SHOWN = {"Age": "Stall", "Beat": "Recover"}


def random_run(seed: int, length: int) -> list[Event]:
    """Return the events of a run of the model, what is hidden directly before what shows it."""
    rng = random.Random(seed)
    model, state = Model(SHAPE.config), initial_state(SHAPE.config)
    opening = {"v": 1, "action": "Open", "protocol": "readiness", "dp": 0, "ranks": 2}
    declared = [[name, parts, [*needs]] for name, parts, needs in DECLARED]
    events: list[Event] = [opening, _event(1, "Declare", {"components": declared}, {}, state)]
    while len(events) < length:
        action, after = rng.choice(draw(rng, model, state, lambda name: _WEIGHT.get(name, 3)))
        if action.name == "Wait" and len(state.waits) > 6:
            continue
        action, after = fenced(model, action, after)
        if action.name in _SHOWN:
            shown = Action(_SHOWN[action.name], action.params)
            after = next(then for step, then in model.actions[shown.name](after) if step == shown)
            action = shown
        events.append(_event(len(events), action.name, _args(action), _result(action, after), after))
        state = after
    return events


def _party(part: int) -> list[Any]:
    return [DECLARED[part // 2][0], part % 2]


def _args(action: Action) -> dict[str, Any]:
    params = dict(action.params)
    if "p" in params:
        component, rank = _party(params["p"])
        return {"component": component, "rank": rank}
    if "w" in params:
        return {"number": params["w"]}
    names = [name for k, (name, _, _) in enumerate(DECLARED) if params["mask"] >> k & 1]
    by = _party(params["by"] - 1) if params["by"] else []
    return {"by": by, "components": names, "patient": params["patient"]}


def _result(action: Action, after: State) -> dict[str, Any]:
    if action.name == "Join":
        return {"inc": after.inc[action.params[0][1]]}
    return {"number": len(after.waits)} if action.name == "Wait" else {}


def _event(seq: int, name: str, args: dict[str, Any], result: dict[str, Any], after: State) -> Event:
    def rows(values: tuple[Any, ...]) -> list[list[Any]]:
        return [list(values[:2]), list(values[2:3])]

    return {
        "v": 1,
        "seq": seq,
        "protocol": "readiness",
        "dp": 0,
        "action": name,
        "args": args,
        "result": result,
        "post": {
            "status": rows(tuple(LIVE if status == DEAD else status for status in after.status)),
            "inc": rows(after.inc),
            "said": rows(after.said),
            "stuck": rows(after.stuck),
            "open": [w for w, wait in enumerate(after.waits, 1) if wait.outcome == "open"],
        },
    }


def whole_run(seed: int = 0) -> list[Event]:
    """Return a run that has every action, a wait by a part, and a second process, so that each can be altered."""
    for number in range(seed, seed + 3000):
        run = random_run(number, 60)
        second = any(event["action"] == "Join" and event["result"]["inc"] > 1 for event in run)
        by = any(event["action"] == "Wait" and event["args"]["by"] for event in run)
        if second and by and {event["action"] for event in run} >= _EVERY:
            return run
    raise AssertionError("no seed gives a run with every action")


# -- a real one: parts are processes ---------------------------------------------------------------------------------


def real_run() -> list[Event]:
    """Return the run of a real host whose parts are processes: a launch, a stop, a kill, a restart, a failure."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-readiness-") as folder:
        file = Path(folder) / "host.ndjson"
        with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server:
            _use(server)
        return runs_of(file)["readiness"]


def _child(server: EngineWorkerQueue, rank: int) -> Born:
    child = born("tests.races.readiness_child", str(server.get_server_port()), "cache", str(rank), "0.5")
    assert read_line(child) == "ready"
    return child


def _use(server: EngineWorkerQueue) -> None:
    engine = Readiness(server)
    engine.declare([(name, parts, list(needs)) for name, parts, needs in DECLARED])
    launching = Background(lambda: engine.wait(("cache", "worker"), timeout=_LIMIT_S))
    children = [_child(server, rank) for rank in range(2)]
    try:
        with EngineWorkerQueue(server.address, num_client=2, client_id=0) as queue:
            worker = Readiness(queue, limit=None)
            worker.starting("worker", stage="waits for the cache")
            worker.wait("cache", timeout=_LIMIT_S)
            worker.ready()
            assert launching.error() is None
            os.kill(children[0].pid, signal.SIGSTOP)
            until(lambda: engine.health()[0].health == "stuck", "the stall")
            os.kill(children[0].pid, signal.SIGCONT)
            engine.wait("cache", timeout=_LIMIT_S)
            waiting = Background(lambda: engine.wait("cache", timeout=_LIMIT_S))
            assert waiting.error() is None
            children[1].kill()
            until(lambda: engine.health()[1].health == "lost", "the fence")
            _fails_with(PeerLostError, engine, "cache")
            children[1].wait()
            children.append(_child(server, 1))
            engine.wait("cache", timeout=_LIMIT_S)
            worker.failed("on purpose")
            _fails_with(StartFailedError, engine, "worker")
            worker.withdraw("tries again")
            _fails_with(TimeoutError, engine, "worker")
            worker.leave()
    finally:
        for child in children:
            child.kill()
            child.wait()
            child.stdin.close()
            child.stdout.close()


def _fails_with(kind: type[Exception], engine: Readiness, component: str) -> None:
    found: FdcommError | None = None
    try:
        engine.check(component)
    except FdcommError as error:
        found = error
    assert isinstance(found, kind), f"a check of {component} ends with {found!r}"


# -- one small change of a run, after which it is none ---------------------------------------------------------------


def _other_part(events: list[Event]) -> list[Event]:
    args = events[index_of(events, "Ready", lambda event: event["args"]["component"] == "cache")]["args"]
    args["rank"] = 1 - args["rank"]
    return events


def _against_the_order(events: list[Event]) -> list[Event]:
    event = events[index_of(events, "Wait", lambda event: event["args"]["by"] != [])]
    event["args"]["components"] = ["worker"]
    return events


ALTERED = on_copies(
    {
        "a join is missing": dropped("Join"),
        "a ready is missing": dropped("Ready"),
        "a wait is missing": dropped("Wait"),
        "a stall is missing": dropped("Stall"),
        "an end is missing": dropped("Complete"),
        "a loss that was a departure": renamed("Fence", "Leave"),
        "a failure that was a success": renamed("GiveUp", "Complete"),
        "a success that was a failure": renamed("Complete", "GiveUp"),
        "a recovery that was a stall": renamed("Recover", "Stall"),
        "another part is ready": _other_part,
        "a wait against the launch order": _against_the_order,
        "a part that there is not": valued("Ready", "args", "rank", lambda rank: 7),
        "a component that there is not": valued("Join", "args", "component", lambda name: "something else"),
        "another incarnation": valued("Join", "result", "inc", lambda inc: inc + 1),
        "a wait of another number": valued("Wait", "result", "number", lambda number: number + 1),
        "a stuck part that is not": valued("Stall", "post", "stuck", lambda rows: [[False] * len(row) for row in rows]),
        "a part that stays ready": valued("Fence", "post", "said", lambda rows: [["ready"] * len(row) for row in rows]),
        "a wait that stays open": valued("Expire", "post", "open", lambda numbers: [*numbers, 1]),
        "a gap in the numbers": gap("Ready"),
    }
)
