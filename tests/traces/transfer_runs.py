"""Runs of transfer tasks as a host records them: random ones of the model, real ones of handles, altered ones."""

from __future__ import annotations

import random
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from models.kernel import Action
from models.transfer import Config, State, Transfer
from models.transfer_state import QUEUED, STARTED, initial_state, numbers
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, lines_of, runs_of
from tests.traces.transfer_real import use
from tests.traces.walks import random_walk

__all__ = ("ALTERED", "EVENTS", "Event", "event_of", "lines_of", "random_run", "real_run", "shown", "whole_run")

INSIDE = {"Crash", "Admit", "Release", "Finish", "JobDone", "Stop", "Order", "Still", "Resume"}
"""What a host cannot see."""
EVENTS = set(Transfer().actions) - INSIDE
_WEIGHT: dict[str, float] = {
    "Issue": 10,
    "Join": 10,
    "Accept": 20,
    "Start": 1000,
    "ReportOk": 14,
    "ReportFailed": 6,
    "Overdue": 4,
    "Settle": 6,
    "Settled": 12,
    "HandOut": 8,
    "Refuse": 4,
    "BackOff": 4,
    "Crash": 1,
    "Leave": 1,
    "Clear": 1,
    "Abandon": 2,
    "Gone": 0.3,
}


def shown(s: State) -> dict[str, Any]:
    """Return what an event records of the state after it."""
    known = sorted(set(s.owner) - s.gone)
    return {
        "issued": len(s.state),
        "queued": numbers(s, QUEUED),
        "started": [
            [
                number,
                sorted(report.rank for report in s.reports[number - 1] if report.ok),
                sorted(report.rank for report in s.reports[number - 1] if not report.ok),
                sorted(s.without[number - 1]),
            ]
            for number in numbers(s, STARTED)
        ],
        "votes": list(s.vote),
        "results": [[client, [[number, s.state[number - 1]] for number in s.results[client - 1]]] for client in known],
        "lost": [rank for rank, status in enumerate(s.status) if status == "lost"],
        "busy": [[number, sorted(busy)] for number, busy in enumerate(s.busy, 1) if busy],
        "held": [[client, sorted(s.held[client - 1])] for client in known],
    }


def event_of(action: Action, before: State, after: State) -> tuple[str, Event, Event]:
    """Return name, args and result of the event of a step."""
    args: Event = dict(action.params)
    result: Event = {}
    if action.name == "Issue":
        result = {"number": len(after.state)}
    elif action.name in ("Withdraw", "Clear"):
        result = {"numbers": [n for n in numbers(before, QUEUED) if after.state[n - 1] != QUEUED]}
    elif action.name == "HandOut":
        result = {"number": after.hand[args["client"] - 1]}
    elif action.name == "Start":
        result = {"number": numbers(before, QUEUED)[0]}
    return action.name, args, result


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody, clients = frozenset(range(ranks)), frozenset((1, 2))
    people = {"leavers": everybody, "mortal": everybody, "silent": everybody, "failing": everybody, "slow": everybody}
    config = Config(ranks, 2, 2, None, 3, **people, frail=frozenset({2}), impatient=clients, hasty=True, inside=False)  # type: ignore[arg-type]
    walk = random_walk(rng, Transfer(config), initial_state(config), lambda name: _WEIGHT.get(name, 2))
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "transfer", "dp": 0, "ranks": ranks, "capacity": 3}]
    kinds: list[int] = []
    for step, before, after in islice(walk, length):
        action, args, result = event_of(step, before, after)
        if action == "Gone" and args["client"] not in before.owner:
            continue  # a host does not record the end of one that had issued nothing
        if action == "Issue":  # a host numbers kinds as they come
            kinds += [args["kind"]] if args["kind"] not in kinds else []
            args["kind"] = kinds.index(args["kind"]) + 1
        shared = {"v": 1, "seq": len(events), "protocol": "transfer", "dp": 0}
        events.append({**shared, "action": action, "args": args, "result": result, "post": shown(after)})
    return events


def whole_run(seed: int = 1204) -> list[Event]:
    """Return a random run that has every event. The first seed gives a short one."""
    for number in range(seed, seed + 1000):
        run = random_run(number, 2, 80)
        if {event["action"] for event in run} >= EVENTS:
            return run
    raise AssertionError("no seed gives a run with every action")


def real_run() -> list[Event]:
    """Return the run of a real host whose clients and ranks did all that they may do."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-transfer-") as folder:
        file = Path(folder) / "host.ndjson"
        use(file)
        return runs_of(file)["transfer"]


# -- one small change of a run, after which it is none ---------------------------------------------------------------


def _next(number: int) -> int:
    return number + 1


def _more(numbers_: list[Any], value: Any) -> list[Any]:
    return [*numbers_, value]


def _all_ok(rows: list[Any]) -> list[Any]:
    return [[client, [[number, "ok"] for number, _ in results]] for client, results in rows]


ALTERED = on_copies(
    {
        "a task is missing": dropped("Issue"),
        "a start is missing": dropped("Start"),
        "a rank accepted and it is not told": dropped("Accept"),
        "a report is missing": dropped("ReportOk"),
        "a rank that is ready again is not told": dropped("Return"),
        "a result was handed out and it is not told": dropped("HandOut"),
        "a failure that was counted as done": renamed("ReportFailed", "ReportOk"),
        "a task that failed and is called done": valued("Abandon", "post", "results", _all_ok),
        "an overdue report that is called an ordinary one": renamed("Overdue", "ReportFailed"),
        "a rank that settled, and is called overdue": renamed("Settle", "Overdue"),
        "a rank that settled and it is not told": dropped("Settle"),
        "a client was told of a settled task and it is not told": dropped("Settled"),
        "another task has settled": valued("Settled", "args", "number", _next),
        "a rank that is at a task and it is not told": valued("Overdue", "post", "busy", lambda rows: rows[1:]),
        "a loss that was a leave": renamed("Fence", "Leave"),
        "a rank that backed off and is called ready": renamed("BackOff", "Accept"),
        "a clear that was a withdrawal of nothing": renamed("Return", "Refuse"),
        "another task has started": valued("Start", "result", "number", _next),
        "another result was handed out": valued("HandOut", "result", "number", _next),
        "a number too far": valued("Issue", "result", "number", _next),
        "a report of another task": valued("ReportOk", "args", "number", _next),
        "a withdrawn task that is not told": valued("Withdraw", "result", "numbers", lambda found: found[1:]),
        "a task that stays queued": valued("Start", "post", "queued", partial(_more, value=10_000)),
        "a vote that was not given": valued("Start", "post", "votes", lambda votes: ["yes", *votes[1:]]),
        "a result that is posted twice": valued(
            "ReportFailed", "post", "results", lambda rows: [[rows[0][0], [*rows[0][1], [1, "failed"]]], *rows[1:]]
        ),
        "a gap in the numbers": gap("Accept"),
    }
)
