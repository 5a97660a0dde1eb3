"""Programs over the channels that extend dispatch and over the done queue, and the shipped cache queue beside ours."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from fdcomm.errors import FencedError, PeerLostError
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.service_driver import hello
from tests.schedules.testbed import Testbed

__all__ = ("PROGRAMS", "RACES", "race")

_POLL_S = 0.001


def deliver(runtime: ControlledRuntime, protocol: str, items: int, depth: int) -> Scenario:
    """One putter, two readers, everything blocking: each reader gets each item once and in order."""
    bed = Testbed(runtime, 2, depth, protocol)
    engine, readers = bed.session(0, "producer"), bed.readers()

    def put() -> None:
        for _ in range(items):
            bed.put(engine)

    def read(rank: int) -> None:
        for _ in range(items):
            bed.get(readers[rank], rank)

    def final() -> None:
        expected = list(range(1, items + 1))
        assert all(ids == expected for ids in bed.got.values()), f"got {bed.got}"
        assert bed.core.num_tasks() == 0

    return bed.scenario({"put": put, "read 0": partial(read, 0), "read 1": partial(read, 1)}, final)


def first_put(runtime: ControlledRuntime, protocol: str) -> Scenario:
    """A put before any rank has come, and ranks that come meanwhile: it waits for none of them."""
    bed = Testbed(runtime, 2, 1, protocol)
    engine = bed.session(0, "producer")

    def put() -> None:
        bed.put(engine, 0.0)

    def come(rank: int) -> None:
        bed.get(bed.session(rank), rank)

    def final() -> None:
        assert bed.got == {0: [1], 1: [1]}

    return bed.scenario({"put": put, "rank 0": partial(come, 0), "rank 1": partial(come, 1)}, final)


def clear_half_read(runtime: ControlledRuntime) -> Scenario:
    """Tasks are read, put and cleared at the same time: whatever one rank has taken, the other takes (P3.1, P3.4)."""
    bed = Testbed(runtime, 2, 4, "bitmask")
    engine, readers = bed.session(0, "producer"), bed.readers()
    bed.put(engine, 0.0)

    def manager() -> None:
        bed.put(engine, 0.0)
        bed.service.act(engine, "bitmask", "clear_data")
        bed.put(engine, 0.0)

    def read(rank: int) -> None:
        for _ in range(2):
            bed.get(readers[rank], rank, 0.0)

    def final() -> None:
        for rank, session in enumerate(readers):
            while bed.get(session, rank, 0.0):
                pass
        assert bed.got[0] == bed.got[1], f"the ranks executed {bed.got}"

    return bed.scenario({"manager": manager, "read 0": partial(read, 0), "read 1": partial(read, 1)}, final)


def dead_half_read(runtime: ControlledRuntime) -> Scenario:
    """Rank 1 is lost while the queue is full and a put waits; rank 0 reads; the clear returns at once (P3.3, B09)."""
    bed = Testbed(runtime, 2, 1, "bitmask")
    engine, clearer, readers = bed.session(0, "producer"), bed.session(0, "producer"), bed.readers()
    bed.put(engine, 0.0)
    bed.get(readers[0], 0)

    def put() -> None:
        with bed.expect(PeerLostError):
            bed.put(engine)

    def clear() -> None:
        _, taken = bed.service.act(clearer, "bitmask", "clear_data")
        assert taken in ((0,), ()), f"the clear says that {taken} have taken the head"

    def network() -> None:
        bed.service.lose_session(readers[1])

    def final() -> None:
        assert bed.raised == ["PeerLostError"]

    return bed.scenario({"put": put, "clear": clear, "network": network}, final)


class _Results:
    """A done queue: a rank posts two results, a taker handles them one by one."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.runtime = runtime
        config = HostConfig(1, kind="cache")
        words = runtime.words(words_needed(config))
        self.service = HostService(config, runtime, words, only=("done",))
        said = hello(1, 0, "producer", kind="cache")
        self.rank, self.taker, self.reset = (self.service.open_session(said)["session"] for _ in range(3))
        self.posted: list[int] = []
        self.taken: list[int] = []
        self.handled: list[int] = []

    def post(self) -> None:
        for number in (1, 2):
            self.service.act(self.rank, "done", "put", b"%d" % number, "post")
            self.runtime.access("posted", change=True)
            self.posted.append(number)

    def take(self) -> None:
        for _ in range(4):
            for payload in self.service.act(self.taker, "done", "take", 1, "take"):
                self.taken.append(int(payload))
                self.runtime.access("handled", change=True)
                self.handled.append(int(payload))

    def is_empty(self) -> bool:
        empty: bool = self.service.act(self.reset, "done", "view")["empty"]
        return empty


def results(runtime: ControlledRuntime) -> Scenario:
    """Results are posted, taken and asked for: 'empty' only when every one was handled (B11)."""
    bed = _Results(runtime)

    def ask() -> None:
        runtime.access("posted", change=False)
        before = list(bed.posted)
        if bed.is_empty():
            runtime.access("handled", change=False)
            assert set(before) <= set(bed.handled), f"empty, and of {before} only {bed.handled} were handled"

    def final() -> None:
        assert bed.handled == sorted(bed.handled)

    return Scenario({"post": bed.post, "take": bed.take, "ask": ask}, final=final)


def results_of_the_dead(runtime: ControlledRuntime) -> Scenario:
    """The taker's connection is lost at any moment: no result is given twice, and none is held for ever."""
    bed = _Results(runtime)

    def take() -> None:
        with contextlib.suppress(FencedError):
            bed.take()

    def network() -> None:
        bed.service.lose_session(bed.taker)

    def final() -> None:
        left = []
        while payloads := bed.service.act(bed.reset, "done", "take", 1, "take"):
            left += [int(payload) for payload in payloads]
        assert bed.is_empty(), "a taker that is gone holds a result for ever"
        assert bed.taken + left == [1, 2], f"the dead took {bed.taken}, and {left} were left"

    return Scenario({"post": bed.post, "take": take, "network": network}, final=final)


_PROTOCOLS = ("bitmask", "cache_info", "connect")


def _deliver(protocol: str) -> Program:
    return Program(f"deliver {protocol}", partial(deliver, protocol=protocol, items=2, depth=1), {})


PROGRAMS: dict[str, dict[str, tuple[Program, Bound]]] = {
    name: {
        "1 putter, 2 readers, 2 items": (
            _deliver(name),
            Bound(),
        ),
        "a put before any rank has come": (
            Program(f"first put {name}", partial(first_put, protocol=name), {}),
            Bound(),
        ),
    }
    for name in _PROTOCOLS
}
PROGRAMS["bitmask"] |= {
    "put, get and clear of two ranks": (Program("clear half read", clear_half_read, {}), Bound()),
    "a rank is lost after its peer has read": (Program("dead half read", dead_half_read, {}), Bound(spurious=1)),
    "results are posted, taken, asked for": (Program("results", results, {}), Bound()),
    "results, and their taker dies": (Program("results of the dead", results_of_the_dead, {}), Bound()),
}


class ShippedCache:
    """The shipped steps: a list, a number of bits, and a lock that put and clear give back while they wait."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._runtime = runtime
        self._lock = runtime.condition()
        self._sync = runtime.words(1)
        self._tasks: list[str] = []

    def put(self, task: str) -> None:
        """Wait for a number that is 0 or full, then set it to 0 and append."""
        self._settled()
        with self._lock:
            self._runtime.store(self._sync, 0, 0)
            self._change([*self._tasks, task])

    def clear(self) -> None:
        """The same, and empty the list."""
        self._settled()
        with self._lock:
            self._runtime.store(self._sync, 0, 0)
            self._change([])

    def get(self, rank: int) -> str:
        """The first task, unless the rank's bit is set; "" is nothing."""
        with self._lock:
            bits = self._runtime.load(self._sync, 0)
            self._runtime.access("list", change=False)
            if bits >> rank & 1 or not self._tasks:
                return ""
            task, bits = self._tasks[0], bits | 1 << rank
            if bits >= 3:
                self._change(self._tasks[1:])
                bits = 0
            self._runtime.store(self._sync, 0, bits)
            return task

    def _settled(self) -> None:
        # Once a look finds the number settled, nobody looks again: the lock is free in between.
        while self._runtime.load(self._sync, 0) not in (0, 3):
            self._runtime.sleep(_POLL_S)

    def _change(self, tasks: list[str]) -> None:
        self._runtime.access("list", change=True)
        self._tasks = tasks


class OurCache:
    """The shipping host service."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.bed = Testbed(runtime, 2, 8, "bitmask")
        self._manager, self._readers = self.bed.session(0, "producer"), self.bed.readers()

    def put(self, task: str) -> None:
        """Put."""
        with self.bed.expect(FencedError):
            self.bed.service.act(self._manager, "bitmask", "put_tasks", task.encode(), None)

    def clear(self) -> None:
        """Clear."""
        self.bed.service.act(self._manager, "bitmask", "clear_data")

    def get(self, rank: int) -> str:
        """Get what is there."""
        _, payload, _ = self.bed.service.act(self._readers[rank], "bitmask", "get_tasks", 0, 0.0)
        return "" if payload is None else payload.decode()


def _twice(cache: ShippedCache | OurCache) -> Scenario:
    """P3.1: put(C) while the ranks read A and B."""
    got: dict[int, list[str]] = {0: [], 1: []}
    cache.put("A")
    cache.put("B")

    def read(rank: int) -> None:
        for _ in range(3):
            if task := cache.get(rank):
                got[rank].append(task)

    def final() -> None:
        for rank, tasks in got.items():
            assert len(set(tasks)) == len(tasks), f"rank {rank} executed {tasks}"

    return Scenario(
        {"put": lambda: cache.put("C"), "rank 0": partial(read, 0), "rank 1": partial(read, 1)}, final=final
    )


def _split(cache: ShippedCache | OurCache) -> Scenario:
    """P3.4: clear while the ranks read."""
    got: dict[int, list[str]] = {0: [], 1: []}
    cache.put("A")

    def read(rank: int) -> None:
        if task := cache.get(rank):
            got[rank].append(task)

    def final() -> None:
        for rank in (0, 1):
            read(rank)
        assert got[0] == got[1], f"rank 0 executed {got[0]} and rank 1 {got[1]}"

    return Scenario({"clear": cache.clear, "rank 0": partial(read, 0), "rank 1": partial(read, 1)}, final=final)


RACES: dict[str, Callable[[ShippedCache | OurCache], Scenario]] = {"P3.1": _twice, "P3.4": _split}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the shipped steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name](ShippedCache(runtime) if shipped else OurCache(runtime))

    return Program(f"{name}, {'shipped' if shipped else 'ours'}", build, {})
