"""Runs of barriers as a host records them: random ones made by the model, real ones made by handles, altered ones."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from fdcomm import EngineCacheQueue
from fdcomm.errors import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, PeerLostError
from models.barrier import Barrier, Config, State
from models.barrier_state import UNSAID, initial_state
from models.kernel import Action
from tests.conformance.waiting import Background, until
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, lines_of, renumbered, runs_of
from tests.traces.walks import random_walk

__all__ = ("ALTERED", "lines_of", "random_run", "real_runs")

NAMES = ["swap_to_cpu_barrier1", "swap_to_cpu_barrier2"]
_WEIGHT = {"Join": 8, "Arrive": 8, "Pass": 30, "Reset": 6, "Crash": 1, "Leave": 1, "Mismatch": 1}


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody = frozenset(range(ranks))
    config = Config(
        ranks=ranks, labels=2, max_rounds=None, max_aborts=None, named=True, leavers=everybody, mortal=everybody
    )
    walk = random_walk(rng, Barrier(config), initial_state(config), lambda name: _WEIGHT.get(name, 2))
    events: list[Event] = [
        {"v": 1, "action": "Open", "protocol": "barriers.to_cpu", "dp": 0, "ranks": ranks, "barriers": NAMES}
    ]
    for seq, (action, _, after) in enumerate(islice(walk, length), 1):
        events.append(_event(seq, action, after))
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
        runs = runs_of(file)
    return [run for protocol, run in runs.items() if protocol.startswith("barriers.") and len(run) > 1]


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


def _unannounced(events: list[Event]) -> list[Event]:
    """An arrival that a pass follows at once is left out, and the numbers closed up."""
    names = [event["action"] for event in events]
    del events[list(pairwise(names)).index(("Arrive", "Pass"))]
    return renumbered(events)


ALTERED = on_copies(
    {
        "an arrival is missing": _unannounced,
        "a pass is missing": dropped("Pass"),
        "a fence is missing": dropped("Fence"),
        "an abort is missing": dropped("Abort"),
        "a pass that was an arrival": renamed("Pass", "Arrive"),
        "a mismatch that was a refusal": renamed("Refuse", "Mismatch"),
        "a fence that was a leave": renamed("Fence", "Leave"),
        "a pass by the other rank": valued("Pass", "args", "rank", lambda rank: 1 - rank),
        "a pass with another label": valued("Pass", "args", "label", lambda label: "something else"),
        "a reset for another abort": valued("Reset", "args", "abort", lambda abort: abort + 1),
        "a generation too many": valued("Pass", "post", "generation", lambda rows: [row + 1 for row in rows]),
        "a ghost that stays": valued("Fence", "post", "arrived", lambda rows: [[0], *rows[1:]]),
        "an abort that breaks nothing": valued("Abort", "post", "broken", lambda rows: [False] * len(rows)),
        "a gap in the numbers": gap("Pass"),
    }
)
