"""Runs of control requests as a host records them: random ones of the model, real ones of handles, altered ones."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from fdcomm import CommTimeoutError, EngineWorkerQueue, PeerLostError
from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import RequestCancelledError, StaleAnswerError
from models.control import Config, Control, State
from models.control_state import initial_state
from models.kernel import Action
from tests.conformance.waiting import Background, until

__all__ = ("ALTERED", "EVENTS", "Event", "event_of", "lines_of", "random_run", "real_run", "shown", "whole_run")

Event = dict[str, Any]
LONG_S = 60.0
EVENTS = set(Control().actions) - {"Crash"}
_WEIGHT = {"Join": 8, "Take": 14, "Answer": 20, "Ask": 8, "RefuseLate": 8, "Collect": 10, "EndLost": 6, "Crash": 1}


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


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
    model, state = Control(config), initial_state(config)
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "control", "dp": 0, "ranks": ranks, "capacity": 3}]
    while len(events) <= length:
        choices: dict[str, list[tuple[Action, State]]] = {}
        for action, after in model.steps(state):
            choices.setdefault(action.name, []).append((action, after))
        names = sorted(choices)
        name = rng.choices(names, [_WEIGHT.get(name, 2) for name in names])[0]
        action, after = rng.choice(choices[name])
        before = state
        if name == "Crash":
            action, before = Action("Fence", action.params), after
            after = next(then for step, then in model.fence(before) if step == action)
        name, args, result = event_of(action, before, after)
        shared = {"v": 1, "seq": len(events), "protocol": "control", "dp": 0}
        events.append({**shared, "action": name, "args": args, "result": result, "post": shown(after)})
        state = after
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
        events = [json.loads(line) for line in file.read_text().splitlines()]
    return [event for event in events if event["protocol"] == "control"]


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


def _index(events: list[Event], name: str) -> int:
    return next(index for index, event in enumerate(events) if event["action"] == name)


def _dropped(name: str) -> Callable[[list[Event]], list[Event]]:
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


def _part(name: str, part: str, key: str, value: Callable[[Any], Any]) -> Callable[[list[Event]], list[Event]]:
    def change(events: list[Event]) -> list[Event]:
        found = events[_index(events, name)][part]
        found[key] = value(found[key])
        return events

    return change


def _gap(events: list[Event]) -> list[Event]:
    del events[_index(events, "Take")]
    return events


def _copied(change: Callable[[list[Event]], list[Event]]) -> Callable[[list[Event]], list[Event]]:
    return lambda events: change(copy.deepcopy(events))


def _next(number: int) -> int:
    return number + 1


def _swapped(row: list[int]) -> list[int]:
    return [value + 1 for value in row]


ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    name: _copied(change)
    for name, change in {
        "a request is missing": _dropped("Ask"),
        "a take is missing": _dropped("Take"),
        "an answer is missing": _dropped("Answer"),
        "an end is missing": _dropped("Collect"),
        "a late answer that was counted": _renamed("RefuseLate", "Answer"),
        "an answer that was refused": _renamed("Answer", "RefuseLate"),
        "a collect of what is not whole": _renamed("EndTimeout", "Collect"),
        "a request that was late and is called lost": _renamed("EndTimeout", "EndLost"),
        "a loss that was a leave": _renamed("Fence", "Leave"),
        "an answer to another request": _part("Answer", "args", "number", _next),
        "another request was taken": _part("Take", "result", "number", _next),
        "a number too far": _part("Ask", "result", "number", _next),
        "a rank that does something else": _part("Take", "post", "doing", _swapped),
        "a request that stays open": _part("Collect", "post", "open", lambda rows: [[1, [0, 1], []], *rows]),
        "a gap in the numbers": _gap,
    }.items()
}
