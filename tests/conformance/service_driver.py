"""Drives the host's service by the model's labels: sessions over the in-process transport, waiting puts in threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdcomm.core.dispatch import Dispatch as Core
from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    HostLostError,
    PeerLostError,
)
from fdcomm.host.channel import DispatchChannel
from fdcomm.host.layout import BROADCASTS, WITHOUT
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.transports.inproc import InprocTransport
from models.dispatch_state import DEAD, DOWN, LIVE, LOST, UP, Call, Config, State
from models.kernel import Action
from tests.conformance.core_driver import abstract
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.recording import Memory

__all__ = ("ServiceDriver", "hello")

_NO_TICKET = 1 << 40

Event = tuple[Action, Mapping[str, Any], Mapping[str, Any]]


def hello(ranks: int, client_id: int, role: str | None, dp: int = 0, kind: str = "worker") -> Hello:
    """Return what a handle says when it connects."""
    return Hello(
        version=PROTOCOL_VERSION, kind=kind, num_client=ranks, client_id=client_id, dp_rank=dp, role=role, pid=0
    )


class ServiceDriver:
    """A service with ``config.producers`` producers connected, as in the model's initial state.

    ``protocol`` is dispatch or one that extends it; only its channel runs.
    """

    def __init__(self, config: Config, protocol: str = "dispatch") -> None:
        self.config = config
        self.protocol = protocol
        self.kind = next(kind for kind, names in BROADCASTS.items() if protocol in names)
        self.runtime = GatedRuntime()
        self.recorder = Memory(protocol)
        host = HostConfig(tp_size=config.ranks, depth=config.depth, kind=self.kind)
        words = memoryview(bytearray(8 * words_needed(host))).cast("q")
        self.gone: set[int] = set()
        self._clears: list[tuple[Any, ...]] = [] if "clear_data" in WITHOUT.get(protocol, ()) else [("clear_data",)]
        self.service = HostService(
            host,
            self.runtime,
            words,
            recorder=self.recorder,
            is_connected=lambda session: session not in self.gone,
            only=(protocol,),
        )
        first = BROADCASTS[self.kind].index(protocol) * (1 + config.ranks)
        self.words = words[first : first + 1 + config.ranks]
        self.readers: dict[int, InprocTransport] = {}
        self.producers: dict[int, InprocTransport] = {}
        self.waiting: dict[int, GatedCall] = {}
        self.status: list[str] = ["away"] * config.ranks
        self.life: list[str] = [DOWN] * config.producers
        self.got: list[tuple[int, ...]] = [()] * config.ranks
        self.seen = [0] * config.producers
        self._number: dict[int, int] = {}  # the host's number of a model's producer, the newest one
        for producer in range(config.producers):
            self.step(Action("Connect", (("producer", producer),)))

    def core(self) -> Core[Any]:
        """Return the core inside."""
        channel = self.service.channel(self.protocol)
        assert isinstance(channel, DispatchChannel)
        return channel._core

    def state(self) -> State:
        """Return the model's state that the service is in."""
        core = self.core()
        model_number = {number: producer for producer, number in self._number.items()}
        for producer, number in self._number.items():
            self.seen[producer] = core.prod_seen.get(number, self.seen[producer])
        dead_ranks = {rank for rank, status in enumerate(self.status) if status == DEAD}
        dead_producers = {p for p, life in enumerate(self.life) if life == DEAD}
        up = [self._number[p] in core.prod_seen for p in range(self.config.producers)]
        state = abstract(core, dead_ranks, dead_producers, self.got, self.seen, up)
        return state._replace(
            waiting=tuple(Call(model_number[call.producer], call.id) for call in core.waiting),
            exist=self.words[0] != 0,
        )

    def events(self) -> list[Event]:
        """Return the events since the last look, under the model's numbers; readers' own producer parts left out."""
        model_number = {number: producer for producer, number in self._number.items()}
        found = []
        for event in self.recorder.take():
            args = dict(event.get("args", {}))
            if "producer" in args:
                if args["producer"] not in model_number:
                    continue
                args["producer"] = model_number[args["producer"]]
            found.append((Action(event["action"], tuple(args.items())), event["result"], event["post"]))
        return found

    def step(self, action: Action) -> None:
        """Take one step, and what must follow it in the same critical section. Checks what callers are told."""
        name, number = action.name, action.params[0][1]
        if name == "Join":
            self.readers[number] = self._open(number, "reader")
            self.status[number] = LIVE
        elif name == "Connect":
            self.producers[number] = self._open(-1, "producer")
            self._number[number] = max(self.core().prod_seen)  # numbers are never used again
            self.life[number] = UP
        elif name in ("Crash", "CrashProducer"):
            rank = name == "Crash"
            self.gone.add((self.readers if rank else self.producers)[number]._session)
            (self.status if rank else self.life)[number] = DEAD
        elif name in ("Leave", "Fence"):
            transport = self.readers[number]
            (transport.close if name == "Leave" else transport.abandon)()
            self.status[number] = "away" if name == "Leave" else LOST
        elif name in ("Disconnect", "FenceProducer"):
            self._end_producer(number, lost=name == "FenceProducer")
        elif name == "CallPut":
            self._call_put(number)
        elif name in ("PutTasks", "PutLost", "PutTimeout"):
            self._wake(name, action.params[1][1])
        elif name == "GetTasks":
            self._get(number)
        else:
            caller = (self.readers if name == "ClearRank" else self.producers)[number]
            answer = caller.call("act", self.protocol, "clear_data", timeout=0.0)[1]
            log = self.core().log
            if answer != (tuple(sorted(log[0].taken)) if log else ()):
                raise AssertionError(f"{name} says that ranks {answer} have taken the oldest of {log}")

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.service.shut_down()
        for call in self.waiting.values():
            call.wake()
            self._must_raise(call, HostLostError)

    # -- what must be refused ------------------------------------------------------------------------------------

    def refusals(self, state: State) -> int:
        """Make the calls that cannot succeed in ``state``: each must raise its error or say "nothing"."""
        tried = 0
        for rank, status in enumerate(state.status):
            reader = self.readers.get(rank)
            if status == LIVE:
                self._refused(DuplicateRankError, lambda rank=rank: self._open(rank, "reader"))
                unread = next((entry.id for entry in state.log if rank not in entry.taken), 0)
                tickets = [ticket for ticket in range(state.calls + 2) if ticket != unread]
                for ticket in tickets if unread == 0 else tickets[1:]:
                    answer = self.readers[rank].call("act", self.protocol, "get_tasks", ticket, 0.0, timeout=0.0)
                    if answer != (0, None, not ticket and not state.log):
                        raise AssertionError(f"get_tasks(ticket={ticket}) of rank {rank} answered {answer}")
                    tried += 1
                tried += 1
            elif reader is not None and status != DEAD:
                for method, *args in (("get_tasks", 0, 0.0), *self._clears, ("put_tasks", b"", 0.0)):
                    self._refused(
                        FencedError, lambda r=reader, m=method, a=args: r.call("act", self.protocol, m, *a, timeout=0.0)
                    )
                    tried += 1
        for producer, life in enumerate(state.producer):
            if life == DOWN:
                gone = self.producers[producer]
                for method, *args in (*self._clears, ("put_tasks", b"", 0.0)):
                    self._refused(
                        FencedError, lambda g=gone, m=method, a=args: g.call("act", self.protocol, m, *a, timeout=0.0)
                    )
                    tried += 1
        return tried

    def _refused(self, kind: type[FdcommError], call: Any) -> None:
        try:
            answer = call()
        except kind:
            return
        raise AssertionError(f"a call that must raise {kind.__name__} returned {answer!r}")

    # -- helpers -------------------------------------------------------------------------------------------------

    def _open(self, client_id: int, role: str) -> InprocTransport:
        transport = InprocTransport(self.service)
        transport.open_session(hello(self.config.ranks, client_id, role, kind=self.kind))
        if role == "reader" and self.protocol not in ("dispatch", "bitmask"):
            # Here the first get claims the rank; one with a ticket that cannot be takes nothing.
            transport.call("act", self.protocol, "get_tasks", _NO_TICKET, 0.0, timeout=0.0)
        return transport

    def _call_put(self, producer: int) -> None:
        number = self.core().calls + 1
        transport = self.producers[producer]
        call = self.runtime.start(
            lambda: transport.call("act", self.protocol, "put_tasks", f"batch {number}".encode(), 1.0, timeout=1.0),
        )
        if not call.done:
            self.waiting[number] = call
        elif call.error is None:
            self._must_return(call, number)
        else:
            self._must_raise(call, PeerLostError)

    def _wake(self, name: str, number: int) -> None:
        call = self.waiting.pop(number)
        if name == "PutTimeout":
            call.expired = True
        elif not call.notified:
            raise AssertionError(f"{name} is possible, and the put call {number} sleeps without being notified")
        call.wake()
        if name == "PutTasks":
            self._must_return(call, number)
        else:
            self._must_raise(call, PeerLostError if name == "PutLost" else CommTimeoutError)

    def _end_producer(self, number: int, *, lost: bool) -> None:
        mine = [id_ for id_, call in self.waiting.items() if self._owner(id_) == number and not call.done]
        self.seen[number] = self.core().prod_seen[self._number[number]]
        transport = self.producers[number]
        (transport.abandon if lost else transport.close)()
        self.life[number] = DOWN
        for id_ in mine:
            call = self.waiting.pop(id_)
            if not call.notified:
                raise AssertionError(f"the withdrawn put call {id_} sleeps without being notified")
            call.wake()
            self._must_raise(call, FencedError)

    def _owner(self, id_: int) -> int:
        host_number = next(call.producer for call in self.core().waiting if call.id == id_)
        return next(p for p, number in self._number.items() if number == host_number)

    def _get(self, rank: int) -> None:
        id_, payload, _ = self.readers[rank].call("act", self.protocol, "get_tasks", 0, 0.0, timeout=0.0)
        if payload != f"batch {id_}".encode():
            raise AssertionError(f"rank {rank} was given {payload!r} as batch {id_}")
        self.got[rank] = (*self.got[rank], id_)

    def _must_return(self, call: GatedCall, number: int) -> None:
        if not call.done or call.error is not None or call.result != number:
            raise AssertionError(f"put call {number}: done {call.done}, {call.result!r}, {call.error!r}")

    def _must_raise(self, call: GatedCall, kind: type[FdcommError]) -> None:
        if not call.done or not isinstance(call.error, kind):
            raise AssertionError(f"a put call should have raised {kind.__name__}: {call.result!r}, {call.error!r}")
        core = self.core()
        wanted: tuple[int, ...] = ()
        if kind is PeerLostError:
            wanted = tuple(sorted(core.lost))
        elif kind is CommTimeoutError:
            wanted = core.missing()
        if kind in (PeerLostError, CommTimeoutError) and call.error.missing != wanted:
            raise AssertionError(f"{kind.__name__} names {call.error.missing} instead of {wanted}")
