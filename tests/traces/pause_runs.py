"""Runs of pauses: random ones made by the model, real ones of a host and its ranks merged, altered ones."""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from unittest import mock

from fdcomm import EngineCacheQueue
from fdcomm.core.pause import MODES, Order
from fdcomm.core.rank_gate import RankGate
from fdcomm.errors import CommTimeoutError, JobCancelledError, PauseEndedError
from fdcomm.pause import PauseControl
from models.kernel import Action
from models.pause import Config, Pause, State
from models.pause_state import DEAD, LIVE, initial_state
from tests.conformance.waiting import Background, until
from tests.traces.events import Event, lines_of, renumbered, runs_of
from tests.traces.walks import random_walk

__all__ = ("ACTIONS", "lines_of", "merged", "random_run", "real_run", "recording")

INSIDE = {"Admit", "Done", "Park"}
ACTIONS = set(Pause().actions) - {"Crash"}
_WEIGHT = {"Join": 8, "CallPause": 6, "Take": 8, "Quiet": 8, "Admit": 4, "PauseReturns": 6, "Park": 4}
_RARE = {"Crash": 0.4, "Leave": 0.4, "GiveUp": 0.7, "CancelPause": 0.7}


def random_run(seed: int, ranks: int, length: int) -> list[Event]:
    """Return the events of a run of the model: Open, then ``length`` actions, each crash hidden before its fence."""
    rng = random.Random(seed)
    everybody, callers = frozenset(range(ranks)), frozenset({1, 2, 3})
    config = Config(ranks, 3, 2, None, frozenset({0, 1, 2}), everybody, everybody, callers)
    walk = random_walk(rng, Pause(config), initial_state(config), lambda name: _WEIGHT.get(name, _RARE.get(name, 2)))
    events: list[Event] = [{"v": 1, "action": "Open", "protocol": "pause", "dp": 0, "ranks": ranks}]
    for seq, (action, _, after) in enumerate(islice(walk, length), 1):
        events.append(_event(seq, action, after))
    return events


def _event(seq: int, action: Action, after: State) -> Event:
    args: Event = {name: MODES[value] if name == "mode" else value for name, value in action.params}
    if action.name in ("Take", "Quiet"):
        args["order"] = after.order
    post = {
        "order": after.order,
        "phase": after.phase,
        "mode": MODES[after.mode],
        "quiet": sorted(after.quiet),
        "seen": [[rank, after.seen[rank]] for rank, what in enumerate(after.status) if what in (LIVE, DEAD)],
        "holders": sorted(after.holders),
    }
    if action.name in INSIDE:
        post = {}
    head = {"v": 1, "seq": seq, "protocol": "pause", "dp": 0, "action": action.name}
    return {**head, "args": args, "result": {}, "post": post}


# -- a real host, and ranks that record what their jobs do -----------------------------------------------------------

_Log = list[tuple[str, int]]


@contextlib.contextmanager
def recording() -> Iterator[list[_Log]]:
    """Let the gates of ranks record: one log for each, in the order in which the ranks join."""
    logs: list[_Log] = []

    class Recording(RankGate):
        __slots__ = ("log",)

        def __init__(self, order: Order) -> None:
            super().__init__(order)
            self.log: _Log = []
            logs.append(self.log)

        def take(self, order: Order) -> bool:
            taken = super().take(order)
            if taken:
                self.log.append(("Take", order.number))
            return taken

        def admit(self) -> bool:
            admitted = super().admit()
            if admitted:
                self.log.append(("Admit", 0))
            return admitted

        def done(self, parking: int | None = None) -> None:
            super().done(parking)
            self.log.append(("Done", 0))

        def park(self) -> int | None:
            parking = super().park()
            if parking is not None:
                self.log.append(("Park", 0))
            return parking

        @property
        def quiet(self) -> bool:
            quiet = RankGate.quiet.__get__(self)
            if quiet:
                self.log.append(("Quiet", self.order))
            return bool(quiet)

    with mock.patch("fdcomm.jobs.RankGate", Recording):
        yield logs


def merged(events: list[Event], logs: list[_Log]) -> list[Event]:
    """Put what the ranks recorded between the events of the host: each as late as the rank's next news allows."""
    joined = iter(logs)
    of_rank: dict[int, _Log] = {}
    found: list[Event] = []

    def inside(rank: int, until_: tuple[str, int] | None) -> None:
        log = of_rank[rank]
        if until_ is not None and until_ not in log:
            return  # it was passed already: a rank says again what it has said
        while log:
            entry = log.pop(0)
            if entry == until_:
                return
            if entry[0] in INSIDE:
                head = {"v": 1, "protocol": "pause", "dp": 0, "action": entry[0]}
                found.append({**head, "args": {"rank": rank}, "result": {}, "post": {}})
            elif entry[0] == "Take" and until_ is None:
                return

    for event in events:
        name, rank = event["action"], event.get("args", {}).get("rank")
        if name == "Join":
            of_rank[rank] = list(next(joined))
        elif name in ("Take", "Quiet"):
            inside(rank, (name, event["args"]["order"]))
        elif name == "Leave":
            inside(rank, None)
        found.append(dict(event))
    for rank in sorted(of_rank):
        inside(rank, None)
    return renumbered(found)


def real_run(cycles: int = 3) -> list[Event]:
    """Return the merged run of a real host whose ranks and clients did all that they may do."""
    with tempfile.TemporaryDirectory(prefix="fdcomm-pauses-") as folder, recording() as logs:
        file = Path(folder) / "host.ndjson"
        with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2, trace=file) as server:
            _use(server, cycles)
        events = runs_of(file)["pause"]
    return merged(events, logs)


def _use(server: EngineCacheQueue, cycles: int) -> None:
    def client(rank: int) -> EngineCacheQueue:
        return EngineCacheQueue(("0.0.0.0", server.get_server_port()), num_client=2, client_id=rank)

    queues = [client(0), client(1)]
    ranks = [PauseControl(queue, rank=True) for queue in queues]
    api = PauseControl(server)

    def pausing() -> bool:
        return api.statistics().phase == "pause"

    try:
        for mode in MODES[:cycles]:
            jobs = [rank.admit() for rank in ranks]
            pause = Background(lambda mode=mode: api.pause(mode))  # type: ignore[misc]
            until(lambda: all(rank._jobs is not None and rank._jobs._gate.shut for rank in ranks), "the order")
            parked = [Background(lambda job=job: job.checkpoint(timeout=None)) for job in jobs]  # type: ignore[misc]
            if mode == "keep":
                number = pause.value()
                api.resume(number)
            told = [waiting.error() for waiting in parked]
            assert all((mode == "abort") == isinstance(error, JobCancelledError) for error in told), told
            for job in jobs:
                job.done()
            if mode != "keep":
                with api.held(pause.value()):
                    pass
                api.resume()
        job = ranks[0].admit()
        gave_up = Background(lambda: api.pause(timeout=0)).error()
        assert isinstance(gave_up, CommTimeoutError), gave_up
        assert api.cancel_pause()
        waits = Background(lambda: api.pause(timeout=None))
        until(pausing, "the pause")
        assert api.cancel_pause()
        assert isinstance(waits.error(), PauseEndedError)
        job.done()
        ranks[1].close()
        ranks[1] = PauseControl(queues[1], rank=True)
        queues[0]._release(goodbye=False)
        until(lambda: api.statistics().lost == (0,), "the fence of rank 0")
        with api.paused():
            queues[0] = client(0)
            ranks[0] = PauseControl(queues[0], rank=True)
        ranks[0].admit().done()
    finally:
        for control in ranks:
            control.close()
        for queue in queues:
            queue.close()
