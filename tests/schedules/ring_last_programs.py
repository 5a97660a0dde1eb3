"""Programs over the shipping code that says which reader is the last one, on memory with store buffers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any

from fdcomm.errors import FencedError
from fdcomm.ring.layout import BEGUN, CURSOR, SEQ, TOLD, Shape
from fdcomm.ring.look import Look
from fdcomm.ring.members import fence
from fdcomm.ring.rank_port import RankPort
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.ring_bed import Bed, HeldLocks
from tests.schedules.ring_programs import never, scenario

__all__ = (
    "LARGE_PROGRAMS",
    "PROGRAMS",
    "RANDOM_PROGRAMS",
    "Port",
    "killed",
    "last_bed",
    "one_last",
    "returned",
    "two_last",
)


class Port(RankPort):
    """As it ships; the operation of the processor is one that the simulated memory knows."""

    def _fence(self) -> None:
        self._board.kernel.fence()

    def next(self, told: list[tuple[int, int]]) -> None:
        """Be done with the next message; note whether this reader was told that all have it."""
        self._consumer.begin(None, "get")
        self.end(told)

    def end(self, told: list[tuple[int, int]]) -> None:
        """The same when it was begun."""
        number = self.position + 1
        if self._end(number):
            told.append((number, self._place.line))

    def begin(self) -> None:
        """Begin it."""
        self._consumer.begin(None, "get")


def last_bed(scheduling: ControlledRuntime, ranks: int, messages: int, setters: Iterable[str] = ()) -> Bed:
    """Return a ring that holds messages. Only what the last reader goes by is late to reach memory."""
    shape = Shape(ranks, messages, 64)
    late = {shape.of_line(line, word) for line in range(shape.lines) for word in (CURSOR, TOLD)}
    bed = Bed(scheduling, shape, set(range(shape.nbytes // 8)) - late, setters)
    bed.board.locks = HeldLocks(bed.kernel, bed.runtime)
    for number in range(1, messages + 1):
        bed.words[shape.of_slot(number - 1, SEQ)] = number
    return bed


def port_of(bed: Bed, rank: int, kind: type[Port] = Port) -> Port:
    """Become the reader of a rank."""
    memory: Any = SimpleNamespace(board=bed.board, shape=bed.shape, payloads=())
    return kind(memory, rank, Look(bed.board), never(bed))


def one_last(scheduling: ControlledRuntime, ranks: int = 2, messages: int = 1, kind: type[Port] = Port) -> Scenario:
    """Every rank takes every message: of each exactly one reader is told."""
    bed = last_bed(scheduling, ranks, messages)
    told: list[tuple[int, int]] = []
    ports = [port_of(bed, rank, kind) for rank in range(ranks)]
    for port in ports:
        port.begin()

    def read(port: Port) -> None:
        port.end(told)
        for _ in range(messages - 1):
            port.next(told)

    def final() -> None:
        numbers = sorted(number for number, _ in told)
        assert numbers == list(range(1, messages + 1)), f"told were {told} (message, line)"

    return scenario(bed, {f"reader {rank}": partial(read, port) for rank, port in enumerate(ports)}, final)


class _StoresAndLooks(Port):
    """The obvious steps: store, and then look at all others."""

    def _end(self, number: int) -> bool:
        self._consumer.end()
        return self._all_others(number)


class _StoresFencesLooks(_StoresAndLooks):
    """The same with a fence between."""

    def _end(self, number: int) -> bool:
        self._consumer.end()
        self._fence()
        return self._all_others(number)


def two_last(scheduling: ControlledRuntime, shipped: bool, fenced: bool = False) -> Scenario:
    """Two readers, by the obvious steps or ours."""
    obvious = _StoresFencesLooks if fenced else _StoresAndLooks
    return one_last(scheduling, kind=obvious if shipped else Port)


def killed(scheduling: ControlledRuntime, kind: type[Port] = Port) -> Scenario:
    """One of two is killed at any moment: not both are told, and who goes on ends."""
    bed = last_bed(scheduling, 2, 1)
    told: list[tuple[int, int]] = []
    ports = [port_of(bed, rank, kind) for rank in range(2)]
    for port in ports:
        port.begin()

    def kill() -> None:
        bed.runtime.kill("reader 0")
        bed.kernel.free("reader 0")

    def final() -> None:
        assert len(told) <= 1, f"told were {told} (message, line)"
        assert ports[1].position == 1

    tasks: dict[str, Callable[[], None]] = {
        "reader 0": partial(ports[0].end, told),
        "reader 1": partial(ports[1].end, told),
        "killer": kill,
    }
    return scenario(bed, tasks, final)


def returned(scheduling: ControlledRuntime, kind: type[Port] = Port) -> Scenario:
    """A reader is given up where it may be, and goes on later; its rank comes back: nobody is told what another was.

    The rank's second reader and the other rank take one more message.
    """
    bed = last_bed(scheduling, 2, 2, setters=("reader 0",))
    told: list[tuple[int, int]] = []
    old, other = port_of(bed, 0, kind), port_of(bed, 1, kind)
    old.begin()
    other.begin()
    other.end(told)
    bed.words[bed.shape.of_line(1, BEGUN)] = 1

    def read() -> None:
        with contextlib.suppress(FencedError):
            old.end(told)

    def come_back() -> None:
        fence(bed.board, 0, never(bed))
        port = port_of(bed, 0, kind)
        if port.position < 2:  # else the other rank has begun it
            port.next(told)

    def final() -> None:
        numbers = [number for number, _ in told]
        assert len(numbers) == len(set(numbers)), f"told were {told} (message, line)"

    tasks: dict[str, Callable[[], None]] = {
        "reader 0": read,
        "second": come_back,
        "reader 1": partial(other.next, told),
    }
    return scenario(bed, tasks, final)


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict((_program("the last of 2 readers", one_last, Bound()),))

LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("the last reader is killed", killed, Bound()),
        _program("the last of 2 readers, twice", partial(one_last, messages=2), Bound()),
    )
)

_MANY: dict[str, Callable[[ControlledRuntime], Scenario]] = {
    "the last reader is given up, and its rank comes back": returned,
    "the last of 3 readers": partial(one_last, ranks=3),
}

# Too many schedules to try all.
RANDOM_PROGRAMS: dict[str, Program] = {name: Program(name, build, {}) for name, build in _MANY.items()}
