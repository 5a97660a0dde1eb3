"""Runs of gates as a host records them: random ones made by the model, real ones made by handles, altered ones."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdcomm import EngineWorkerQueue
from fdcomm.errors import CommTimeoutError, FdcommError, PeerLostError, StaleAnswerError
from models.gate import Config, Gate, State
from models.gate_state import initial_state
from models.kernel import Action
from tests.conformance.waiting import until

__all__ = ("ACTIONS", "ALTERED", "lines_of", "random_run", "real_runs")

Event = dict[str, Any]
ACTIONS = {"Join", "Leave", "Fence", "Vanish", "Reappear"}
ACTIONS |= {"PutAnswer", "RefuseLate", "Collect", "EndLost", "EndTimeout"}
_KEYS = {1: "a", 2: 7, 3: ["b", "c"]}
_WEIGHT = {"PutAnswer": 12, "Join": 8, "Collect": 8, "Crash": 1, "Leave": 1}


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody = frozenset(range(ranks))
    config = Config(ranks, len(_KEYS), 2, 2, max_issues=None, leavers=everybody, mortal=everybody, silent=everybody)
    model, state = Gate(config), initial_state(config)
    opening = {"v": 1, "action": "Open", "protocol": "send_cache", "dp": 0}
    events: list[Event] = [opening | {"ranks": ranks, "capacity": 2, "max_late": 2}]
    while len(events) <= length:
        choices: dict[str, list[tuple[Action, State]]] = {}
        for action, after in model.steps(state):
            choices.setdefault(action.name, []).append((action, after))
        names = sorted(choices)
        name = rng.choices(names, [_WEIGHT.get(name, 2) for name in names])[0]
        action, after = rng.choice(choices[name])
        if name == "Crash":
            action = Action("Fence", action.params)
            after = next(then for step, then in model.fence(after) if step == action)
        events.append(_event(len(events), action, state, after))
        state = after
    return events


def _event(seq: int, action: Action, before: State, after: State) -> Event:
    args: Event = {name: _KEYS[value] if name == "key" else value for name, value in action.params}
    gone = [r for r in before.rounds if r.key not in {kept.key for kept in after.rounds}]
    everybody = set(range(len(before.status)))
    result: Event = {}
    if action.name == "PutAnswer":
        result = {"all_put": any(r.key == action.param("key") and r.answered == everybody for r in after.rounds)}
    elif gone:
        result = {"key": _KEYS[gone[0].key]}
        if action.name != "Collect":
            result["missing"] = sorted(everybody - gone[0].answered)
    return {
        "v": 1,
        "seq": seq,
        "protocol": "send_cache",
        "dp": 0,
        "action": action.name,
        "args": args,
        "result": result,
        "post": {
            "rounds": [[_KEYS[r.key], sorted(r.answered), sorted(r.without)] for r in after.rounds],
            "late": [len(owed) for owed in after.late],
        },
    }


# -- a real host ----------------------------------------------------------------------------------------------------


def real_runs(rounds: int = 5) -> list[list[Event]]:
    """Return the runs of the gates of a real host whose ranks did all that ranks may do."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-gates-") as folder:
        file = Path(folder) / "host.ndjson"
        with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server:
            _use(server, rounds)
        events = [json.loads(line) for line in file.read_text().splitlines()]
    channels: dict[str, list[Event]] = {}
    for event in events:
        if event["protocol"] in ("connect_response", "add_cache", "send_cache"):
            channels.setdefault(event["protocol"], []).append(event)
    return list(channels.values())


def _raised(kind: type[FdcommError], call: Callable[[], object]) -> FdcommError:
    try:
        answer = call()
    except kind as error:
        return error
    raise AssertionError(f"the call that must raise {kind.__name__} returned {answer}")


def _use(server: EngineWorkerQueue, rounds: int) -> None:
    def client(rank: int) -> EngineWorkerQueue:
        return EngineWorkerQueue(("0.0.0.0", server.get_server_port()), num_client=2, client_id=rank)

    engine = EngineWorkerQueue(("0.0.0.0", server.get_server_port()), num_client=2, client_id=0, role="producer")
    ranks = [client(0), client(1)]
    try:
        for number in range(rounds):
            for rank in ranks:
                rank.put_connect_rdma_task_response({"task_id": number % 2, "success": True})
                rank.put_finished_add_cache_task_req([f"request {number}", "and another"])
                rank.put_finished_req([[f"request {number}", "finished"]])
            assert engine.get_connect_rdma_task_response() is not None
            assert engine.get_finished_add_cache_task_req() == [f"request {number}", "and another"]
            assert engine.get_finished_req() == [[f"request {number}", "finished"]]
        ranks[0].put_finished_req([["skipped", "finished"]])
        _raised(CommTimeoutError, lambda: engine.get_finished_req(round_timeout=0.0))
        _raised(StaleAnswerError, lambda: ranks[1].put_finished_req([["skipped", "finished"]]))
        ranks[0].put_finished_req([["lost", "finished"]])
        ranks[1]._release(goodbye=False)
        until(lambda: 1 in engine._view("send_cache", name="view")["lost"], "the fence of rank 1")
        _raised(PeerLostError, lambda: engine.get_finished_req(round_timeout=None))
        ranks[1] = client(1)
        for rank in ranks:
            rank.put_finished_req([["after", "finished"]])
        ranks[0].close()
        assert engine.get_finished_req() == [["after", "finished"]]
        ranks[0] = client(0)
        ranks[0].get_cache_info()
        ranks[0]._release(goodbye=False)
        until(lambda: 0 in engine._view("send_cache", name="view")["lost"], "the loss of rank 0")
    finally:
        for queue in (engine, *ranks):
            queue.close()


# -- one small change of a run, after which it is none ---------------------------------------------------------------

Change = Callable[[list[Event]], list[Event]]


def _index(events: list[Event], name: str) -> int:
    return next(index for index, event in enumerate(events) if event["action"] == name)


def _on_copy(change: Change) -> Change:
    return lambda events: change(copy.deepcopy(events))


def _dropped(name: str) -> Change:
    """The first event of that name is left out, and the numbers closed up."""

    def change(events: list[Event]) -> list[Event]:
        del events[_index(events, name)]
        for number, event in enumerate(events[1:], 1):
            event["seq"] = number
        return events

    return change


def _set(name: str, part: str, key: str, value: Callable[[Any], Any]) -> Change:
    def change(events: list[Event]) -> list[Event]:
        event = events[_index(events, name)]
        event[part][key] = value(event[part].get(key))
        return events

    return change


def _changes_rounds(events: list[Event], index: int) -> bool:
    return index > 1 and bool(events[index]["post"]["rounds"] != events[index - 1]["post"]["rounds"])


def is_whole(run: list[Event]) -> bool:
    """Return True when each change of ALTERED can show in the run: it has every action, and a fence that dooms."""
    dooms = any(event["action"] == "Fence" and _changes_rounds(run, index) for index, event in enumerate(run))
    return dooms and {event["action"] for event in run} >= ACTIONS


def _renamed(name: str, other: str) -> Change:
    """The first event of that name after which the rounds are others, if there is one, gets another name."""

    def change(events: list[Event]) -> list[Event]:
        named = [index for index, event in enumerate(events) if event["action"] == name]
        events[next((index for index in named if _changes_rounds(events, index)), named[0])]["action"] = other
        return events

    return change


def _top(key: str, value: object) -> Change:
    def change(events: list[Event]) -> list[Event]:
        events[3][key] = value
        return events

    return change


ALTERED: dict[str, Change] = {
    name: _on_copy(change)
    for name, change in {
        "an answer is missing": _dropped("PutAnswer"),
        "a claim is missing": _dropped("Join"),
        "a collect is missing": _dropped("Collect"),
        "a fence is missing": _dropped("Fence"),
        "another rank answers": _set("PutAnswer", "args", "rank", lambda rank: 1 - rank),
        "another key is answered": _set("PutAnswer", "args", "key", lambda key: "never seen"),
        "all have put": _set("PutAnswer", "result", "all_put", lambda all_put: not all_put),
        "another round is collected": _set("Collect", "result", "key", lambda key: "never seen"),
        "another rank is missing": _set("EndTimeout", "result", "missing", lambda missing: [0, 1]),
        "a round is kept": _set("Collect", "post", "rounds", lambda rounds: [*rounds, ["kept", [0], []]]),
        "a lost rank is waited for": _set("Fence", "post", "rounds", lambda rounds: [["kept", [0], []], *rounds]),
        "late is forgotten": _set("RefuseLate", "post", "late", lambda late: [count + 1 for count in late]),
        "a late answer is put": _renamed("RefuseLate", "PutAnswer"),
        "a crash is no end": _renamed("Fence", "Leave"),
        "a timeout is a loss": _renamed("EndTimeout", "EndLost"),
        "a number twice": _top("seq", 2),
        "another action": _top("action", "GetTasks"),
        "nothing after it": _top("post", {}),
        "other arguments": _top("args", {"rank": 0, "producer": 1}),
    }.items()
}
