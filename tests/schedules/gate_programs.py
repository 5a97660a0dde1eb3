"""Programs over the shipping host's gate; and the published steps beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import CommTimeoutError, FencedError, HostLostError, PeerLostError, StaleAnswerError
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.gate_testbed import GateBed

__all__ = ("PROGRAMS", "RACES", "race")

_POLL_S = 0.001


def _answers(bed: GateBed, rank: int, keys: tuple[object, ...]) -> Callable[[], None]:
    def run() -> None:
        for number, key in enumerate(keys):
            bed.put(rank, key, attempt=1 + keys[:number].count(key))

    return run


def collecting(runtime: ControlledRuntime, keys: tuple[object, ...], capacity: int = 64) -> Scenario:
    """Two ranks answer, one engine collects, everything waits for as long as it takes."""
    bed = GateBed(runtime, capacity)
    told: list[Any] = []

    def engine() -> None:
        for _ in keys:
            told.append(bed.collect())

    def final() -> None:
        assert [key for key, _ in told] == list(keys), f"collected {told}"
        assert not bed.core.rounds

    return bed.scenario({"engine": engine, "rank 0": _answers(bed, 0, keys), "rank 1": _answers(bed, 1, keys)}, final)


def two_collectors(runtime: ControlledRuntime) -> Scenario:
    """Two engines collect one round each: none is given twice, none is lost."""
    bed = GateBed(runtime)
    told: dict[int, list[Any]] = {0: [], 1: []}
    sessions = [bed.engine, bed.session(-1, "producer")]

    def engine(number: int) -> None:
        told[number].append(bed.collect(session=sessions[number])[0])

    def rank(number: int) -> None:
        for key in ("a", "b"):
            bed.put(number, key)

    def final() -> None:
        assert sorted(told[0] + told[1]) == ["a", "b"], f"collected {told}"

    tasks = {"engine 0": partial(engine, 0), "engine 1": partial(engine, 1)}
    return bed.scenario(tasks | {"rank 0": partial(rank, 0), "rank 1": partial(rank, 1)}, final)


def lost(runtime: ControlledRuntime) -> Scenario:
    """Rank 1 is lost at any moment while the engine waits: the round is collected, or an error names the rank."""
    bed = GateBed(runtime)
    for number in (0, 1):
        bed.put(number, "first")
    assert bed.collect()[0] == "first"
    told: list[object] = []
    put: list[bool] = []

    def engine() -> None:
        try:
            told.append(bed.collect()[0])
        except PeerLostError as error:
            told.append((error.missing, error.request))

    def rank0() -> None:
        bed.put(0, "a")

    def rank1() -> None:
        try:
            bed.put(1, "a")
            put.append(True)
        except FencedError:
            put.append(False)

    def network() -> None:
        bed.service.lose_session(bed.ranks[1])

    def final() -> None:
        # An answer that was accepted is collected although its rank is lost.
        assert told == (["a"] if put == [True] else [((1,), "a")]), f"rank 1 put: {put}, the engine was told {told}"

    return bed.scenario({"engine": engine, "rank 0": rank0, "rank 1": rank1, "network": network}, final)


def overdue(runtime: ControlledRuntime) -> Scenario:
    """The round's limit passes at any moment, and the request is repeated: no late answer counts for the new one."""
    bed = GateBed(runtime)
    told: list[object] = []
    late: list[object] = []

    def engine() -> None:
        try:
            told.append(bed.collect(limit=5.0))
        except CommTimeoutError as error:
            told.append(error.missing)

    def rank(number: int) -> None:
        try:
            bed.put(number, "a")
        except StaleAnswerError as error:
            late.append(error.request)

    def final() -> None:
        if told == [("a", 1)]:
            assert late == []
            return
        assert told in ([(0,)], [(1,)]), f"the engine was told {told}"
        assert late == ["a"], "the rank that was late has not been told"
        for number in (0, 1):
            bed.put(number, "a", 0.0, attempt=2)
        assert bed.collect(0.0) == ("a", 2)

    return bed.scenario({"engine": engine, "rank 0": partial(rank, 0), "rank 1": partial(rank, 1)}, final)


def closing(runtime: ControlledRuntime) -> Scenario:
    """The host ends while a collect and a put wait: both are told."""
    bed = GateBed(runtime, capacity=1)
    bed.put(0, "a")
    raised: dict[str, list[str]] = {"engine": [], "rank 0": []}

    def call(name: str, what: Callable[[], object]) -> None:
        try:
            what()
        except HostLostError as error:
            raised[name].append(type(error).__name__)

    def final() -> None:
        assert raised == {"engine": ["HostLostError"], "rank 0": ["HostLostError"]}, f"{raised}"

    tasks: dict[str, Callable[[], None]] = {
        "engine": lambda: call("engine", bed.collect),
        "rank 0": lambda: call("rank 0", lambda: bed.put(0, "b")),
        "host": bed.service.shut_down,
    }
    return bed.scenario(tasks, final)


PROGRAMS: dict[str, tuple[Program, Bound]] = {
    "2 requests": (Program("2 requests", partial(collecting, keys=("a", "b")), {}), Bound()),
    "2 requests, room for 1": (
        Program("2 requests, room for 1", partial(collecting, keys=("a", "b"), capacity=1), {}),
        Bound(),
    ),
    "1 request, made twice": (
        Program("1 request, made twice", partial(collecting, keys=("a", "a")), {}),
        Bound(),
    ),
    "2 engines": (Program("2 engines", two_collectors, {}), Bound()),
    "a rank is lost": (Program("a rank is lost", lost, {}), Bound(spurious=1)),
    "a time limit passes": (Program("a time limit passes", overdue, {}), Bound(ticks=1, spurious=1)),
    "the host ends": (Program("the host ends", closing, {}), Bound()),
}


# -- the published steps -------------------------------------------------------------------------------------------


class ShippedGate:
    """A list of answers, flags and a gate word, under a lock that a waiting call gives back between two looks."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._runtime = runtime
        self._lock = runtime.condition()
        self._words = runtime.words(3)
        self._answers: list[tuple[int, str]] = []
        runtime.store(self._words, 2, 1)

    def put(self, rank: int, key: str) -> None:
        """Wait for the gate, append, flag; the last one shuts it."""
        while not self._add(rank, key):
            self._runtime.sleep(_POLL_S)

    def _add(self, rank: int, key: str) -> bool:
        with self._lock:
            if not self._runtime.load(self._words, 2):
                return False
            self._change([*self._answers, (rank, key)])
            self._runtime.store(self._words, rank, 1)
            if self._all():
                self._runtime.store(self._words, 2, 0)
            return True

    def collect(self) -> list[tuple[int, str]]:
        """Return [] when nothing is there, else wait for all flags."""
        with self._lock:
            self._runtime.access("answers", change=False)
            if not self._answers:
                return []
        while True:
            with self._lock:
                if self._all():
                    answers = list(self._answers)
                    self._change([])
                    for word, value in enumerate((0, 0, 1)):
                        self._runtime.store(self._words, word, value)
                    return answers
            self._runtime.sleep(_POLL_S)

    def _all(self) -> bool:
        return all(self._runtime.load(self._words, rank) for rank in (0, 1))

    def _change(self, answers: list[tuple[int, str]]) -> None:
        self._runtime.access("answers", change=True)
        self._answers = answers


class OurGate:
    """The shipping host service."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.bed = GateBed(runtime)

    def put(self, rank: int, key: str) -> None:
        """Answer."""
        self.bed.put(rank, key)

    def collect(self) -> list[tuple[int, str]]:
        """Poll."""
        found = self.bed.collect(0.0, 60.0)
        return [] if found is None else [(rank, found[0]) for rank in (0, 1)]


def _mixed(runtime: ControlledRuntime, gate: ShippedGate | OurGate) -> Scenario:
    """P10.4: rank 0 is ahead."""
    told: list[tuple[int, str]] = []

    def ahead() -> None:
        gate.put(0, "a")
        gate.put(0, "b")

    def engine() -> None:
        while not told:
            told.extend(gate.collect())
            runtime.sleep(_POLL_S)

    def final() -> None:
        assert told == [(0, "a"), (1, "a")] or told == [(1, "a"), (0, "a")], f"collected {told}"

    return Scenario({"engine": engine, "rank 0": ahead, "rank 1": lambda: gate.put(1, "a")}, final=final)


def _waits(runtime: ControlledRuntime, gate: ShippedGate | OurGate) -> Scenario:
    """P10.5, P11.3: rank 1 has nothing to say, and the engine polls."""
    del runtime
    told: list[list[tuple[int, str]]] = []
    return Scenario({"engine": lambda: told.append(gate.collect()), "rank 0": lambda: gate.put(0, "a")})


# Race -> its program, and what it comes to on the published steps.
RACES: dict[str, tuple[Callable[[ControlledRuntime, ShippedGate | OurGate], Scenario], str]] = {
    "P10.4": (_mixed, "invariant"),
    "P11.3": (_waits, "livelock"),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name][0](runtime, ShippedGate(runtime) if shipped else OurGate(runtime))

    return Program(f"{name}, {'shipped' if shipped else 'ours'}", build, {})
