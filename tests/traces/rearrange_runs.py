"""Runs of rearrangements as a host records them: random ones made by the model, real ones made by handles, altered."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

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
from tests.traces.alterations import Change, dropped, on_copies, renamed, top, valued
from tests.traces.events import Event, index_of, lines_of, runs_of
from tests.traces.walks import random_walk

__all__ = ("ACTIONS", "ALTERED", "lines_of", "random_run", "real_run")

ACTIONS = set(Rearrange().actions) - {"Crash", "RefuseReport"}
_RARE = ("Crash", "Leave", "CallOff", "PeerFailed", "ReportFailed", "EndTimeout")
_PEERS = 2


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody, peers = frozenset(range(2 * ranks + 1)), frozenset(range(1, _PEERS + 1))
    config = Config(ranks, _PEERS, None, everybody, frozenset(range(ranks)), peers)
    walk = random_walk(rng, Rearrange(config), initial_state(config), lambda name: 1 if name in _RARE else 20)
    recorded = ((action, after) for action, _, after in walk if action.name != "RefuseReport")
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "rearrange", "dp": 0, "ranks": ranks}]
    for seq, (action, after) in enumerate(islice(recorded, length), 1):
        events.append(_event(seq, action, after))
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
        return runs_of(trace)["rearrange"]


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


def _replaced(name: str, key: str, value: object) -> Change:
    """The first event of that name has another value for a key of its own."""
    return lambda events: top(index_of(events, name), key, value)(events)


ALTERED = on_copies(
    {
        "a request is missing": dropped("Request"),
        "a take is missing": dropped("Take"),
        "a report is missing": dropped("ReportOk"),
        "an arrival is missing": dropped("Arrive"),
        "a claim is missing": dropped("Join"),
        "the end of an exchange is missing": dropped("Updated"),
        "what is done was not freed": dropped("Free"),
        "an end is missing": dropped("CallOff"),
        "another rank reports": valued("ReportOk", "args", "rank", lambda rank: 1 - rank),
        "another address is ready": valued("PeerReady", "args", "peer", lambda peer: 3 - peer),
        "more addresses are asked": valued("Request", "args", "addresses", lambda count: 1 - min(count, 1)),
        "more addresses than are waited for": valued("Request", "args", "addresses", lambda count: count + 1),
        "another party comes": valued("Join", "args", "party", lambda party: (party + 1) % 5),
        "a party that is none": valued("Join", "args", "party", lambda party: 5),
        "a result is a number": valued("Arrive", "result", "begun", int),
        "another number": valued("Take", "result", "request", lambda number: number + 1),
        "begun too early": valued("Arrive", "result", "begun", lambda begun: not begun),
        "the phase goes on": valued("DeclareLoaded", "post", "phase", lambda phase: "DONE"),
        "an outcome is nicer": valued("PeerFailed", "post", "outcome", lambda what: "done"),
        "a worker is done": valued("Update", "post", "worker", lambda worker: ["done", "done"]),
        "a load is there": valued("BeginLoad", "post", "load", lambda load: ["ok", "ok"]),
        "nothing is unreached": valued("Take", "post", "unreached", lambda unreached: [*unreached, 9]),
        "a crash is no end": valued("Fence", "post", "phase", lambda phase: "UPDATING"),
        "late is failed": renamed("EndTimeout", "CallOff"),
        "loaded is updated": renamed("DeclareLoaded", "Update"),
        "a number twice": _replaced("Take", "seq", 1),
        "another action": renamed("Take", "GetTasks"),
        "nothing after it": _replaced("Take", "post", {}),
        "other arguments": _replaced("Take", "args", {"rank": 0}),
    }
)
