"""Level V3 on rearrange's core: every edge of the model's graph is taken by it, and every refusal refuses.

What the processes of the ranks do by themselves (their jobs, tables and exchanges, and their deaths) is invisible to
the host, so the core has no such state: the driver remembers it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from fdcomm.core.rearrange import Outcome
from fdcomm.core.rearrange import Rearrange as Core
from models.graph import Edge, build
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import AWAY, DEAD, LIVE
from tests.conformance.driving import Coverage, Deviation, Probe, difference, expect, replay, take_every_edge

__all__ = ("Coverage", "Deviation", "Driver", "address_of", "difference", "drive_core", "free", "outcome_of", "probes")

Make = Callable[[int], Core]


def address_of(peer: int) -> str:
    """Return the address of that number."""
    return f"10.0.0.{peer}:8000"


def free(config: Config) -> Rearrange:
    """Return the model in which everybody may come and go, and everything may fail."""
    return Rearrange(
        replace(
            config,
            max_requests=None,
            movers=frozenset(range(2 * config.ranks + 1)),
            failing=frozenset(range(config.ranks)),
            deaf=frozenset(range(1, config.peers + 1)),
        )
    )


class Driver:
    """A core under test, and what the processes know."""

    def __init__(self, config: Config, make: Make = Core, *, join: bool = True) -> None:
        self.core = make(config.ranks)
        self.config = config
        ranks = config.ranks
        self.dead: set[int] = set()
        self.job, self.table, self.swap = [0] * ranks, [0] * ranks, [0] * ranks
        if not join:
            return
        for party in range(2 * ranks + 1):
            if party not in config.movers:
                self.core.join(party)

    def copy(self) -> Driver:
        """Return an independent driver in the same state."""
        twin = copy.copy(self)
        twin.core = copy.deepcopy(self.core)
        twin.dead = set(self.dead)
        twin.job, twin.table, twin.swap = list(self.job), list(self.table), list(self.swap)
        return twin

    def state(self) -> State:
        """Return the model's state that the core is in."""
        core = self.core
        names = {address_of(peer): peer for peer in range(1, self.config.peers + 1)}
        outcomes = core.outcomes
        return State(
            status=tuple(
                (DEAD if party in self.dead else LIVE) if party in core.live else AWAY
                for party in range(2 * core.ranks + 1)
            ),
            phase=core.phase,
            outcome=tuple(
                outcomes[number].what if number in outcomes else "open" for number in range(1, core.request_number + 1)
            ),
            reached=frozenset(names[address] for address in core.running.reached),
            load=tuple(core.load),
            job=tuple(self.job),
            table=tuple(self.table),
            worker=tuple(core.worker),
            swap=tuple(self.swap),
        )

    def step(self, action: Action) -> object:
        """Take one step; return what the core's method returned."""
        core, name = self.core, action.name
        number = core.request_number
        value = action.params[0][1] if action.params else 0
        result: object = None
        if name != "Crash":
            request = self.job[value] if "Report" in name else number
            result = _call(core, name, value, request, self.config.peers)()
        self.note(action, number)
        return result

    def note(self, action: Action, number: int) -> None:
        """Remember what the processes do in a step that has been taken while ``number`` was the last request."""
        name = action.name
        value = action.params[0][1] if action.params else 0
        if name == "Crash":
            self.dead.add(value)
        elif name in ("Leave", "Fence"):
            self._forget(value)
        elif name == "TakeLoad":
            self.job[value] = number
        elif name in ("ReportOk", "RefuseReport"):
            self.table[value], self.job[value] = self.job[value], 0
        elif name == "ReportFailed":
            self.job[value] = 0
        elif name == "Arrive" and self.core.worker[value] == "swap":
            self.swap = [number] * self.config.ranks
        elif name == "Updated":
            self.swap[value] = self.table[value] = 0

    def _forget(self, party: int) -> None:
        """The process takes with it what it had."""
        self.dead.discard(party)
        ranks = self.config.ranks
        if party < ranks:
            self.job[party] = 0
            if not self.swap[party]:
                self.table[party] = 0
        elif party < 2 * ranks and self.swap[party - ranks]:
            self.table[party - ranks] = self.swap[party - ranks] = 0


def _call(core: Core, name: str, value: int, request: int, peers: int) -> Callable[[], object]:
    calls: dict[str, Callable[[], object]] = {
        "Join": lambda: core.join(value),
        "Leave": lambda: core.leave(value),
        "Fence": lambda: core.fence(value),
        "Request": lambda: core.request(tuple(address_of(peer) for peer in range(1, peers + 1))),
        "Take": core.take,
        "BeginLoad": lambda: core.begin_load(request, b"plan"),
        "PeerReady": lambda: core.peer_ready(request, address_of(value)),
        "PeerFailed": lambda: core.peer_failed(request, address_of(value), "silence"),
        "DeclareLoaded": lambda: core.declare_loaded(request),
        "CallOff": lambda: core.call_off(request, "no"),
        "TakeLoad": lambda: core.take_load(value),
        "ReportOk": lambda: core.report_ok(value, request),
        "ReportFailed": lambda: core.report_failed(value, request, "no file"),
        "RefuseReport": lambda: core.refuse_report(value, request),
        "Update": lambda: core.update(request),
        "Arrive": lambda: core.arrive(value),
        "Withdraw": lambda: core.withdraw(value),
        "Updated": lambda: core.updated(value, request),
        "Free": core.free,
        "EndTimeout": core.end_timeout,
    }
    return calls[name]


def result_of(action: Action, after: State) -> object:
    """Return what the core's method must return for a step of the model."""
    if action.name in ("Join", "Leave", "Crash", "Fence"):
        return None
    return after.running if action.name == "Request" else True


def outcome_of(action: Action, before: State, after: State) -> tuple[str, tuple[int, ...], tuple[int, ...]] | None:
    """Return what a step that ends a request must say of it: what, the ranks and the addresses that were missing."""
    if before.outcome[-1:] == after.outcome[-1:] or after.outcome[-1:] == ("open",):
        return None
    ranks = range(len(before.load))
    what, name = after.outcome[-1], action.name
    if what == "done" or name == "CallOff":
        return what, (), ()
    if name == "PeerFailed":
        return what, (), (action.params[0][1],)
    if name == "ReportFailed":
        return what, (action.params[0][1],), ()
    if name == "EndTimeout":
        if before.phase == "UPDATING":
            return what, tuple(r for r in ranks if before.worker[r] == "idle"), ()
        if before.phase != "DOING" or before.load[0] == "none":
            return what, (), ()
        return what, tuple(r for r in ranks if before.load[r] != "ok"), (-1,)
    if name != "Updated" and not before.committed:
        party = action.params[0][1]
        return what, () if party == 2 * len(ranks) else (party % len(ranks),), ()
    lost = {r for r in ranks if before.worker[r] == "lost"}
    if name != "Updated":
        lost.add(action.params[0][1] % len(ranks))
    return what, tuple(sorted(lost)), ()


def drive_core(config: Config, make: Make = Core) -> Coverage:
    """Take every edge of the model's graph, and try in every state what is not enabled there."""
    graph = build(Rearrange(config))
    anything = free(config)
    return take_every_edge(
        graph,
        lambda path: replay(Driver(config, make), path),
        _take,
        lambda driver, state: probes(driver.core, state, anything),
    )


def _take(driver: Driver, edge: Edge[State]) -> None:
    before, action, after = edge
    expect(action, driver.step(action), result_of(action, after))
    wanted = outcome_of(action, before, after)
    if wanted is not None:
        told = driver.core.outcomes[after.running]
        if problem := _wrong(told, wanted, before):
            raise Deviation(f"{action} told {told}: {problem}")


def _wrong(told: Outcome, wanted: tuple[str, tuple[int, ...], tuple[int, ...]], before: State) -> str:
    what, missing, peers = wanted
    known = range(1, 100)
    if peers == (-1,):
        peers = tuple(peer for peer in known if address_of(peer) in told.addresses)
        if set(peers) & before.reached:
            return "an address that has done its part is missing"
    if (told.what, told.missing, told.addresses) != (what, missing, tuple(map(address_of, peers))):
        return f"it should be {wanted}"
    if bool(told.reason) == (what == "done") or told.request != before.running:
        return "the reason or the number is wrong"
    return ""


def probes(core: Core, state: State, anything: Rearrange) -> Iterator[Probe]:
    """Yield a call for what is not enabled, with what it must return; None: it must raise ProtocolViolationError."""
    enabled = {(a.name, *(v for _, v in a.params if a.name != "Request")) for a, _ in anything.steps(state)}
    ranks, peers = len(state.load), anything.config.peers
    here = [status in (LIVE, DEAD) for status in state.status]
    for party, live in enumerate(here):
        for name in ("Join",) if live else ("Leave", "Fence"):
            yield f"{name}({party})", _call(core, name, party, 0, peers), None
    keyed = ("BeginLoad", "DeclareLoaded", "CallOff", "Update", "ReportOk", "ReportFailed", "Updated")
    everything: list[tuple[str, int, bool]] = [
        *((name, 0, here[2 * ranks]) for name in ("Take", "BeginLoad", "DeclareLoaded", "CallOff")),
        *(("PeerReady", peer, here[2 * ranks]) for peer in range(1, peers + 2)),
        *(("PeerFailed", peer, here[2 * ranks]) for peer in range(1, peers + 2)),
        *((name, 0, True) for name in ("Request", "Update", "Free", "EndTimeout")),
        *((name, rank, here[rank]) for rank in range(ranks) for name in ("TakeLoad", "ReportOk", "ReportFailed")),
        *((name, rank, here[ranks + rank]) for rank in range(ranks) for name in ("Arrive", "Updated")),
        *(("Withdraw", rank, True) for rank in range(ranks)),
    ]
    for name, value, may in everything:
        whose = (
            (name, value) if name.startswith(("Peer", "TakeLoad", "Report", "Arrive", "Updated", "With")) else (name,)
        )
        answer: tuple[object] | None = (0 if name == "Request" else False,) if may else None
        if whose not in enabled:
            yield f"{name}({value})", _call(core, name, value, core.request_number, peers), answer
        if name in keyed:
            for wrong in (core.request_number - 1, core.request_number + 1):
                yield f"{name}({value}) for {wrong}", _call(core, name, value, wrong, peers), answer
    for rank in range(ranks):
        may = here[rank]
        stale = partial(core.refuse_report, rank, core.request_number - 1)
        yield f"RefuseReport({rank})", stale, (True,) if may else None
