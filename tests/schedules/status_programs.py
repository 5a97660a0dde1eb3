"""Programs over the components of the shipping host service. Each takes the runtime and returns one fresh scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import FdcommError, FencedError, HostLostError, StaleReportError, StatusBusyError
from fdcomm.host.status_channel import StatusChannel
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from models.status_trace import accept
from tests.schedules.component_bed import ComponentBed, Party

__all__ = ("LARGER", "PROGRAMS", "Bed")

Declared = list[tuple[str, int, int]]
CACHE: Declared = [("kv_cache", 0, 2)]
STAGES: Declared = [("kv_cache", 0, 1), ("prefix_tree", 1, 1)]
ONE: Declared = [("kv_cache", 0, 1)]


class Bed(ComponentBed):
    """A host service with components, and what their parts reported."""

    def __init__(self, runtime: ControlledRuntime, declared: Declared) -> None:
        parties = [(name, part) for name, _, parts in declared for part in range(parts)]
        super().__init__(runtime, "status", accept, declared, parties)
        self.reports: dict[Party, list[object]] = {party: [] for party in self.parties}

    def ask(self, client: int, goal: str, timeout: float | None = None) -> None:
        """Ask, and note the outcome or the error's type."""
        self.tell(client, "ask", goal, timeout)

    def serve(self, party: Party, times: int, ok: bool = True) -> None:
        """Do what is asked, so many times, or until the host or the session ends."""
        name, part = party
        for _ in range(times):
            try:
                number, goal = self.act(self.sessions[party], "take", name, part, None)
                self.act(self.sessions[party], "report", name, part, number, ok, "" if ok else "why")
                self.reports[party].append(goal)
            except FdcommError as error:
                self.reports[party].append(type(error))
                if not isinstance(error, StaleReportError):
                    return

    def parts(self, times: int) -> dict[str, Callable[[], None]]:
        """Return a task for each part."""
        return {f"{name} {part}": partial(self.serve, (name, part), times) for name, part in self.parties}

    @property
    def channel(self) -> StatusChannel:
        """The channel inside."""
        channel = self.service.channel("status")
        assert isinstance(channel, StatusChannel)
        return channel

    def status_words(self) -> list[int]:
        """Return the words, without a call."""
        core = self.channel._core
        assert core is not None
        return [there.word for there in core.components.values()]

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        core = self.channel._core
        assert core is not None
        assert core.advance() is None, "something was due, and nobody took it"
        assert not core.changing or core.open is not None, "something is changing for nobody"


def change(runtime: ControlledRuntime, declared: Declared, goals: tuple[str, ...]) -> Scenario:
    """One request after the other: all are done."""
    bed = Bed(runtime, declared)

    def client() -> None:
        for goal in goals:
            bed.ask(0, goal)
            assert bed.status_words() == [-2 if goal == "clear" else 0] * len(declared)

    def final() -> None:
        assert bed.told[0] == ["done"] * len(goals), f"told {bed.told}"
        assert all(done == list(goals) for done in bed.reports.values()), f"{bed.reports}"

    return bed.scenario({"client": client, **bed.parts(len(goals))}, final)


def two_clients(runtime: ControlledRuntime) -> Scenario:
    """Two clients ask at once: one is told that it is busy, or both are done one after the other (P7.2)."""
    bed = Bed(runtime, ONE)

    def final() -> None:
        told = sorted(str(answers[0]) for answers in bed.told)
        assert told in (["<class 'fdcomm.errors.StatusBusyError'>", "done"], ["done", "done"]), f"told {told}"
        assert StatusBusyError not in bed.told[0] or bed.told[1] == ["done"]
        assert bed.status_words() == [-2]

    clients = {f"client {n}": partial(bed.ask, n, "clear") for n in range(2)}
    return bed.scenario({**clients, **bed.parts(1)}, final)


def loss_of_a_part(runtime: ControlledRuntime) -> Scenario:
    """A part's connection is lost before, while or after it works (C06): the request ends."""
    bed = Bed(runtime, CACHE)
    party = bed.parties[1]
    bed.act(bed.sessions[party], "take", *party, 0.0)

    def final() -> None:
        done = bed.reports[party] == ["clear"]
        assert bed.told[0] == (["done"] if done else ["failed"]), f"told {bed.told}, {bed.reports}"
        assert done or bed.reports[party] == [FencedError]

    tasks: dict[str, Callable[[], None]] = {"client": partial(bed.ask, 0, "clear"), **bed.parts(1)}
    return bed.scenario({**tasks, "network": lambda: bed.service.lose_session(bed.sessions[party])}, final)


def failure(runtime: ControlledRuntime) -> Scenario:
    """One part fails, the other one does it: the request has failed, and nobody is asked again (P7.7)."""
    bed = Bed(runtime, CACHE)

    def final() -> None:
        assert bed.told[0] == ["failed"], f"told {bed.told}"
        assert bed.status_words() == [-1]
        for party in bed.parties:
            assert bed.act(bed.sessions[party], "take", *party, 0.0) is None

    good, bad = bed.parties
    tasks = {"good": partial(bed.serve, good, 1), "bad": partial(bed.serve, bad, 1, ok=False)}
    return bed.scenario({"client": partial(bed.ask, 0, "clear"), **tasks}, final)


def time_limit(runtime: ControlledRuntime) -> Scenario:
    """A clear of one second, then an update without a limit: the late report does not count for it (P7.1, P7.8)."""
    bed = Bed(runtime, ONE)

    def client() -> None:
        bed.ask(0, "clear", 1.0)
        bed.ask(0, "update")

    def part() -> None:
        while bed.reports[bed.parties[0]][-1:] != ["update"]:
            bed.serve(bed.parties[0], 1)

    def final() -> None:
        assert bed.told[0] in (["done", "done"], ["late", "done"]), f"told {bed.told}"
        assert bed.status_words() == [0]

    return bed.scenario({"client": client, "part": part}, final)


def cancelled(runtime: ControlledRuntime) -> Scenario:
    """A cancel from another thread of the client, beside a part that works: the request ends, one way or the other."""
    bed = Bed(runtime, ONE)
    (party,) = bed.parties

    def canceller() -> None:
        while not bed.told[0] and not bed.act(bed.clients[0], "cancel"):
            runtime.sleep(1.0)

    def part() -> None:
        taken = bed.act(bed.sessions[party], "take", *party, 0.0)
        if taken is not None:
            try:
                bed.act(bed.sessions[party], "report", *party, taken[0], True, "")
                bed.reports[party].append("clear")
            except StaleReportError:
                bed.reports[party].append(StaleReportError)

    def final() -> None:
        done = bed.reports[party] == ["clear"]
        assert bed.told[0] == (["done"] if done else ["cancelled"]), f"told {bed.told}, {bed.reports}"

    return bed.scenario({"client": partial(bed.ask, 0, "clear"), "canceller": canceller, "part": part}, final)


def end_of_the_client(runtime: ControlledRuntime) -> Scenario:
    """The process that has asked is gone: its request does not stay in the way of another one (P7.8)."""
    bed = Bed(runtime, ONE)

    def other() -> None:
        bed.service.lose_session(bed.clients[0])
        bed.ask(1, "update", 0.0)

    def final() -> None:
        assert bed.told[0] == [FencedError], f"told {bed.told}"
        assert bed.told[1] in (["done"], ["late"]), f"told {bed.told}"

    return bed.scenario({"client": partial(bed.ask, 0, "clear"), "other": other}, final)


def end_of_the_host(runtime: ControlledRuntime) -> Scenario:
    """The host ends: everybody is told."""
    bed = Bed(runtime, ONE)

    def final() -> None:
        assert bed.told[0] in (["done"], [HostLostError]), f"told {bed.told}"

    return bed.scenario({"client": partial(bed.ask, 0, "clear"), **bed.parts(1), "end": bed.service.shut_down}, final)


def watcher(runtime: ControlledRuntime) -> Scenario:
    """A client watches a change of the word: it sees the end, whenever it looks."""
    bed = Bed(runtime, ONE)

    def watch() -> None:
        bed.watch(1, lambda view: bool(view["components"]["kv_cache"]["word"] == -2))

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"

    return bed.scenario({"client": partial(bed.ask, 0, "clear"), "watcher": watch, **bed.parts(1)}, final)


_BOTH = ("clear", "update")
PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 parts clear": (Program("2 parts", partial(change, declared=CACHE, goals=("clear",))), Bound()),
    "2 stages clear": (Program("2 stages", partial(change, declared=STAGES, goals=("clear",))), Bound()),
    "1 part clears and updates": (Program("1 part", partial(change, declared=ONE, goals=_BOTH)), Bound()),
    "2 clients ask at once": (Program("two clients", two_clients), Bound(spurious=1)),
    "a part is lost": (Program("loss of a part", loss_of_a_part), Bound()),
    "a part fails": (Program("failure", failure), Bound()),
    "a clear of 1 s, then an update": (Program("time limit", time_limit), Bound(ticks=2)),
    "the client is lost": (Program("end of the client", end_of_the_client), Bound(spurious=1)),
    "end of the host": (Program("end of the host", end_of_the_host), Bound(spurious=1)),
    "a watcher": (Program("watcher", watcher), Bound()),
    "a cancel": (Program("cancel", cancelled), Bound(ticks=1)),
}

LARGER: dict[str, Program] = {
    "2 parts and a tree clear and update": Program(
        "change of three", partial(change, declared=[("kv_cache", 0, 2), ("prefix_tree", 1, 1)], goals=_BOTH)
    )
}
