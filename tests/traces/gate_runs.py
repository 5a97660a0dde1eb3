"""Runs of gates as a host records them: random ones made by the model, real ones made by handles, altered ones."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from fdcomm import EngineWorkerQueue
from fdcomm.errors import CommTimeoutError, FdcommError, PeerLostError, StaleAnswerError
from models.gate import Config, Gate, State
from models.gate_state import initial_state
from models.kernel import Action
from tests.conformance.waiting import until
from tests.traces.alterations import Change, dropped, on_copies, top, valued
from tests.traces.events import Event, lines_of, runs_of
from tests.traces.walks import random_walk

__all__ = ("ACTIONS", "ALTERED", "lines_of", "random_run", "real_runs")

ACTIONS = {"Join", "Leave", "Fence", "Vanish", "Reappear"}
ACTIONS |= {"PutAnswer", "RefuseLate", "Collect", "EndLost", "EndTimeout"}
_KEYS = {1: "a", 2: 7, 3: ["b", "c"]}
_WEIGHT = {"PutAnswer": 12, "Join": 8, "Collect": 8, "Crash": 1, "Leave": 1}


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody = frozenset(range(ranks))
    config = Config(ranks, len(_KEYS), 2, 2, max_issues=None, leavers=everybody, mortal=everybody, silent=everybody)
    walk = random_walk(rng, Gate(config), initial_state(config), lambda name: _WEIGHT.get(name, 2))
    opening = {"v": 1, "action": "Open", "protocol": "send_cache", "dp": 0}
    events: list[Event] = [opening | {"ranks": ranks, "capacity": 2, "max_late": 2}]
    for seq, (action, before, after) in enumerate(islice(walk, length), 1):
        events.append(_event(seq, action, before, after))
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
        runs = runs_of(file)
    return [run for protocol, run in runs.items() if protocol in ("connect_response", "add_cache", "send_cache")]


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


def _changes_rounds(events: list[Event], index: int) -> bool:
    return index > 1 and bool(events[index]["post"]["rounds"] != events[index - 1]["post"]["rounds"])


def is_whole(run: list[Event]) -> bool:
    """Return True when each change of ALTERED can show in the run: it has every action, and a fence that dooms."""
    dooms = any(event["action"] == "Fence" and _changes_rounds(run, index) for index, event in enumerate(run))
    return dooms and {event["action"] for event in run} >= ACTIONS


def _renamed_to_show(name: str, other: str) -> Change:
    """The first event of that name after which the rounds are others, if there is one, gets another name."""

    def change(events: list[Event]) -> list[Event]:
        named = [index for index, event in enumerate(events) if event["action"] == name]
        events[next((index for index in named if _changes_rounds(events, index)), named[0])]["action"] = other
        return events

    return change


ALTERED = on_copies(
    {
        "an answer is missing": dropped("PutAnswer"),
        "a claim is missing": dropped("Join"),
        "a collect is missing": dropped("Collect"),
        "a fence is missing": dropped("Fence"),
        "another rank answers": valued("PutAnswer", "args", "rank", lambda rank: 1 - rank),
        "another key is answered": valued("PutAnswer", "args", "key", lambda key: "never seen"),
        "all have put": valued("PutAnswer", "result", "all_put", lambda all_put: not all_put),
        "another round is collected": valued("Collect", "result", "key", lambda key: "never seen"),
        "another rank is missing": valued("EndTimeout", "result", "missing", lambda missing: [0, 1]),
        "a round is kept": valued("Collect", "post", "rounds", lambda rounds: [*rounds, ["kept", [0], []]]),
        "a lost rank is waited for": valued("Fence", "post", "rounds", lambda rounds: [["kept", [0], []], *rounds]),
        "late is forgotten": valued("RefuseLate", "post", "late", lambda late: [count + 1 for count in late]),
        "a late answer is put": _renamed_to_show("RefuseLate", "PutAnswer"),
        "a crash is no end": _renamed_to_show("Fence", "Leave"),
        "a timeout is a loss": _renamed_to_show("EndTimeout", "EndLost"),
        "a number twice": top(3, "seq", 2),
        "another action": top(3, "action", "GetTasks"),
        "nothing after it": top(3, "post", {}),
        "other arguments": top(3, "args", {"rank": 0, "producer": 1}),
    }
)
