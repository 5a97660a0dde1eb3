"""Programs over readiness in the shipping host service. Each takes the runtime and returns one fresh scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import FencedError, HostLostError, ProtocolViolationError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.component_bed import Party
from tests.schedules.readiness_bed import CACHE, ONE, ORDER, Bed, Declared

__all__ = ("LARGER", "PROGRAMS")


def come_up(runtime: ControlledRuntime, declared: Declared, names: tuple[str, ...]) -> Scenario:
    """Everything comes up, and a client waits for it."""
    bed = Bed(runtime, declared)

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"

    return bed.scenario({"client": partial(bed.wait, 0, names), **bed.parts()}, final)


def in_order(runtime: ControlledRuntime) -> Scenario:
    """The worker waits for the cache before it is ready, as it must; the cache may not wait for the worker (B53)."""
    bed = Bed(runtime, ORDER)
    cache, worker = bed.parties
    for party in bed.parties:
        bed.act(bed.sessions[party], "begin", *party, 1000.0, "", None)
    order: list[str] = []

    def ready(party: Party) -> None:
        order.append(party[0])
        bed.act(bed.sessions[party], "ready", *party, 1000.0, None)

    def start_worker() -> None:
        assert bed.act(bed.sessions[worker], "wait", 1, ["cache"], None, False, None)["outcome"] == "done"
        ready(worker)

    def start_cache() -> None:
        try:
            bed.act(bed.sessions[cache], "wait", 1, ["worker"], None, False, None)
        except ProtocolViolationError:
            ready(cache)

    def final() -> None:
        assert order == ["cache", "worker"], f"in the order {order}"

    return bed.scenario({"worker": start_worker, "cache": start_cache}, final)


def loss(runtime: ControlledRuntime) -> Scenario:
    """A part's connection is lost at any moment (P15.2): the wait is done before, or told."""
    bed = Bed(runtime, CACHE)
    party = bed.parties[1]
    bed.act(bed.sessions[party], "begin", *party, 0.0, "", None)

    def final() -> None:
        assert bed.told[0] in (["done"], ["failed"]), f"told {bed.told}"
        assert bed.told[0] == ["failed"] or bed.came[party] == ["ready"], f"{bed.told}, {bed.came}"

    tasks: dict[str, Callable[[], None]] = {"client": partial(bed.wait, 0, ("cache",)), **bed.parts()}
    return bed.scenario({**tasks, "network": lambda: bed.service.lose_session(bed.sessions[party])}, final)


def restart(runtime: ControlledRuntime) -> Scenario:
    """A process is lost before, while or after it comes up; its successor comes; a patient client waits for one."""
    bed = Bed(runtime, ONE)
    (party,) = bed.parties

    def supervisor() -> None:
        bed.service.lose_session(bed.sessions[party])
        bed.come(party, bed.session())

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"
        assert bed.came[party].count("ready") >= 1
        assert set(bed.came[party]) <= {"ready", FencedError}, f"{bed.came}"

    tasks = {"client": partial(bed.wait, 0, ("cache",), None, True), "old": partial(bed.come, party)}
    return bed.scenario({**tasks, "supervisor": supervisor}, final)


def failure(runtime: ControlledRuntime) -> Scenario:
    """A part cannot serve (P15.3): who waits is told the reason, whenever it began to wait."""
    bed = Bed(runtime, CACHE)
    good, bad = bed.parties

    def final() -> None:
        assert bed.told[0] == ["failed"], f"told {bed.told}"

    tasks: dict[str, Callable[[], None]] = {
        "client": partial(bed.wait, 0, ("cache",)),
        "good": partial(bed.come, good),
        "bad": lambda: bed.act(bed.sessions[bad], "fail", *bad, "no memory"),
    }
    return bed.scenario(tasks, final)


def reload(runtime: ControlledRuntime) -> Scenario:
    """A ready part takes its readiness back, and gives it again, beside two waits."""
    bed = Bed(runtime, ONE)
    (party,) = bed.parties
    bed.come(party)

    def part() -> None:
        bed.act(bed.sessions[party], "begin", *party, 0.0, "reloading", None)
        bed.act(bed.sessions[party], "ready", *party, 0.0, None)

    def final() -> None:
        assert bed.told == [["done"], ["done"]], f"told {bed.told}"

    clients = {f"client {n}": partial(bed.wait, n, ("cache",)) for n in range(2)}
    return bed.scenario({**clients, "part": part}, final)


def time_limit(runtime: ControlledRuntime) -> Scenario:
    """A wait of one second, which may pass at any moment."""
    bed = Bed(runtime, ONE)

    def final() -> None:
        assert bed.told[0] in (["done"], ["late"]), f"told {bed.told}"

    return bed.scenario({"client": partial(bed.wait, 0, ("cache",), 1.0), **bed.parts()}, final)


def cancelled(runtime: ControlledRuntime) -> Scenario:
    """A cancel from another thread, beside a part that comes up: the wait ends, one way or the other."""
    bed = Bed(runtime, ONE)

    def canceller() -> None:
        while not bed.told[0] and not bed.act(bed.clients[0], "cancel", 1):
            runtime.sleep(1.0)  # it has not begun yet

    def final() -> None:
        assert bed.told[0] in (["done"], ["cancelled"]), f"told {bed.told}"

    return bed.scenario({"client": partial(bed.wait, 0, ("cache",)), "canceller": canceller, **bed.parts()}, final)


def stuck_loop(runtime: ControlledRuntime) -> Scenario:
    """A loop stands still for longer than its limit (B85): who waits then waits until it has come round again."""
    bed = Bed(runtime, ONE)
    (party,) = bed.parties
    bed.come(party, limit=1.0)
    rounds: list[str] = []

    def loop() -> None:
        runtime.sleep(3.0)
        while not bed.told[0]:
            rounds.append("round")
            bed.beat(party, 1)
            runtime.sleep(0.7)

    def client() -> None:
        runtime.sleep(2.0)
        bed.wait(0, ("cache",))
        assert rounds, "a part whose loop stands still counted as ready"

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"

    return bed.scenario({"client": client, "loop": loop}, final)


def client_ends(runtime: ControlledRuntime) -> Scenario:
    """The process that waits is gone, and what it waits for never comes: its wait does not stay."""
    bed = Bed(runtime, ONE)

    def final() -> None:
        assert bed.told[0] == [FencedError], f"told {bed.told}"
        core = bed.channel._core
        assert core is not None
        assert not core.open

    network = partial(bed.service.lose_session, bed.clients[0])
    return bed.scenario({"client": partial(bed.wait, 0, ("cache",)), "network": network}, final)


def host_ends(runtime: ControlledRuntime) -> Scenario:
    """The host ends: everybody is told."""
    bed = Bed(runtime, ONE)

    def final() -> None:
        assert bed.told[0] in (["done"], [HostLostError]), f"told {bed.told}"

    return bed.scenario(
        {"client": partial(bed.wait, 0, ("cache",)), **bed.parts(), "end": bed.service.shut_down}, final
    )


def watcher(runtime: ControlledRuntime) -> Scenario:
    """A client watches a part come up: it sees the end, whenever it looks."""
    bed = Bed(runtime, ONE)

    def watch() -> None:
        bed.watch(1, lambda view: bool(view["parts"][0]["health"] == "ready"))
        bed.told[1].append("seen")

    def final() -> None:
        assert bed.told[1] == ["seen"], f"told {bed.told}"

    return bed.scenario({"watcher": watch, **bed.parts()}, final)


def progress(runtime: ControlledRuntime) -> Scenario:
    """A wait that is told of progress goes on over several calls, and ends."""
    bed = Bed(runtime, ONE)

    def client() -> None:
        seen = -1
        while True:
            end = bed.act(bed.clients[0], "wait", 1, ["cache"], None, False, seen)
            if end["outcome"] != "open":
                bed.told[0].append(end["outcome"])
                return
            assert end["changes"] > seen
            seen = end["changes"]
            assert {part["health"] for part in end["parts"]} <= {"away", "starting"}

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"

    return bed.scenario({"client": client, **bed.parts()}, final)


def given_up(runtime: ControlledRuntime) -> Scenario:
    """A wait is cancelled between two of its calls, or in one, or when it has ended: it does not stay."""
    bed = Bed(runtime, ONE)

    def client() -> None:
        end = bed.act(bed.clients[0], "wait", 1, ["cache"], None, False, -1)
        bed.told[0].append(end["outcome"])
        if end["outcome"] == "open":
            bed.told[0].append(bed.act(bed.clients[0], "cancel", 1))

    def final() -> None:
        assert bed.told[0] in (["done"], ["open", True], ["open", False]), f"told {bed.told}"
        core = bed.channel._core
        assert core is not None
        assert not core.open

    return bed.scenario({"client": client, **bed.parts()}, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 parts come up": (Program("2 parts", partial(come_up, declared=CACHE, names=("cache",))), Bound()),
    "launch order": (Program("order", in_order), Bound()),
    "a part is lost": (Program("loss", loss), Bound()),
    "a part is restarted": (Program("restart", restart), Bound()),
    "a part fails": (Program("failure", failure), Bound(spurious=1)),
    "a part reloads": (Program("reload", reload), Bound()),
    "a wait of 1 s": (Program("time limit", time_limit), Bound(ticks=2)),
    "a cancel": (Program("cancel", cancelled), Bound(ticks=1)),
    "a loop stands still": (Program("stuck loop", stuck_loop), Bound(ticks=1)),
    "the client is lost": (Program("end of the client", client_ends), Bound()),
    "end of the host": (Program("end of the host", host_ends), Bound(spurious=1)),
    "a watcher": (Program("watcher", watcher), Bound(spurious=1)),
    "a wait with progress": (Program("progress", progress), Bound(spurious=1)),
    "a wait that is given up": (Program("given up", given_up), Bound()),
}

LARGER: dict[str, Program] = {
    "3 parts in order, and two clients": Program(
        "three parts",
        partial(come_up, declared=[("cache", 2, []), ("worker", 1, ["cache"])], names=("cache", "worker")),
    )
}
