"""Programs over control requests: the shipping classes, service and threads, on a controlled runtime."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm import EngineWorkerQueue
from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    FencedError,
    HostLostError,
    PeerLostError,
    RequestCancelledError,
    StaleAnswerError,
)
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.control_testbed import ControlBed

__all__ = ("LARGER", "PROGRAMS")


def asking(runtime: ControlledRuntime, ranks: int) -> Scenario:
    """All ranks answer one request; everything waits for as long as it takes."""
    bed = ControlBed(runtime, ranks)
    engine, queues = bed.handle(-1), [bed.handle(rank) for rank in range(ranks)]
    tasks: dict[str, Callable[[], None]] = {f"rank {r}": partial(bed.serve, r, q) for r, q in enumerate(queues)}
    tasks["engine"] = lambda: bed.ask(ControlClient(engine), "a")

    def final() -> None:
        assert bed.told == [("a", [(rank, "a") for rank in range(ranks)])], f"told {bed.told}"
        assert not bed.core.open

    return bed.scenario(tasks, final)


def two_clients(runtime: ControlledRuntime) -> Scenario:
    """Two clients ask at once: each gets the answers to its own request."""
    bed = ControlBed(runtime, 1)
    first, second, queue = bed.handle(-1), bed.handle(-1), bed.handle(0)

    def final() -> None:
        assert sorted(bed.told) == [("a", [(0, "a")]), ("b", [(0, "b")])], f"told {bed.told}"

    tasks = {
        "client a": lambda: bed.ask(ControlClient(first), "a"),
        "client b": lambda: bed.ask(ControlClient(second), "b"),
        "rank 0": lambda: bed.serve(0, queue, 2),
    }
    return bed.scenario(tasks, final)


def overdue(runtime: ControlledRuntime) -> Scenario:
    """The time of the first request may pass at any moment: its answer counts for it, or for nothing (P14.1)."""
    bed = ControlBed(runtime, 1)
    engine, queue = bed.handle(-1), bed.handle(0)

    def ask() -> None:
        bed.ask(ControlClient(engine), "a", 1.0)
        bed.ask(ControlClient(engine), "b")

    def rank() -> None:
        while not bed.done[0] or bed.done[0][-1][0] != "b":
            bed.serve(0, queue)

    def final() -> None:
        first, second = bed.told
        assert second == ("b", [(0, "b")]), f"told {bed.told}"
        answered = ("a", "answered") in bed.done[0]
        assert first == (("a", [(0, "a")]) if answered else ("a", CommTimeoutError, (0,))), f"{bed.told}, {bed.done}"

    return bed.scenario({"engine": ask, "rank 0": rank}, final)


def lost(runtime: ControlledRuntime) -> Scenario:
    """Rank 1 is lost at any moment: the request is answered by both, or an error names it."""
    bed = ControlBed(runtime, 2)
    engine, queues = bed.handle(-1), [bed.handle(0), bed.handle(1)]
    ControlServer(queues[1]).take()  # it is there, so it is missed

    def rank1() -> None:
        try:
            bed.serve(1, queues[1])
        except FencedError:
            bed.done[1].append("fenced")

    def final() -> None:
        good = bed.told == [("a", [(0, "a"), (1, "a")])]
        assert good == (bed.done[1] == [("a", "answered")]), f"{bed.told}, {bed.done}"
        assert good or bed.told == [("a", PeerLostError, (1,))], f"told {bed.told}"

    tasks = {
        "engine": lambda: bed.ask(ControlClient(engine), "a"),
        "rank 0": lambda: bed.serve(0, queues[0]),
        "rank 1": rank1,
        "network": lambda: bed.lose(queues[1]),
    }
    return bed.scenario(tasks, final)


def restarted(runtime: ControlledRuntime) -> Scenario:
    """A rank is lost, and its successor comes, while a request is made: it is answered, or an error names the rank."""
    bed = ControlBed(runtime, 1)
    engine, queue = bed.handle(-1), bed.handle(0)
    ControlServer(queue).take()
    later: list[EngineWorkerQueue] = []

    def rank() -> None:
        bed.lose(queue)
        later.append(bed.handle(0))
        bed.serve_until_told(0, later[0])

    def final() -> None:
        assert bed.told in ([("a", [(0, "a")])], [("a", PeerLostError, (0,))]), f"told {bed.told}"
        assert (bed.done[0] == [("a", "answered")]) == (bed.told == [("a", [(0, "a")])]), f"{bed.done}"

    return bed.scenario({"engine": lambda: bed.ask(ControlClient(engine), "a"), "rank 0": rank}, final)


def cancelled(runtime: ControlledRuntime) -> Scenario:
    """Another thread cancels at any moment: before, during or after the request."""
    bed = ControlBed(runtime, 1)
    engine, queue = bed.handle(-1), bed.handle(0)
    client = ControlClient(engine)
    numbers: list[int] = []

    def final() -> None:
        good = bed.told == [("a", [(0, "a")])]
        assert good == (numbers == []), f"told {bed.told}, cancelled {numbers}"
        assert good or bed.told == [("a", RequestCancelledError, ())], f"told {bed.told}"
        assert bed.done[0] in ([[("a", "answered")]] if good else [[("a", "late")], [], [("a", "answered")]])
        assert not bed.core.open

    tasks = {
        "engine": lambda: bed.ask(client, "a"),
        "rank 0": lambda: bed.serve_until_told(0, queue),
        "canceller": lambda: numbers.extend(client.cancel()),
    }
    return bed.scenario(tasks, final)


def closed(runtime: ControlledRuntime) -> Scenario:
    """A handle is closed while another thread of its process asks: the call ends, and the request with it."""
    bed = ControlBed(runtime, 1)
    engine = bed.handle(-1)

    def final() -> None:
        ((_, kind, _),) = bed.told
        assert kind in (ClosedError, FencedError), f"told {bed.told}"
        assert not bed.core.open

    return bed.scenario({"engine": lambda: bed.ask(ControlClient(engine), "a"), "closer": engine.close}, final)


def serving(runtime: ControlledRuntime) -> Scenario:
    """The loop of a server: a handler that fails is an answer, and the loop ends when it is told to."""
    bed = ControlBed(runtime, 1)
    engine, queue = bed.handle(-1), bed.handle(0)

    def handler(payload: object) -> object:
        if payload == "bad":
            raise StaleAnswerError("the handler's own")
        return payload

    def ask() -> None:
        bed.ask(ControlClient(engine), "bad")
        bed.ask(ControlClient(engine), "good")

    def final() -> None:
        assert bed.told == [("bad", ["StaleAnswerError: the handler's own"]), ("good", ["good"])], f"told {bed.told}"

    tasks = {"engine": ask, "rank 0": lambda: ControlServer(queue).serve(handler, lambda: bed.has_told(2))}
    return bed.scenario(tasks, final)


def end_of_the_host(runtime: ControlledRuntime) -> Scenario:
    """The host ends while a request is made and a rank waits: both are told."""
    bed = ControlBed(runtime, 1)
    engine, queue = bed.handle(-1), bed.handle(0)

    def rank() -> None:
        try:
            bed.serve(0, queue)
        except HostLostError:
            bed.done[0].append("host lost")

    def final() -> None:
        assert bed.told in ([("a", [(0, "a")])], [("a", HostLostError, ())]), f"told {bed.told}"
        assert bed.done[0] in ([("a", "answered")], ["host lost"])

    tasks = {"engine": lambda: bed.ask(ControlClient(engine), "a"), "rank 0": rank, "end": bed.service.shut_down}
    return bed.scenario(tasks, final)


def many(runtime: ControlledRuntime) -> Scenario:
    """Two clients ask three times each, with a time limit, of two ranks of which one is lost and comes back."""
    bed = ControlBed(runtime, 2)
    clients, queues = [bed.handle(-1), bed.handle(-1)], [bed.handle(0), bed.handle(1)]

    def client(number: int) -> None:
        for turn in range(3):
            bed.ask(ControlClient(clients[number]), (number, turn), 5.0)

    def rank(number: int) -> None:
        while not bed.has_told(6):
            try:
                bed.serve(number, queues[number], timeout=1.0)
            except FencedError:
                queues[number] = bed.handle(number)

    def network() -> None:
        bed.lose(queues[1])

    def final() -> None:
        for what, *answer in bed.told:
            good = answer == [[(0, what), (1, what)]]
            assert good or answer[0] in (PeerLostError, CommTimeoutError), f"told {bed.told}"

    tasks: dict[str, Callable[[], None]] = {f"client {n}": partial(client, n) for n in range(2)}
    tasks |= {f"rank {n}": partial(rank, n) for n in range(2)}
    return bed.scenario({**tasks, "network": network}, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "1 request to 2 ranks": (Program("asking", partial(asking, ranks=2)), Bound(spurious=1)),
    "2 clients at once": (Program("two clients", two_clients), Bound()),
    "the first request is late": (Program("overdue", overdue), Bound(ticks=2)),
    "a rank is lost": (Program("lost", lost), Bound()),
    "a rank is lost and comes back": (Program("restarted", restarted), Bound(ticks=2)),
    "another thread cancels": (Program("cancelled", cancelled), Bound(ticks=2)),
    "close while it asks": (Program("closed", closed), Bound(spurious=1)),
    "the loop of a server": (Program("serving", serving), Bound(ticks=1)),
    "end of the host": (Program("end of the host", end_of_the_host), Bound(spurious=1)),
}

LARGER: dict[str, Program] = {"2 clients, 2 ranks, 6 requests, a loss": Program("many", many)}
