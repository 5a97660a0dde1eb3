"""Runs of rearrangements as a host records them: random ones made by the model, real ones made by handles, altered."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fdcomm import (
    CommTimeoutError,
    EngineWorkerQueue,
    FdcommError,
    RearrangeBusyError,
    RearrangeControl,
    RearrangeEndedError,
)
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import initial_state
from tests.conformance.rearrange_moves import post_of
from tests.conformance.waiting import Background, until

__all__ = ("ACTIONS", "ALTERED", "lines_of", "random_run", "real_run")

Event = dict[str, Any]
ACTIONS = set(Rearrange().actions) - {"Crash", "RefuseReport"}
_RARE = ("Crash", "Leave", "CallOff", "PeerFailed", "ReportFailed", "EndTimeout")
_PEERS = 2


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody, peers = frozenset(range(2 * ranks + 1)), frozenset(range(1, _PEERS + 1))
    config = Config(ranks, _PEERS, None, everybody, frozenset(range(ranks)), peers)
    model, state = Rearrange(config), initial_state(config)
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "rearrange", "dp": 0, "ranks": ranks}]
    while len(events) <= length:
        choices: dict[str, list[tuple[Action, State]]] = {}
        for action, after in model.steps(state):
            choices.setdefault(action.name, []).append((action, after))
        names = sorted(choices)
        name = rng.choices(names, [1 if name in _RARE else 20 for name in names])[0]
        action, after = rng.choice(choices[name])
        if name == "Crash":
            action = Action("Fence", action.params)
            after = next(then for step, then in model.fence(after) if step == action)
        if name != "RefuseReport":
            events.append(_event(len(events), action, after))
        state = after
    return events


def _event(seq: int, action: Action, after: State) -> Event:
    name = action.name
    result: Event = {"request": after.running} if name in ("Request", "Take", "TakeLoad") else {}
    if name == "Arrive":
        result = {"begun": "swap" in after.worker}
    head: Event = {"v": 1, "seq": seq, "protocol": "rearrange", "dp": 0, "action": name}
    return head | {"args": dict(action.params), "result": result, "post": post_of(after, _PEERS)}


def real_run() -> list[Event]:
    """Return what a host of two ranks recorded, in which every action occurs."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-rearrange-") as folder:
        trace = Path(folder) / "host.ndjson"
        with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=trace) as server:
            _play(server.get_server_port())
        events = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    return [event for event in events if event["protocol"] == "rearrange"]


def _play(port: int) -> None:
    def control(rank: int) -> RearrangeControl:
        return RearrangeControl(("0.0.0.0", port), num_client=2, client_id=rank)

    requester, coordinator = control(0), control(0)
    loaders, workers = [control(0), control(1)], [control(0), control(1)]
    try:
        first = requester.request(["a", "b"])
        _raises(RearrangeBusyError, requester.request)
        _begin(coordinator, first)
        for loader in loaders:
            loader.take_load()
            loader.report(first)
        for address in ("a", "b"):
            coordinator.peer_ready(first, address)
        coordinator.declare_loaded(first)
        requester.update(first)
        _raises(CommTimeoutError, lambda: workers[0].take_update(0.0))
        call = Background(lambda: workers[0].take_update(60.0))
        until(lambda: requester.status().worker[0] == "here", "the arrival of rank 0")
        workers[1].take_update()
        call.value()
        for worker in workers:
            worker.updated(first)
        coordinator.free()
        second = requester.request(["a"])
        _begin(coordinator, second)
        loaders[0].take_load()
        coordinator.peer_failed(second, "a", "silence")
        _raises(RearrangeEndedError, lambda: loaders[0].report(second))
        third = requester.request()
        _begin(coordinator, third)
        loaders[0].take_load()
        loaders[0].report(third, ok=False, reason="no such file")
        _begin(coordinator, fourth := requester.request())
        coordinator.call_off(fourth, "no need")
        fifth = requester.request(limit=0)
        assert requester.wait(fifth).what == "late"
        _begin(coordinator, sixth := requester.request())
        loaders[1]._release(goodbye=False)
        assert requester.wait(sixth).what == "lost"
    finally:
        for handle in (requester, coordinator, *loaders, *workers):
            handle.close()


def _begin(coordinator: RearrangeControl, number: int) -> None:
    taken = coordinator.take()
    assert taken is not None
    assert taken[0] == number
    coordinator.begin_load(number, "plan")


def _raises(kind: type[FdcommError], call: Callable[[], object]) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"a call that must raise {kind.__name__} has not")


# -- one small change of a run, after which it is none ---------------------------------------------------------------

Change = Callable[[list[Event]], list[Event]]


def _first(events: list[Event], name: str) -> Event:
    return next(event for event in events if event["action"] == name)


def _dropped(name: str) -> Change:
    """The first event of that name is left out, and the numbers closed up."""

    def change(events: list[Event]) -> list[Event]:
        events.remove(_first(events, name))
        for number, event in enumerate(events[1:], 1):
            event["seq"] = number
        return events

    return change


def _set(name: str, part: str, key: str, value: Callable[[Any], Any]) -> Change:
    def change(events: list[Event]) -> list[Event]:
        event = _first(events, name)
        event[part][key] = value(event[part].get(key))
        return events

    return change


def _top(name: str, key: str, value: object) -> Change:
    def change(events: list[Event]) -> list[Event]:
        _first(events, name)[key] = value
        return events

    return change


def _on_copy(change: Change) -> Change:
    return lambda events: change(copy.deepcopy(events))


ALTERED: dict[str, Change] = {
    name: _on_copy(change)
    for name, change in {
        "a request is missing": _dropped("Request"),
        "a take is missing": _dropped("Take"),
        "a report is missing": _dropped("ReportOk"),
        "an arrival is missing": _dropped("Arrive"),
        "a claim is missing": _dropped("Join"),
        "the end of an exchange is missing": _dropped("Updated"),
        "what is done was not freed": _dropped("Free"),
        "an end is missing": _dropped("CallOff"),
        "another rank reports": _set("ReportOk", "args", "rank", lambda rank: 1 - rank),
        "another address is ready": _set("PeerReady", "args", "peer", lambda peer: 3 - peer),
        "more addresses are asked": _set("Request", "args", "addresses", lambda count: 1 - min(count, 1)),
        "more addresses than are waited for": _set("Request", "args", "addresses", lambda count: count + 1),
        "another party comes": _set("Join", "args", "party", lambda party: (party + 1) % 5),
        "a party that is none": _set("Join", "args", "party", lambda party: 5),
        "a result is a number": _set("Arrive", "result", "begun", int),
        "another number": _set("Take", "result", "request", lambda number: number + 1),
        "begun too early": _set("Arrive", "result", "begun", lambda begun: not begun),
        "the phase goes on": _set("DeclareLoaded", "post", "phase", lambda phase: "DONE"),
        "an outcome is nicer": _set("PeerFailed", "post", "outcome", lambda what: "done"),
        "a worker is done": _set("Update", "post", "worker", lambda worker: ["done", "done"]),
        "a load is there": _set("BeginLoad", "post", "load", lambda load: ["ok", "ok"]),
        "nothing is unreached": _set("Take", "post", "unreached", lambda unreached: [*unreached, 9]),
        "a crash is no end": _set("Fence", "post", "phase", lambda phase: "UPDATING"),
        "late is failed": _top("EndTimeout", "action", "CallOff"),
        "loaded is updated": _top("DeclareLoaded", "action", "Update"),
        "a number twice": _top("Take", "seq", 1),
        "another action": _top("Take", "action", "GetTasks"),
        "nothing after it": _top("Take", "post", {}),
        "other arguments": _top("Take", "args", {"rank": 0}),
    }.items()
}
