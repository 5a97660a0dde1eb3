"""The shipping host service on a controlled runtime, with its checks: what every program of this folder stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.host.channel import DispatchChannel
from fdcomm.host.layout import BROADCASTS
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime, Scenario
from models.dispatch_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("Testbed",)


class _Book(dict[int, int]):
    """The service's book of sessions, which its threads use without a lock: every use is a scheduling point."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        super().__init__()
        self._runtime = runtime

    def get(self, session: int, default: Any = None) -> Any:
        self._runtime.access("sessions", change=False)
        return super().get(session, default)

    def pop(self, session: int, default: Any = None) -> Any:
        self._runtime.access("sessions", change=True)
        return super().pop(session, default)

    def __setitem__(self, session: int, replica: int) -> None:
        self._runtime.access("sessions", change=True)
        super().__setitem__(session, replica)


class Testbed(HostBed):
    """A host service of dispatch or one that extends it, and the record of what its callers got."""

    def __init__(self, runtime: ControlledRuntime, ranks: int, depth: int = 1, protocol: str = "dispatch") -> None:
        kind = next(kind for kind, names in BROADCASTS.items() if protocol in names)
        super().__init__(runtime, HostConfig(ranks, depth=depth, kind=kind), protocol, accept)
        self.base = BROADCASTS[kind].index(protocol) * (1 + ranks)
        self.service._replica_of = _Book(runtime)
        self.got: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
        self.raised: list[str] = []

    def readers(self) -> list[int]:
        """Open a session of a reader for each rank."""
        return [self.session(rank, "reader") for rank in self.got]

    def put(self, session: int, timeout: float | None = None) -> int:
        """Put a batch; its payload says whose it is."""
        call: int = self.service.act(session, self.protocol, "put_tasks", b"batch of %d" % session, timeout)
        return call

    def get(self, session: int, rank: int, timeout: float | None = None) -> int:
        """Get a batch and note its id; 0 is nothing."""
        id_: int
        id_, payload, _ = self.service.act(session, self.protocol, "get_tasks", 0, timeout)
        if id_:
            assert payload is not None
            assert payload.startswith(b"batch of "), f"the payload of batch {id_} is {payload!r}"
            self.got[rank].append(id_)
        return id_

    def expect(self, *kinds: type[FdcommError]) -> _Expected:
        """Note an error of these kinds instead of failing."""
        return _Expected(self, kinds)

    def scenario(self, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None] | None = None) -> Scenario:
        """Return the scenario of these tasks, with the checks of this testbed."""

        def at_the_end() -> None:
            if final is not None:
                final()
                self.invariant()
            self.judge()

        return Scenario(tasks, invariant=self.invariant, final=at_the_end)

    # -- checks --------------------------------------------------------------------------------------------------

    @property
    def core(self) -> Any:
        """The protocol's state."""
        channel = self.service.channel(self.protocol)
        assert isinstance(channel, DispatchChannel)
        return channel._core

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        for rank, ids in self.got.items():
            assert all(a < b for a, b in pairwise(ids)), f"rank {rank} got {ids}"
        if not self.runtime.idle():
            return
        core = self.core
        unread = bool(core.log)
        words = [self.words[self.base + number] for number in range(1 + core.ranks)]
        assert (words[0] != 0) == unread, f"exist is {words[0]}, unread batches: {[e.id for e in core.log]}"
        for rank in self.got:
            ticket = next((e.id for e in core.log if rank not in e.taken), 0)
            assert words[1 + rank] == ticket, f"ticket of rank {rank} is {words[1 + rank]}, not {ticket}"
        assert len(core.log) <= core.depth, "more batches than the depth"
        waiting = [call.id for call in core.waiting]
        assert waiting == sorted(set(waiting)), f"calls wait in the order {waiting}"
        assert all(e.id < id_ for e in core.log for id_ in waiting), "a call was overtaken"
        assert all(call.producer in core.prod_seen for call in core.waiting), "a call of a producer that is gone"
        assert all(len(e.taken) < core.ranks for e in core.log), "a batch that all have taken is still there"


class _Expected:
    """``with`` block that notes an expected error's name in ``bed.raised``."""

    def __init__(self, bed: Testbed, kinds: tuple[type[FdcommError], ...]) -> None:
        self._bed = bed
        self._kinds = kinds

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, self._kinds):
            self._bed.raised.append(type(error).__name__)
            return True
        return False
