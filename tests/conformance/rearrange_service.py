"""Level V3 on the rearrange channel of a host: the edges that it can take, each taken by the call of a handle.

A host cannot free what is done by itself: the coordinator does it, or the next request, in its own critical section.
"""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

from fdcomm.errors import (
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    FencedError,
    RearrangeBusyError,
    RearrangeEndedError,
)
from fdcomm.host.rearrange_channel import RearrangeChannel
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.transports.inproc import InprocTransport
from models.graph import Edge, build
from models.kernel import Action
from models.rearrange import Config, Rearrange, State
from models.rearrange_state import AWAY, LIVE
from tests.conformance.driving import Deviation, ServiceCoverage, difference, must_raise
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.rearrange_core import Driver, address_of, outcome_of
from tests.conformance.rearrange_moves import host_walks, post_of
from tests.conformance.recording import Memory

__all__ = ("CHANNEL", "ServiceDriver", "drive_service")

CHANNEL = "rearrange"
_NEVER = 99
_LIMIT_S = 1e10
_UNSEEN = ("Crash", "RefuseReport")


class _Runtime(GatedRuntime):
    """``late``: the request's time limit has passed."""

    late = False

    def monotonic(self) -> float:
        return 10 * _LIMIT_S if self.late else super().monotonic()


class ServiceDriver:
    """A service, a session for each party that is there, and what their processes know (``env``)."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.recorder = Memory()
        self.runtime = _Runtime()
        self.gone: set[int] = set()
        words = memoryview(bytearray(8 * words_needed(HostConfig(config.ranks)))).cast("q")
        self.service = HostService(
            HostConfig(tp_size=config.ranks),
            self.runtime,
            words,
            recorder=self.recorder,
            is_connected=lambda session: session not in self.gone,
            only=(CHANNEL,),
        )
        channel = self.service.channel(CHANNEL)
        assert isinstance(channel, RearrangeChannel)
        self.env = Driver(config, lambda ranks: channel._core, join=False)
        self.other = self.open(0)
        self.holder: dict[int, InprocTransport] = {}
        self.closed: list[InprocTransport] = []
        self.waiting: dict[int, GatedCall] = {}
        for party in range(2 * config.ranks + 1):
            if party not in config.movers:
                self.join(party)
        self.recorder.take()

    def open(self, client_id: int) -> InprocTransport:
        """Open a session."""
        transport = InprocTransport(self.service)
        ranks, role = self.config.ranks, "producer"
        hello = Hello(
            version=PROTOCOL_VERSION, kind="worker", num_client=ranks, client_id=client_id, dp_rank=0, role=role, pid=0
        )
        transport.open_session(hello)
        return transport

    def state(self) -> State:
        """Return the model's state that the service is in."""
        return self.env.state()

    def act(self, transport: InprocTransport, action: str, *args: Any) -> Any:
        """Call the channel."""
        return transport.call("act", CHANNEL, action, *args, "call", timeout=0.0)

    def join(self, party: int) -> None:
        """Become the party, by a call that does nothing else: it is about a request that was never made."""
        ranks = self.config.ranks
        transport = self.open(party % ranks if party < 2 * ranks else 0)
        must_raise(ConfigError, partial(self.claim, transport, party))
        self.holder[party] = transport

    def claim(self, transport: InprocTransport, party: int) -> None:
        """A call that only the party may make, and that then fails."""
        ranks = self.config.ranks
        if party == 2 * ranks:
            self.act(transport, "declare", _NEVER, None)
        elif party < ranks:
            self.act(transport, "report", _NEVER, None)
        else:
            self.act(transport, "updated", _NEVER)

    def take(self, action: Action, before: State, after: State) -> None:
        """Make the call that does a step, and check what its caller is told."""
        number, name = before.running, action.name
        value = action.params[0][1] if action.params else 0
        getattr(self, f"_{name.lower()}", self._coordinate)(action, value, before, after)
        self.env.note(action, number)
        self._wake(before, after)

    # -- what a step is here --------------------------------------------------------------------------------------

    def _join(self, action: Action, party: int, before: State, after: State) -> None:
        self.join(party)

    def _crash(self, action: Action, party: int, before: State, after: State) -> None:
        self.gone.add(self.holder[party]._session)

    def _leave(self, action: Action, party: int, before: State, after: State) -> None:
        holder = self.holder.pop(party)
        self.closed.append(holder)
        (holder.abandon if action.name == "Fence" else holder.close)()

    _fence = _leave

    def _request(self, action: Action, value: int, before: State, after: State) -> None:
        addresses = tuple(address_of(peer) for peer in range(1, self.config.peers + 1))
        _equal("request", self.act(self.other, "request", addresses, _LIMIT_S), after.running)

    def _update(self, action: Action, value: int, before: State, after: State) -> None:
        _equal("update", self.act(self.other, "update", before.running), True)

    def _endtimeout(self, action: Action, value: int, before: State, after: State) -> None:
        self.runtime.late = True
        view = self.other.call("act", CHANNEL, "view", timeout=0.0)
        self.runtime.late = False
        _equal("phase", view["phase"], after.phase)

    def _coordinate(self, action: Action, value: int, before: State, after: State) -> None:
        number, name = before.running, action.name
        call = partial(self.act, self.holder[2 * self.config.ranks])
        if name == "Take":
            addresses = tuple(address_of(peer) for peer in range(1, self.config.peers + 1))
            _equal("take", call("take", 0.0), (number, addresses))
        elif name == "BeginLoad":
            call("begin_load", number, pickle.dumps(number))
        elif name in ("PeerReady", "PeerFailed"):
            call("peer", number, address_of(value), None if name == "PeerReady" else "silence")
        elif name in ("DeclareLoaded", "CallOff"):
            call("declare", number, None if name == "DeclareLoaded" else "no")
        else:
            _equal("free", call("free"), True)

    def _takeload(self, action: Action, rank: int, before: State, after: State) -> None:
        taken = self.act(self.holder[rank], "take_load", 0.0)
        _equal("take_load", taken, (before.running, pickle.dumps(before.running)))

    def _reportok(self, action: Action, rank: int, before: State, after: State) -> None:
        self.act(self.holder[rank], "report", before.job[rank], None if action.name == "ReportOk" else "no file")

    _reportfailed = _reportok

    def _refusereport(self, action: Action, rank: int, before: State, after: State) -> None:
        error = must_raise(RearrangeEndedError, partial(self._reportok, action, rank, before, after))
        _equal("request", error.request, before.job[rank])

    def _arrive(self, action: Action, rank: int, before: State, after: State) -> None:
        transport = self.holder[self.config.ranks + rank]
        self.waiting[rank] = self.runtime.start(lambda: self.act(transport, "take_update", 1.0))

    def _withdraw(self, action: Action, rank: int, before: State, after: State) -> None:
        call = self.waiting.pop(rank)
        call.expired = True
        call.wake()
        missing = tuple(other for other, worker in enumerate(before.worker) if worker == "idle")
        if not isinstance(call.error, CommTimeoutError) or call.error.missing != missing:
            raise Deviation(f"a worker whose limit passed was told {call.error!r}, and {missing} had not come")

    def _updated(self, action: Action, rank: int, before: State, after: State) -> None:
        self.act(self.holder[self.config.ranks + rank], "updated", before.running)

    # -- waiting workers ------------------------------------------------------------------------------------------

    def _wake(self, before: State, after: State) -> None:
        """Workers that wait look again, and are told what has become of it."""
        for rank, call in list(self.waiting.items()):
            if not call.done and call.notified:
                call.wake()
            if after.worker[rank] == "here":
                if call.done:
                    raise Deviation(f"the worker of rank {rank} was told {call.result!r} {call.error!r} too early")
                continue
            del self.waiting[rank]
            if not call.done:
                raise Deviation(f"the worker of rank {rank} was not told of the end of its wait")
            if after.worker[rank] == "swap":
                _equal("take_update", call.result, after.running)
            elif after.status[self.config.ranks + rank] == AWAY:
                _equal("error", type(call.error), FencedError)
            else:
                _equal("error", type(call.error), RearrangeEndedError)

    # -- refusals ---------------------------------------------------------------------------------------------------

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``: each raises its error or says "nothing", and changes nothing."""
        ranks, tried, number = self.config.ranks, 0, state.running
        if state.phase not in ("FREE", "DONE"):
            error = must_raise(RearrangeBusyError, partial(self.act, self.other, "request", (), None))
            _equal("running", error.request, number)
            must_raise(CommTimeoutError, partial(self.act, self.other, "wait", number, 0.0))
            tried += 2
        for old in range(1, number + (state.phase in ("FREE", "DONE"))):
            told = self.act(self.other, "wait", old, 0.0)
            _equal("outcome", told["what"], state.outcome[old - 1])
            must_raise(RearrangeEndedError, partial(self.act, self.other, "update", old))
            tried += 2
        for party, status in enumerate(state.status):
            if status == LIVE:
                stranger = self.open(party % ranks)
                must_raise(DuplicateRankError, partial(self.claim, stranger, party))
                stranger.close()
                tried += 1
            if status == AWAY:
                continue
            if party < ranks and state.load[party] != "asked":
                _equal("take_load", self.act(self.holder[party], "take_load", 0.0), None)
            elif party == 2 * ranks and state.phase != "ASKED":
                _equal("take", self.act(self.holder[party], "take", 0.0), None)
            elif ranks <= party < 2 * ranks and _nothing_to_exchange(state, party - ranks):
                _equal("take_update", self.act(self.holder[party], "take_update", 0.0), 0)
            tried += 1
        for transport in self.closed:
            must_raise(FencedError, partial(self.act, transport, "free"))
            tried += 1
        return tried

    def close(self) -> None:
        """End the calls that still wait."""
        self.service.shut_down()
        for call in self.waiting.values():
            if not call.done:
                call.wake()


def _nothing_to_exchange(state: State, rank: int) -> bool:
    """There is no exchange, or the rank's part in it is over, perhaps with the process that had it."""
    return state.phase != "UPDATING" or state.worker[rank] in ("done", "lost")


def _equal(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Deviation(f"{what} was {found!r} instead of {wanted!r}")


def drive_service(config: Config) -> ServiceCoverage:
    """Take every edge of a host through the service."""
    graph = build(Rearrange(config))
    coverage = ServiceCoverage(of=len(graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in host_walks(graph, config):
        coverage.walks += 1
        driver = ServiceDriver(config)
        done: list[str] = []
        try:
            for before, action, after in walk:
                done.append(str(action))
                if before not in visited:
                    visited.add(before)
                    coverage.refusals += driver.refusals(before)
                    _check(driver, before, None)
                driver.take(action, before, after)
                _check(driver, after, (before, action, after))
                seen.add((before, action, after))
        except Exception as error:
            raise Deviation(f"{error!r} in {', '.join(done)}") from error
        finally:
            driver.close()
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage


def _check(driver: ServiceDriver, wanted: State, edge: Edge[State] | None) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    shown = [(event["action"], event["args"], event["post"]) for event in driver.recorder.take()]
    expected = []
    if edge is not None and edge[1].name not in _UNSEEN:
        args = {"addresses": driver.config.peers} if edge[1].name == "Request" else dict(edge[1].params)
        expected = [(edge[1].name, args, post_of(wanted, driver.config.peers))]
    if shown != expected:
        raise Deviation(f"recorded {shown} instead of {expected}")
    if edge is not None and (ended := outcome_of(edge[1], edge[0], edge[2])) is not None:
        told = driver.act(driver.other, "wait", wanted.running, 0.0)
        _equal("outcome", (told["what"], told["missing"]), ended[:2])
