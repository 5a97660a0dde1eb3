"""Level V3 on the pause protocol's two cores: every edge of the model's graph is taken, and every refusal refuses.

The host's part and the gates of the ranks are driven together: a step that the model takes inside a rank is a call of
that rank's gate. Calls of clients are invisible to the cores, so the driver remembers who waits for what.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial

from fdcomm.core.pause import MODES, Mode, Order
from fdcomm.core.pause import Pause as Core
from fdcomm.core.rank_gate import RankGate
from models.explore import Path
from models.graph import Edge, build
from models.kernel import Action
from models.pause import Config, Pause, State, still
from models.pause_state import AWAY, DEAD, LIVE, LOST, initial_state
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, take_every_edge

__all__ = ("Coverage", "Deviation", "PauseDriver", "difference", "drive_core", "expected", "probes")

MakeCore = Callable[[int], Core]
MakeGate = Callable[[Order], RankGate]


class PauseDriver:
    """The cores under test, and what their callers know."""

    def __init__(self, config: Config, make: MakeCore = Core, make_gate: MakeGate = RankGate) -> None:
        start = initial_state(config)
        self.core = make(config.ranks)
        self.gates: dict[int, RankGate] = {}
        self.make_gate = make_gate
        self.dead: set[int] = set()
        self.waiting = list(start.waiting)
        self.awaited = list(start.awaited)
        self.promised = False

    def copy(self) -> PauseDriver:
        """Return an independent driver in the same state."""
        twin = copy.copy(self)
        twin.core = core = copy.copy(self.core)
        for name in ("live", "lost", "quiet", "holders", "expecting"):
            setattr(core, name, set(getattr(core, name)))
        core.seen = dict(core.seen)
        twin.gates = {rank: copy.copy(gate) for rank, gate in self.gates.items()}
        twin.dead, twin.waiting, twin.awaited = set(self.dead), list(self.waiting), list(self.awaited)
        return twin

    def state(self) -> State:
        """Return the model's state that the cores are in."""
        core, ranks = self.core, range(self.core.ranks)
        known = {rank: gate.order for rank, gate in self.gates.items() if rank in core.live}
        if known != core.seen:
            raise Deviation(f"the host believes that the ranks have taken {core.seen}, and they have taken {known}")
        if core.expecting != (expecting := self._expecting()):
            raise Deviation(f"{core.expecting} wait for the pause, the host believes, and {expecting} do")
        gates = [self.gates.get(rank) for rank in ranks]
        return State(
            order=core.latest.number,
            phase=core.latest.phase,
            mode=MODES.index(core.latest.mode),
            status=tuple(
                (DEAD if rank in self.dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
                for rank in ranks
            ),
            quiet=frozenset(core.quiet),
            seen=tuple(gate.order if gate else 0 for gate in gates),
            gate=tuple("shut" if gate is None or gate.shut else "open" for gate in gates),
            told=tuple(MODES.index(gate.mode) if gate else 0 for gate in gates),
            running=tuple(gate.running if gate else 0 for gate in gates),
            parked=tuple(gate.parked if gate else 0 for gate in gates),
            holders=self.holders(),
            waiting=tuple(self.waiting),
            awaited=tuple(self.awaited),
            began=core.began,
            promised=self.promised,
        )

    def holders(self) -> frozenset[int]:
        """Return the clients that hold the pause."""
        return frozenset(self.core.holders)

    def _expecting(self) -> set[int]:
        calls = enumerate(zip(self.waiting, self.awaited, strict=True), 1)
        return {client for client, call in calls if call == ("pause", self.core.began)} if self._paused() else set()

    def _paused(self) -> bool:
        return self.core.latest.phase == "pause"

    def step(self, action: Action, *, parked: bool = False) -> object:
        """Take one step; return what the core's method returned. ``parked``: it is a parked job that is done."""
        rank, client = action.param("rank"), action.param("client")
        if rank is not None:
            return self._of_rank(action.name, rank, parked=parked)
        assert client is not None
        return self._of_client(action, client)

    def _of_rank(self, name: str, rank: int, *, parked: bool) -> object:
        core, gate = self.core, self.gates.get(rank)
        if name == "Join":
            core.join(rank)
            self.gates[rank] = self.make_gate(core.latest)
            return None
        assert gate is not None
        if name in ("Leave", "Fence"):
            (core.leave if name == "Leave" else core.fence)(rank)
            self.dead.discard(rank)
            gate.shut = True
        elif name == "Crash":
            self.dead.add(rank)
            gate.shut, gate.running, gate.parked = True, 0, 0
        elif name == "Take":
            taken = gate.take(core.latest)
            core.taken(rank, gate.order)
            return taken
        elif name == "Quiet":
            return gate.quiet and core.report_quiet(rank, gate.order)
        elif name == "Admit":
            return gate.admit()
        elif name == "Park":
            return gate.park() is not None
        else:
            gate.done(gate.parking if parked else None)
        return None

    def _of_client(self, action: Action, client: int) -> object:
        core, name = self.core, action.name
        awaited = self.awaited[client - 1]
        result: object = None
        if name == "CallPause":
            result = core.pause(MODES[action.param("mode") or 0], client)
            self._call(client, "pause", core.began)
        elif name in ("CallResume", "CancelPause"):
            runs = core.latest.phase == "run"
            number = core.resume() if name == "CallResume" else core.cancel()
            if number is not None:
                self._call(client, "resume" if name == "CallResume" else "cancel", number)
                self.promised = self.promised and runs
            result = number
        elif name == "Hold":
            result = core.hold(client)
        elif name == "LetGo":
            result = core.let_go(client)
        else:
            if name == "ResumeReturns":
                result = core.not_resumed(awaited)
            elif name != "GiveUp":
                result = core.is_paused(awaited)
            core.told(client)
            self.promised = self.promised or name == "PauseReturns"
            self._call(client, "idle", 0)
        return result

    def _call(self, client: int, call: str, about: int) -> None:
        self.waiting[client - 1], self.awaited[client - 1] = call, about


def expected(action: Action, before: State, after: State) -> object:
    """Return what the cores' methods must return for a step of the model."""
    name = action.name
    if name == "CallPause":
        return after.order > before.order
    if name in ("CallResume", "CancelPause"):
        return after.order
    if name == "ResumeReturns":
        return ()
    return True if name in ("Take", "Quiet", "Admit", "Park", "PauseReturns", "Hold", "LetGo") else None


def drive_core(config: Config, make: MakeCore = Core, make_gate: MakeGate = RankGate) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Pause(config))

    def reach(path: Path[State]) -> PauseDriver:
        driver, before = PauseDriver(config, make, make_gate), path.start
        for action, after in path.steps:
            _step(driver, before, action, after)
            before = after
        return driver

    return take_every_edge(graph, reach, _take, probes)


def _take(driver: PauseDriver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, _step(driver, before, action, after), expected(action, before, after))


def _step(driver: PauseDriver, before: State, action: Action, after: State) -> object:
    return driver.step(action, parked=after.parked < before.parked)


def probes(driver: PauseDriver, state: State) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    core = driver.core
    for rank, status in enumerate(state.status):
        if status in (AWAY, LOST):
            for name in ("leave", "fence"):
                yield f"{name}({rank})", partial(getattr(core, name), rank), None
            yield f"report_quiet({rank})", partial(core.report_quiet, rank, state.order), None
            continue
        yield f"join({rank})", partial(core.join, rank), None
        yield f"taken({rank}) too new", partial(core.taken, rank, state.order + 1), None
        if rank in state.quiet or state.phase == "run":
            yield f"report_quiet({rank})", partial(core.report_quiet, rank, state.seen[rank]), (False,)
        for number in range(min(state.seen[rank] + 1, state.order)):
            yield f"report_quiet({rank}, {number})", partial(core.report_quiet, rank, number), (False,)
        if status == LIVE:
            yield from _inside(driver.gates[rank], rank, state)
    rests = still(state)
    if state.phase == "pause":
        yield "is_paused", partial(core.is_paused, state.began), (rests,)
        for mode, word in enumerate(MODES):
            if rests or mode <= state.mode:
                yield f"pause({word})", partial(_pause_and_leave, core, word), (False,)
        if not rests or state.holders or driver.core.expecting:
            yield "resume", core.resume, (None,)
    if state.phase == "run" or rests:
        yield "cancel", core.cancel, (None,)
    for client in range(1, len(state.waiting) + 1):
        if client in state.holders:
            yield f"hold({client})", partial(core.hold, client), None
        else:
            yield f"let_go({client})", partial(core.let_go, client), (False,)
            if not rests:
                yield f"hold({client})", partial(core.hold, client), (False,)


def _pause_and_leave(core: Core, mode: Mode) -> bool:
    ordered = core.pause(mode, 99)
    core.told(99)
    return ordered


def _inside(gate: RankGate, rank: int, state: State) -> Iterator[Probe]:
    for number in range(gate.order + 1):
        late = Order(number, "run" if state.gate[rank] == "shut" else "pause", "abort")
        yield f"take({rank}, order {number})", partial(gate.take, late), (False,)
    if state.gate[rank] == "shut":
        yield f"admit({rank})", gate.admit, (False,)
    parks = state.gate[rank] == "shut" and state.told[rank] == 0
    if not parks:
        yield f"park({rank})", gate.park, (None,)
    elif state.running[rank] == 0:
        yield f"park({rank})", gate.park, None
    if state.running[rank] == 0:
        yield f"done({rank})", gate.done, None
        if state.parked[rank] == 0:
            yield f"done({rank}) where it was parked", partial(gate.done, gate.parking), None
