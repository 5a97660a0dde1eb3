"""Programs over the barriers of the shipping host service. Each takes the runtime and returns one fresh scenario."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    FdcommError,
    FencedError,
    HostLostError,
    PeerLostError,
)
from fdcomm.host.barrier_channel import BarrierChannel
from fdcomm.host.service import HostConfig
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from models.barrier_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("LARGER", "PROGRAMS", "Bed", "of_ranks")

GROUP = "barriers.to_cpu"
A, B = "swap_to_cpu_barrier1", "swap_to_cpu_barrier2"


class Bed(HostBed):
    """A host service with a group of barriers, a session for each rank, and the record of what they were told."""

    def __init__(self, runtime: ControlledRuntime, ranks: int) -> None:
        super().__init__(runtime, HostConfig(ranks, kind="cache"), GROUP, accept)
        self.sessions = [self.session(rank) for rank in range(ranks)]
        self.told: dict[int, list[object]] = {rank: [] for rank in range(ranks)}

    def wait(self, rank: int, barrier: str = A, label: str = "", timeout: float | None = None) -> None:
        """Wait, and note the order of arrival or the error's name."""
        try:
            answer: object = self.service.act(self.sessions[rank], GROUP, "wait", barrier, label, None, timeout)
        except FdcommError as error:
            answer = type(error)
        self.told[rank].append(answer)

    def act(self, rank: int, action: str, barrier: str = A) -> None:
        """Abort or reset."""
        self.service.act(self.sessions[rank], GROUP, action, barrier)

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        channel = self.service.channel(GROUP)
        assert isinstance(channel, BarrierChannel)
        core = channel._core
        there = [rank for name in core.names for rank in core.arrived(name)]
        assert len(set(there)) == len(there) < core.ranks, f"{there} wait"
        assert set(there) <= core.live, "a rank waits that is gone"


def of_ranks(count: int, task: Callable[[int], None]) -> dict[str, Callable[[], None]]:
    return {f"rank {rank}": partial(task, rank) for rank in range(count)}


def meet(runtime: ControlledRuntime, ranks: int, rounds: int) -> Scenario:
    """Ranks meet again and again, and rank 0 resets after each meeting (P4.2): every rank has a place of its own."""
    bed = Bed(runtime, ranks)

    def rank(number: int) -> None:
        for turn in range(rounds):
            bed.wait(number, label=f"turn {turn}")
            if number == 0:
                bed.act(0, "reset")

    def final() -> None:
        for turn in range(rounds):
            places = sorted(str(bed.told[number][turn]) for number in range(ranks))
            assert places == [str(place) for place in range(ranks)], f"turn {turn}: {bed.told}"

    return bed.scenario(of_ranks(ranks, rank), final)


def loss_of_a_waiter(runtime: ControlledRuntime) -> Scenario:
    """A rank's connection is lost before, while or after it waits; then its successor meets the other (G2, B21)."""
    bed = Bed(runtime, 2)

    def network() -> None:
        bed.service.lose_session(bed.sessions[1])

    def final() -> None:
        mine, theirs = bed.told[0][0], bed.told[1][0]
        assert {mine, theirs} == {0, 1} or (mine is PeerLostError and theirs is FencedError), f"told {bed.told}"

    def rank0() -> None:
        bed.wait(0, timeout=60.0)
        if bed.told[0][0] is CommTimeoutError:  # rank 1 was lost before it had ever waited: nobody misses it
            bed.told[0] = [PeerLostError]

    return bed.scenario({"rank 0": rank0, "rank 1": lambda: bed.wait(1), "network": network}, final)


def successor(runtime: ControlledRuntime) -> Scenario:
    """A rank is lost while it waits; its successor and the other rank come in any order, and meet in the end."""
    bed = Bed(runtime, 2)
    lost = bed.sessions[1]

    def rank0() -> None:
        while not bed.told[0] or bed.told[0][-1] is PeerLostError:
            if bed.told[0]:
                runtime.sleep(1.0)
            bed.wait(0)

    def rank1() -> None:
        bed.wait(1, timeout=0.0)  # it is there, so it is missed when it is lost
        bed.service.lose_session(lost)
        bed.sessions[1] = bed.session(1)
        if bed.told[1][0] is CommTimeoutError:  # else that was the meeting
            bed.wait(1)

    def final() -> None:
        assert {bed.told[0][-1], bed.told[1][-1]} == {0, 1}, f"told {bed.told}"

    return bed.scenario({"rank 0": rank0, "rank 1": rank1}, final)


def time_limit(runtime: ControlledRuntime) -> Scenario:
    """A wait of one second and one without limit: they meet, or the first gives up and comes again."""
    bed = Bed(runtime, 2)

    def impatient() -> None:
        bed.wait(0, timeout=1.0)
        while bed.told[0][-1] is CommTimeoutError:
            bed.wait(0, timeout=1.0)

    def final() -> None:
        assert {bed.told[0][-1], bed.told[1][-1]} == {0, 1}, f"told {bed.told}"

    return bed.scenario({"rank 0": impatient, "rank 1": lambda: bed.wait(1)}, final)


def abort(runtime: ControlledRuntime) -> Scenario:
    """An abort, and the reset of a rank that was told of nothing: nobody waits for ever, and the abort holds."""
    bed = Bed(runtime, 2)
    engine = bed.session(-1)

    def rank0() -> None:
        bed.wait(0)
        bed.act(0, "reset", B)
        if bed.told[0][0] in (0, 1):
            bed.act(0, "reset")
        bed.wait(0)

    def rank1() -> None:
        bed.wait(1)
        bed.wait(1)

    def breaker() -> None:
        bed.service.act(engine, GROUP, "abort", A)

    def final() -> None:
        for turn in range(2):
            pair = (bed.told[0][turn], bed.told[1][turn])
            assert pair == (BarrierBrokenError, BarrierBrokenError) or set(pair) == {0, 1}, f"told {bed.told}"

    return bed.scenario({"rank 0": rank0, "rank 1": rank1, "engine": breaker}, final)


def cross_wait(runtime: ControlledRuntime) -> Scenario:
    """Two ranks come to two barriers that are used in turn: both are told, whoever is first (B14, C07)."""
    bed = Bed(runtime, 2)

    def final() -> None:
        assert bed.told == {0: [BarrierMismatchError], 1: [BarrierMismatchError]}, f"told {bed.told}"

    return bed.scenario({"rank 0": lambda: bed.wait(0, A), "rank 1": lambda: bed.wait(1, B)}, final)


def labels(runtime: ControlledRuntime) -> Scenario:
    """Two ranks come for two tasks: both are told (B26)."""
    bed = Bed(runtime, 2)

    def final() -> None:
        assert bed.told == {0: [BarrierMismatchError], 1: [BarrierMismatchError]}, f"told {bed.told}"

    return bed.scenario(of_ranks(2, lambda rank: bed.wait(rank, label=f"task {rank}")), final)


def close_while_it_waits(runtime: ControlledRuntime) -> Scenario:
    """A handle is closed while another thread of its process waits in it: that wait ends, and no ghost is counted."""
    bed = Bed(runtime, 2)

    def close() -> None:
        bed.service.close_session(bed.sessions[0])

    def final() -> None:
        assert bed.told[0] == [FencedError], f"told {bed.told}"
        bed.sessions[0] = bed.session(0)
        bed.wait(0, timeout=0.0)
        assert bed.told[0][-1] is CommTimeoutError

    return bed.scenario({"rank 0": lambda: bed.wait(0), "closer": close}, final)


def end_of_the_host(runtime: ControlledRuntime) -> Scenario:
    """The host ends: a wait passes or is told."""
    bed = Bed(runtime, 2)

    def final() -> None:
        both = (bed.told[0][0], bed.told[1][0])
        assert set(both) in ({0, 1}, {HostLostError}), f"told {bed.told}"

    tasks = of_ranks(2, lambda rank: bed.wait(rank))
    return bed.scenario({**tasks, "end": bed.service.shut_down}, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 ranks meet twice, rank 0 resets": (Program("meet", partial(meet, ranks=2, rounds=2)), Bound(spurious=1)),
    "3 ranks meet": (Program("meet of three", partial(meet, ranks=3, rounds=1)), Bound()),
    "a waiter is lost": (Program("loss of a waiter", loss_of_a_waiter), Bound(spurious=1)),
    "a waiter is lost and comes back": (Program("successor", successor), Bound()),
    "a wait of 1 s and one without limit": (Program("time limit", time_limit), Bound(ticks=2, spurious=1)),
    "abort, and a reset that is about nothing": (Program("abort", abort), Bound()),
    "ranks at two barriers": (Program("cross wait", cross_wait), Bound(spurious=1)),
    "ranks with two labels": (Program("labels", labels), Bound(spurious=1)),
    "close while it waits": (Program("close while it waits", close_while_it_waits), Bound(spurious=1)),
    "end of the host": (Program("end of the host", end_of_the_host), Bound(spurious=1)),
}

LARGER: dict[str, Program] = {"3 ranks meet 3 times": Program("meet long", partial(meet, ranks=3, rounds=3))}
