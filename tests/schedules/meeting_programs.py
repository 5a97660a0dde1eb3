"""Programs over the shipping code of the meeting, on memory with store buffers, with its real sleeps and wake-ups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fdcomm.deadline import Deadline
from fdcomm.errors import BarrierBrokenError, BarrierMismatchError, CommTimeoutError, FencedError, PeerLostError
from fdcomm.meeting import members
from fdcomm.meeting.attendant import INTERVAL_S, Attendant
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.conformance.meeting_bed import MeetingBed

__all__ = ("LARGE_PROGRAMS", "PROGRAMS", "comes_back", "giving_up", "labels_differ", "meeting", "never", "one_killed")

Ends = dict[str, list[str]]
_BOUND = Bound(preemptions=1)
_TWO = Bound(preemptions=2)


def never(bed: MeetingBed) -> Deadline:
    """Return a deadline that does not come."""
    return Deadline(None, bed.runtime.monotonic)


def outcome(attendant: Attendant, label: str = "", timeout: float | None = None, place: int = 0) -> str:
    """Wait once, and say how it ended."""
    try:
        return f"passed {attendant.wait(label, timeout, place=place)}"
    except CommTimeoutError:
        return "timeout"
    except BarrierMismatchError:
        return "mismatch"
    except BarrierBrokenError:
        return "broken"
    except PeerLostError:
        return "lost"
    except FencedError:
        return "fenced"


def scenario(bed: MeetingBed, tasks: Mapping[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
    """Return the scenario of these processes, each with its store buffer."""
    memory = {f"memory of {name}": bed.runtime.memory_of(name) for name in tasks if bed.weak}
    return Scenario({**tasks, **memory}, final=final)


def _rank(
    bed: MeetingBed, ends: Ends, rank: int, label: str = "", timeout: float | None = None, rounds: int = 1
) -> None:
    attendant = Attendant(bed.room(rank), rank, 0, turns=0)
    for _ in range(rounds):
        ends[f"rank {rank}"].append(outcome(attendant, label, timeout))


def _ends(*names: str) -> Ends:
    return {name: [] for name in names}


def meeting(scheduling: ControlledRuntime, ranks: int = 2, rounds: int = 1, weak: bool = True) -> Scenario:
    """All pass, and nobody sleeps until his interval ends."""
    names = tuple(f"rank {rank}" for rank in range(ranks))
    bed = MeetingBed(scheduling, ranks, names, weak=weak)
    start = bed.runtime.monotonic()
    ends = _ends(*names)

    def final() -> None:
        wanted = [f"passed {number}" for number in range(rounds)]
        assert all(found == wanted for found in ends.values()), f"the ranks were told {ends}"
        # Who finds the lock taken looks again after microseconds.
        assert scheduling.scheduler.clock - start < INTERVAL_S / 2, "somebody slept through his wake-up"

    return scenario(
        bed, {name: partial(_rank, bed, ends, rank, rounds=rounds) for rank, name in enumerate(names)}, final
    )


def giving_up(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """A rank's time is over while the last one comes: both pass, or neither."""
    bed = MeetingBed(scheduling, 2, ("rank 0", "rank 1"), weak=weak)
    ends = _ends("rank 0", "rank 1")

    def final() -> None:
        told = {end for found in ends.values() for end in found}
        assert told in ({"passed 0"}, {"timeout"}), f"one was told that it met nobody, the other that both met: {ends}"

    tasks: dict[str, Callable[[], None]] = {
        "rank 0": partial(_rank, bed, ends, 0, timeout=0.0),
        "rank 1": partial(_rank, bed, ends, 1, timeout=1.0),
    }
    return scenario(bed, tasks, final)


def labels_differ(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """Ranks in different rounds of their own count are told so, both of them."""
    bed = MeetingBed(scheduling, 2, ("rank 0", "rank 1"), weak=weak)
    ends = _ends("rank 0", "rank 1")

    def final() -> None:
        assert all(found == ["mismatch"] for found in ends.values()), f"the ranks were told {ends}"

    tasks: dict[str, Callable[[], None]] = {
        name: partial(_rank, bed, ends, rank, label=f"step {rank}") for rank, name in enumerate(ends)
    }
    return scenario(bed, tasks, final)


def one_killed(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """A rank is killed, wherever it is: the other one passes, or is told who is gone."""
    bed = MeetingBed(scheduling, 2, ("rank 0", "rank 1"), weak=weak)
    ends = _ends("rank 0", "rank 1")

    def kill() -> None:
        bed.runtime.kill("rank 0")
        bed.kernel.free("rank 0")
        bed.locks.dead.add(0)

    def final() -> None:
        assert ends["rank 1"] in (["lost"], ["passed 0"]), f"rank 1 was told {ends['rank 1']}"

    tasks: dict[str, Callable[[], None]] = {
        "rank 0": partial(_rank, bed, ends, 0),
        "rank 1": partial(_rank, bed, ends, 1, timeout=60.0),
        "killer": kill,
    }
    return scenario(bed, tasks, final)


def aborted(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """Somebody aborts: nobody waits on."""
    bed = MeetingBed(scheduling, 2, ("rank 0", "owner"), weak=weak)
    ends = _ends("rank 0")

    def final() -> None:
        assert ends["rank 0"] == ["broken"], f"rank 0 was told {ends}"

    def abort() -> None:
        members.abort(bed.room(9), never(bed))

    tasks: dict[str, Callable[[], None]] = {"rank 0": partial(_rank, bed, ends, 0), "owner": abort}
    return scenario(bed, tasks, final)


def comes_back(scheduling: ControlledRuntime, weak: bool = False) -> Scenario:
    """The process of a rank is given up while it arrives, and another one comes for the rank, and passes."""
    bed = MeetingBed(scheduling, 1, ("rank 0", "second"), weak=weak)
    ends = _ends("rank 0", "second")

    def second() -> None:
        members.fence(bed.room(8), 0, never(bed))
        life = members.attach(bed.room(9), 0, never(bed))
        ends["second"].append(outcome(Attendant(bed.room(9), 0, life, turns=0), timeout=60.0))

    def final() -> None:
        assert ends["second"][0].startswith("passed"), f"the second process was told {ends['second']}"
        both = ends["rank 0"] == ends["second"]
        assert not both, "a process that was given up was told that it passed the round of the next one"

    tasks: dict[str, Callable[[], None]] = {"rank 0": partial(_rank, bed, ends, 0), "second": second}
    return scenario(bed, tasks, final)


def _program(name: str, build: Callable[..., Scenario]) -> Program:
    return Program(f"meeting: {name}", build, {})


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 ranks": (_program("2 ranks", partial(meeting, weak=False)), _TWO),
    "one gives up": (_program("one gives up", giving_up), _TWO),
    "labels differ": (_program("labels differ", labels_differ), _BOUND),
    "one is killed": (_program("one is killed", one_killed), _BOUND),
    "somebody aborts": (_program("somebody aborts", aborted), _TWO),
    "another process comes": (_program("another process comes", comes_back), _TWO),
}
LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 ranks, store buffers": (_program("2 ranks, store buffers", meeting), _TWO),
    "3 ranks": (_program("3 ranks", partial(meeting, ranks=3, weak=False)), _BOUND),
    "2 rounds": (_program("2 rounds", partial(meeting, rounds=2, weak=False)), _BOUND),
    "one gives up, store buffers": (_program("one gives up, store buffers", partial(giving_up, weak=True)), _TWO),
}
