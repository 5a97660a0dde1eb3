"""Runs of control requests as a host records them: random ones of the model, real ones of handles, altered ones."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from fdcomm import CommTimeoutError, EngineWorkerQueue, PeerLostError
from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import RequestCancelledError, StaleAnswerError
from models.control import Config, Control, State
from models.control_state import initial_state
from models.kernel import Action
from tests.conformance.waiting import Background, until
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, lines_of, runs_of
from tests.traces.walks import random_walk

__all__ = ("ALTERED", "EVENTS", "Event", "event_of", "lines_of", "random_run", "real_run", "shown", "whole_run")

LONG_S = 60.0
EVENTS = set(Control().actions) - {"Crash"}
_WEIGHT = {"Join": 8, "Take": 14, "Answer": 20, "Ask": 8, "RefuseLate": 8, "Collect": 10, "EndLost": 6, "Crash": 1}


def shown(s: State) -> dict[str, Any]:
    """Return what an event records of the state after it."""
    requests = zip(s.state, s.answers, s.without, strict=True)
    return {
        "asked": s.asked,
        "open": [
            [number, sorted(given.rank for given in answers), sorted(without)]
            for number, (state, answers, without) in enumerate(requests, 1)
            if state == "open"
        ],
        "served": list(s.served),
        "doing": list(s.doing),
        "lost": [rank for rank, status in enumerate(s.status) if status == "lost"],
    }


def event_of(action: Action, before: State, after: State) -> tuple[str, Event, Event]:
    """Return name, args and result of the event of a step. The client is not in the model: 0."""
    args: Event = dict(action.params)
    result: Event = {}
    if action.name == "Ask":
        args, result = {"client": 0}, {"number": after.asked}
    elif action.name == "Take":
        result = {"number": after.doing[args["rank"]]}
    elif action.name in ("Answer", "RefuseLate"):
        args["number"] = before.doing[args["rank"]]
    return action.name, args, result


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody = frozenset(range(ranks))
    config = Config(ranks, None, 3, leavers=everybody, mortal=everybody, silent=everybody)
    walk = random_walk(rng, Control(config), initial_state(config), lambda name: _WEIGHT.get(name, 2))
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "control", "dp": 0, "ranks": ranks, "capacity": 3}]
    for seq, (step, before, after) in enumerate(islice(walk, length), 1):
        action, args, result = event_of(step, before, after)
        shared = {"v": 1, "seq": seq, "protocol": "control", "dp": 0}
        events.append({**shared, "action": action, "args": args, "result": result, "post": shown(after)})
    return events


def whole_run(seed: int = 0) -> list[Event]:
    """Return a random run that has every event."""
    for number in range(seed, seed + 1000):
        run = random_run(number, 2, 80)
        if {event["action"] for event in run} >= EVENTS:
            return run
    raise AssertionError("no seed gives a run with every action")


# -- a real host -----------------------------------------------------------------------------------------------------


def real_run(rounds: int = 5) -> list[Event]:
    """Return the run of a real host whose clients and ranks did all that they may do."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-control-") as folder:
        file = Path(folder) / "host.ndjson"
        with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server:
            _use(server, rounds)
        return runs_of(file)["control"]


def _use(server: EngineWorkerQueue, rounds: int) -> None:
    def rank(number: int) -> EngineWorkerQueue:
        return EngineWorkerQueue(server.address, num_client=2, client_id=number)

    def one(queue: EngineWorkerQueue, value: object) -> None:
        request = ControlServer(queue).take(timeout=LONG_S)
        assert request is not None
        request.answer((request.payload, value))

    client = ControlClient(server)
    first, second = rank(0), rank(1)
    try:
        for turn in range(rounds):
            answers = [Background(partial(one, queue, turn)) for queue in (first, second)]
            result = client.ask(turn, timeout=LONG_S)
            assert [answer.value for answer in result.answers] == [(turn, turn)] * 2
            for answer in answers:
                answer.value()
        _gone(client, first, second, one)
        second = rank(1)
        waiting = Background(lambda: client.ask("left", timeout=LONG_S))
        one(first, 1)
        assert ControlServer(second).take(timeout=LONG_S) is not None
        second.close()  # with a request in its hands
        assert type(waiting.error()) is PeerLostError
    finally:
        first.close()
        second.close()


def _gone(client: ControlClient, first: EngineWorkerQueue, second: EngineWorkerQueue, one: Callable[..., None]) -> None:
    """A time limit, a late answer, a cancel, a rank that is lost."""
    late = Background(lambda: client.ask("late", timeout=0.0))
    assert type(late.error()) is CommTimeoutError
    waiting = Background(lambda: client.ask("cancelled", timeout=LONG_S))
    request = ControlServer(first).take(timeout=LONG_S)
    assert request is not None
    assert client.cancel() == (request.number,)
    assert type(waiting.error()) is RequestCancelledError
    try:
        request.answer()
    except StaleAnswerError:
        pass
    else:
        raise AssertionError("an answer to a request that was cancelled was taken")
    waiting = Background(lambda: client.ask("lost", timeout=LONG_S))
    one(first, 0)
    second._release(goodbye=False)
    assert type(waiting.error()) is PeerLostError
    until(lambda: client.statistics().lost == (1,))
    back = EngineWorkerQueue(client._queue.address, num_client=2, client_id=1)  # Reappear
    assert client.statistics().away == (1,)
    back.worker_process_tp_barrier.n_waiting  # noqa: B018
    back.get_tasks()
    back._release(goodbye=False)
    until(lambda: client.statistics().lost == (1,))  # Vanish


# -- one small change of a run, after which it is none ---------------------------------------------------------------


def _next(number: int) -> int:
    return number + 1


def _all_next(row: list[int]) -> list[int]:
    return [value + 1 for value in row]


ALTERED = on_copies(
    {
        "a request is missing": dropped("Ask"),
        "a take is missing": dropped("Take"),
        "an answer is missing": dropped("Answer"),
        "an end is missing": dropped("Collect"),
        "a late answer that was counted": renamed("RefuseLate", "Answer"),
        "an answer that was refused": renamed("Answer", "RefuseLate"),
        "a collect of what is not whole": renamed("EndTimeout", "Collect"),
        "a request that was late and is called lost": renamed("EndTimeout", "EndLost"),
        "a loss that was a leave": renamed("Fence", "Leave"),
        "an answer to another request": valued("Answer", "args", "number", _next),
        "another request was taken": valued("Take", "result", "number", _next),
        "a number too far": valued("Ask", "result", "number", _next),
        "a rank that does something else": valued("Take", "post", "doing", _all_next),
        "a request that stays open": valued("Collect", "post", "open", lambda rows: [[1, [0, 1], []], *rows]),
        "a gap in the numbers": gap("Take"),
    }
)
