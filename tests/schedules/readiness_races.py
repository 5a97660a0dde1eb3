"""The shipped flags beside our components, for the same scenarios, under the controlled scheduler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import ControlledRuntime, Program, Scenario
from tests.schedules.readiness_bed import CACHE, ONE, Bed

__all__ = ("RACES", "race")


class _Flags:
    """A flag for each rank, the sum of which a launcher polls. A poll that finds nothing is a wait here."""

    def __init__(self, runtime: ControlledRuntime, flags: list[int]) -> None:
        self.runtime = runtime
        self.words = runtime.words(len(flags))
        self.changed = runtime.condition()
        self.loaded = [False] * len(flags)
        self.wrong: list[str] = []
        for rank, flag in enumerate(flags):
            self.words[rank] = flag

    def start(self, rank: int) -> None:
        """A process lowers its rank's flag, loads, and raises it."""
        self.runtime.store(self.words, rank, 0)
        self.loaded[rank] = True
        self.raise_flag(rank)

    def raise_flag(self, rank: int) -> None:
        """Whoever does it."""
        self.runtime.store(self.words, rank, 1)
        with self.changed:
            self.changed.notify_all()

    def launch(self) -> None:
        """Poll until the sum is right."""
        with self.changed:
            while sum(self.runtime.load(self.words, rank) for rank in range(len(self.loaded))) < len(self.loaded):
                self.changed.wait()
        if not all(self.loaded):
            self.wrong.append(f"launched, and loaded are {self.loaded}")

    def scenario(self, tasks: dict[str, Callable[[], None]]) -> Scenario:
        """Return the scenario; what was wrong fails it at the end."""

        def final() -> None:
            assert not self.wrong, self.wrong[0]

        return Scenario({"launcher": self.launch, **tasks}, final=final)


def _shipped_leftover(runtime: ControlledRuntime) -> Scenario:
    """P15.1: both ranks are started again, and their flags are still up."""
    flags = _Flags(runtime, [0, 1])
    return flags.scenario({f"rank {rank}": partial(flags.start, rank) for rank in range(2)})


def _our_restart(runtime: ControlledRuntime) -> Scenario:
    bed = Bed(runtime, CACHE)
    for party in bed.parties:
        bed.come(party)
        bed.service.lose_session(bed.sessions[party])
    new = {party: bed.session() for party in bed.parties}
    counted: list[int] = []

    def launcher() -> None:
        bed.wait(0, ("cache",), None, True)
        core = bed.channel._core
        assert core is not None
        counted.extend(part.inc for part in core.components["cache"].parts)

    def final() -> None:
        assert (bed.told[0], counted) == (["done"], [2, 2]), f"{bed.told}, {counted}"

    ranks = {f"rank {rank}": partial(bed.come, (name, rank), new[name, rank]) for name, rank in bed.parties}
    return bed.scenario({"launcher": launcher, **ranks}, final)


def _shipped_late_ready(runtime: ControlledRuntime) -> Scenario:
    """late-ready: a process that was replaced raises the flag of its rank."""
    flags = _Flags(runtime, [0])
    return flags.scenario({"old": partial(flags.raise_flag, 0), "new": partial(flags.start, 0)})


def _our_late_ready(runtime: ControlledRuntime) -> Scenario:
    bed = Bed(runtime, ONE)
    (party,) = bed.parties
    old, new = bed.sessions[party], bed.session()
    bed.act(old, "begin", *party, 1000.0, "", None)
    bed.service.lose_session(old)
    said: list[str] = []

    def successor() -> None:
        bed.act(new, "begin", *party, 1000.0, "", None)
        said.append("ready")
        bed.act(new, "ready", *party, 1000.0, None)

    def launcher() -> None:
        bed.wait(0, ("cache",), None, True)
        assert said, "launched, and the successor has said nothing"

    def final() -> None:
        assert bed.told[0] == ["done"], f"told {bed.told}"

    return bed.scenario({"launcher": launcher, "old": partial(bed.come, party, old), "new": successor}, final)


_Build = Callable[[ControlledRuntime], Scenario]

# id -> the scenario on the shipped flags, which fails with an error, and on ours.
RACES: dict[str, tuple[_Build, _Build]] = {
    "P15.1": (_shipped_leftover, _our_restart),
    "late-ready": (_shipped_late_ready, _our_late_ready),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the scenario of a race on the shipped flags or on ours."""
    build = RACES[name][0 if shipped else 1]
    return Program(f"{name} on {'the shipped flags' if shipped else 'ours'}", build, {"race": name, "shipped": shipped})
