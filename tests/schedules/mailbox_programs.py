"""Programs over the shipping mailbox and the shipping socket that threads share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.mailbox.results import Results
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from fdcomm.zsocket.locked import LockedSocket
from models.dispatch_trace import accept
from tests.conformance.mailbox_wire import Wire, piece
from tests.conformance.memory_socket import MemorySocket
from tests.schedules.hosted import judge
from tests.traces.layerwise_runs import Memory

__all__ = ("LONG", "PROGRAMS", "Bed")


class Bed:
    """The shipping bookkeeping on a controlled runtime; at the end the model judges what it recorded."""

    def __init__(self, runtime: ControlledRuntime, capacity: int = 4) -> None:
        self.runtime = runtime
        self.memory = Memory()
        self.wire = Wire(runtime)
        self.lost: list[int] = []
        self.results = Results(
            self.wire.send,
            capacity=capacity,
            ttl_s=None,
            undelivered=lambda lost: self.lost.append(lost.results),
            recorder=self.memory,
            runtime=runtime,
        )
        self.told: list[str] = []
        self.handles_told: list[str] = []

    def put(self, *numbers: int, last: int = 0, timeout: float | None = None) -> None:
        """Put results one by one."""
        for number in numbers:
            call = partial(self.results.put, "r", piece(number), number == last, timeout)
            self._tell(call, self.told)

    def handle(self, client: bytes = b"a") -> None:
        """A client asks."""
        self._tell(partial(self.results.handle, "r", client, None), self.handles_told)

    @staticmethod
    def _tell(call: Callable[[], object], told: list[str]) -> None:
        try:
            call()
        except FdcommError as error:
            told.append(type(error).__name__)

    def got(self) -> list[int]:
        """Return what the client has got."""
        return self.wire.got.get(b"a", [])

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks."""

        def at_the_end() -> None:
            final()
            judge(accept, self.memory.events)

        return Scenario(tasks, final=at_the_end)


def asking(runtime: ControlledRuntime, *, results: int) -> Scenario:
    """The handle comes before, between or after the results: the client gets all, in order, once."""
    bed = Bed(runtime)
    numbers = tuple(range(1, results + 1))

    def final() -> None:
        assert bed.got() == list(numbers), f"the client has got {bed.got()}"
        assert bed.results.stage("r") == "over"
        assert bed.told == []

    return bed.scenario({"tokens": lambda: bed.put(*numbers, last=results), "handles": bed.handle}, final)


def two_putters(runtime: ControlledRuntime) -> Scenario:
    """Two threads put results of one request, while its handle comes: nothing is left behind."""
    bed = Bed(runtime)

    def final() -> None:
        assert sorted(bed.got()) == [1, 2], f"the client has got {bed.got()}"
        assert bed.results.statistics().kept == 0

    return bed.scenario({"one": lambda: bed.put(1), "two": lambda: bed.put(2), "handles": bed.handle}, final)


def two_clients(runtime: ControlledRuntime) -> Scenario:
    """Two clients ask for one request: one gets everything."""
    bed = Bed(runtime)

    def final() -> None:
        assert list(bed.wire.got.values()) == [[1, 2]], f"{bed.wire.got}"
        assert bed.results.statistics().refused_handles == 1

    tasks = {"tokens": lambda: bed.put(1, 2, last=2), "a": bed.handle, "b": lambda: bed.handle(b"b")}
    return bed.scenario(tasks, final)


def dying(runtime: ControlledRuntime) -> Scenario:
    """The client goes while results come: what it has not got, somebody is told."""
    bed = Bed(runtime)
    bed.handle()

    def die() -> None:
        with bed.wire._changed:
            bed.wire.gone.add(b"a")

    def final() -> None:
        refused = bed.told.count("UndeliverableError")
        assert len(bed.got()) + sum(bed.lost) + max(0, refused - len(bed.lost)) == 2, (
            f"{bed.got()} {bed.lost} {bed.told}"
        )
        assert bed.results.statistics().kept == 0

    return bed.scenario({"tokens": lambda: bed.put(1, 2), "client": die}, final)


def closing(runtime: ControlledRuntime) -> Scenario:
    """The server is closed while results come: each was sent, or is told to be lost, or its call says so."""
    bed = Bed(runtime)

    def final() -> None:
        refused = bed.told.count("ClosedError")
        assert len(bed.got()) + sum(bed.lost) + refused == 2, f"{bed.got()} {bed.lost} {bed.told}"
        assert bed.results.statistics().open == 0

    tasks = {"tokens": lambda: bed.put(1, 2, last=2), "handles": bed.handle, "close": bed.results.close}
    return bed.scenario(tasks, final)


def room(runtime: ControlledRuntime) -> Scenario:
    """Who waits for room goes on when a handle makes some."""
    bed = Bed(runtime, capacity=1)

    def final() -> None:
        assert bed.got() == [1, 2], f"the client has got {bed.got()}"
        assert bed.told == []

    return bed.scenario({"tokens": lambda: bed.put(1, 2), "handles": bed.handle}, final)


def room_at_the_end(runtime: ControlledRuntime) -> Scenario:
    """Who waits for room is told of a close."""
    bed = Bed(runtime, capacity=1)
    bed.put(1)

    def final() -> None:
        assert bed.told == ["ClosedError"], f"{bed.told}"

    return bed.scenario({"tokens": lambda: bed.put(2), "close": bed.results.close}, final)


# -- the socket ------------------------------------------------------------------------------------------------------


def whole_messages(runtime: ControlledRuntime) -> Scenario:
    """Two threads send messages of three parts."""
    port = MemorySocket(runtime)
    socket = LockedSocket(port, "a socket", runtime)

    def final() -> None:
        a, b = [b"a1", b"a2", b"a3"], [b"b1", b"b2", b"b3"]
        assert port.wire in (a + b, b + a), f"on the wire are {port.wire}"

    return Scenario(
        {
            name: partial(socket.send, (f"{name}1".encode(), f"{name}2".encode(), f"{name}3".encode()), "send", None)
            for name in "ab"
        },
        final=final,
    )


def two_readers(runtime: ControlledRuntime) -> Scenario:
    """Two threads receive, and two messages come: one look takes in both, and both threads get one."""
    port = MemorySocket(runtime)
    socket = LockedSocket(port, "a socket", runtime)
    got: list[Any] = []

    def read() -> None:
        got.append(socket.receive("receive", None))

    def peer() -> None:
        port.arrive(b"1")
        port.arrive(b"2")

    def final() -> None:
        assert sorted(got) == [[b"1"], [b"2"]], f"{got}"

    return Scenario({"one": read, "two": read, "peer": peer}, final=final)


def reader_and_writer(runtime: ControlledRuntime) -> Scenario:
    """One thread waits for a message, and another for room: whoever looks takes in what is the other's."""
    port = MemorySocket(runtime, room=0)
    socket = LockedSocket(port, "a socket", runtime)
    got: list[Any] = []

    def peer() -> None:
        port.arrive(b"1")
        port.take()

    def final() -> None:
        assert (got, port.wire) == ([[b"1"]], [b"x"]), f"{got} {port.wire}"

    tasks: dict[str, Callable[[], None]] = {
        "reader": lambda: got.append(socket.receive("receive", None)),
        "writer": lambda: socket.send((b"x",), "send", None),
        "peer": peer,
    }
    return Scenario(tasks, final=final)


def closed_socket(runtime: ControlledRuntime) -> Scenario:
    """A close ends the waits of others."""
    port = MemorySocket(runtime)
    socket = LockedSocket(port, "a socket", runtime)
    told: list[str] = []

    def read() -> None:
        try:
            socket.receive("receive", None)
        except FdcommError as error:
            told.append(type(error).__name__)

    def final() -> None:
        assert told == ["ClosedError"], f"{told}"

    return Scenario({"reader": read, "close": socket.close}, final=final)


def _program(name: str, build: Callable[[ControlledRuntime], Scenario], bound: Bound) -> tuple[str, Any]:
    return name, (Program(name, build, {}), bound)


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("a handle and 1 result", partial(asking, results=1), Bound()),
        _program("a handle and 3 results", partial(asking, results=3), Bound(preemptions=3)),
        _program("2 threads put", two_putters, Bound(preemptions=2)),
        _program("2 clients ask", two_clients, Bound(preemptions=2)),
        _program("the client goes", dying, Bound()),
        _program("the server is closed", closing, Bound(preemptions=2)),
        _program("somebody waits for room", room, Bound(preemptions=3)),
        _program("a close while somebody waits for room", room_at_the_end, Bound()),
        _program("2 threads send", whole_messages, Bound()),
        _program("2 threads receive", two_readers, Bound(preemptions=1)),
        _program("one receives, one sends", reader_and_writer, Bound(preemptions=1)),
        _program("a close while somebody receives", closed_socket, Bound(preemptions=3)),
    )
)

LONG: dict[str, tuple[Program, Bound]] = {
    f"{name}, 2 preemptions": (PROGRAMS[name][0], Bound(preemptions=2))
    for name in ("2 threads receive", "one receives, one sends")
}
"""They take several seconds each."""
