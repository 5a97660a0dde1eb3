"""Runs of barriers as a host records them: random ones made by the model, real ones made by handles, altered ones."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from fdcomm import EngineCacheQueue
from fdcomm.errors import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, PeerLostError
from models.barrier import Barrier, Config, State
from models.barrier_state import UNSAID, initial_state
from models.kernel import Action
from tests.conformance.waiting import Background, until

__all__ = ("ALTERED", "lines_of", "random_run", "real_runs")

Event = dict[str, Any]
NAMES = ["swap_to_cpu_barrier1", "swap_to_cpu_barrier2"]
_WEIGHT = {"Join": 8, "Arrive": 8, "Pass": 30, "Reset": 6, "Crash": 1, "Leave": 1, "Mismatch": 1}


def lines_of(events: list[Event]) -> list[str]:
    """Return the lines of a trace file."""
    return [json.dumps(event) for event in events]


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody = frozenset(range(ranks))
    config = Config(
        ranks=ranks, labels=2, max_rounds=None, max_aborts=None, named=True, leavers=everybody, mortal=everybody
    )
    model, state = Barrier(config), initial_state(config)
    events: list[Event] = [
        {"v": 1, "action": "Open", "protocol": "barriers.to_cpu", "dp": 0, "ranks": ranks, "barriers": NAMES}
    ]
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
        events.append(_event(len(events), action, after))
        state = after
    return events


def _event(seq: int, action: Action, after: State) -> Event:
    args: dict[str, Any] = dict(action.params)
    if "barrier" in args:
        args["barrier"] = NAMES[args["barrier"]]
    if action.name == "Refuse":
        args["label"] = ""
    elif "label" in args:
        args["label"] = "swap" if args["label"] else ""
    if "round" in args:
        args["round"] = None if args["round"] == UNSAID else args["round"]
    return {
        "v": 1,
        "seq": seq,
        "protocol": "barriers.to_cpu",
        "dp": 0,
        "action": action.name,
        "args": args,
        "result": {},
        "post": {
            "generation": list(after.generation),
            "arrived": [[a.rank for a in there] for there in after.arrived],
            "broken": list(after.broken),
            "aborts": list(after.aborts),
            "lost": [rank for rank, status in enumerate(after.status) if status == "lost"],
        },
    }


def real_runs(rounds: int = 5) -> list[list[Event]]:
    """Return the runs of the barriers of a real host whose ranks did all that ranks may do."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-barriers-") as folder:
        file = Path(folder) / "host.ndjson"
        with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server:
            _use(server, rounds)
        events = [json.loads(line) for line in file.read_text().splitlines()]
    channels: dict[str, list[Event]] = {}
    for event in events:
        if event["protocol"].startswith("barriers."):
            channels.setdefault(event["protocol"], []).append(event)
    return [run for run in channels.values() if len(run) > 1]


def _use(server: EngineCacheQueue, rounds: int) -> None:
    def client(rank: int) -> EngineCacheQueue:
        return EngineCacheQueue(("0.0.0.0", server.get_server_port()), num_client=2, client_id=rank)

    def fails(kind: type[Exception], call: Callable[[], object]) -> None:
        try:
            answer = call()
        except kind as error:
            if type(error) is not kind:
                raise
            return
        raise AssertionError(f"the call that must raise {kind.__name__} returned {answer}")

    first, second = client(0), client(1)
    try:
        for number in range(rounds):
            other = Background(lambda n=number: _turn(second, n))  # type: ignore[misc]
            _turn(first, number)
            other.value()
        fails(CommTimeoutError, lambda: first.barrier0.wait(0))
        waiting = Background(lambda: second.barrier1.wait(60))
        until(lambda: first.barrier1.n_waiting == 1)
        fails(BarrierMismatchError, lambda: first.barrier2.wait(60))  # everybody waits, and at two barriers
        assert type(waiting.error()) is BarrierMismatchError
        fails(BarrierMismatchError, lambda: first.barrier0.wait(60, generation=rounds - 1))
        waiting = Background(lambda: second.barrier0.wait(60, label="a"))
        until(lambda: first.barrier0.n_waiting == 1)
        fails(BarrierMismatchError, lambda: first.barrier0.wait(60, label="b"))
        waiting.error()
        waiting = Background(lambda: second.barrier0.wait(60))
        until(lambda: first.barrier0.n_waiting == 1)
        first.barrier0.abort()
        assert type(waiting.error()) is BarrierBrokenError
        first.barrier0.reset()
        waiting = Background(lambda: first.barrier0.wait(60))
        until(lambda: second.barrier0.n_waiting == 1)
        second._release(goodbye=False)
        assert isinstance(waiting.error(), PeerLostError)
        fails(PeerLostError, lambda: first.barrier0.wait(60))
        second = client(1)
        waiting = Background(lambda: second.barrier0.wait(60))
        until(lambda: first.barrier0.n_waiting == 1)
        first.barrier0.wait(60)
        waiting.value()
    finally:
        first.close()
        second.close()


def _turn(queue: EngineCacheQueue, number: int) -> None:
    for barrier in (queue.barrier0, queue.barrier1, queue.barrier3):
        barrier.wait(60, label=f"turn {number}", generation=number)
        if queue.client_id == 0:
            barrier.reset()


# -- one small change of a run, after which it is none ---------------------------------------------------------------


def _index(events: list[Event], name: str) -> int:
    return next(index for index, event in enumerate(events) if event["action"] == name)


def _dropped(name: str, then: str = "") -> Callable[[list[Event]], list[Event]]:
    """An event of that name (which is followed by ``then``) is left out, and the numbers closed up."""

    def change(events: list[Event]) -> list[Event]:
        pairs = [
            (event["action"], after["action"])
            for event, after in zip(events, [*events[1:], {"action": ""}], strict=True)
        ]
        del events[next(i for i, (first, second) in enumerate(pairs) if first == name and then in ("", second))]
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


def _other_rank(events: list[Event]) -> list[Event]:
    args = events[_index(events, "Pass")]["args"]
    args["rank"] = 1 - cast("int", args["rank"])
    return events


def _gap(events: list[Event]) -> list[Event]:
    del events[_index(events, "Pass")]
    return events


def _other_label(events: list[Event]) -> list[Event]:
    events[_index(events, "Pass")]["args"]["label"] = "something else"
    return events


def _old_abort(events: list[Event]) -> list[Event]:
    events[_index(events, "Reset")]["args"]["abort"] += 1
    return events


def _copied(change: Callable[[list[Event]], list[Event]]) -> Callable[[list[Event]], list[Event]]:
    return lambda events: change(copy.deepcopy(events))


ALTERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    name: _copied(change)
    for name, change in {
        "an arrival is missing": _dropped("Arrive", "Pass"),
        "a pass is missing": _dropped("Pass"),
        "a fence is missing": _dropped("Fence"),
        "an abort is missing": _dropped("Abort"),
        "a pass that was an arrival": _renamed("Pass", "Arrive"),
        "a mismatch that was a refusal": _renamed("Refuse", "Mismatch"),
        "a fence that was a leave": _renamed("Fence", "Leave"),
        "a pass by the other rank": _other_rank,
        "a pass with another label": _other_label,
        "a reset for another abort": _old_abort,
        "a generation too many": _posted("Pass", "generation", lambda rows: [row + 1 for row in rows]),
        "a ghost that stays": _posted("Fence", "arrived", lambda rows: [[0], *rows[1:]]),
        "an abort that breaks nothing": _posted("Abort", "broken", lambda rows: [False] * len(rows)),
        "a gap in the numbers": _gap,
    }.items()
}
