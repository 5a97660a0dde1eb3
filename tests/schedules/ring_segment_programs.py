"""Programs over the shipping code of the ring's segments for large payloads: every choice of who goes on, and of when
a process is killed or given up."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from tests.schedules.ring_segment_bed import Bed, Process, SteppedOverflows

__all__ = ("LARGE_PROGRAMS", "PROGRAMS", "given_up", "killed", "leaves", "used_again")

Pool = type[SteppedOverflows]


def _writer(bed: Bed) -> Process:
    first = bed.process()
    first.write(fresh=True)
    return first


def _reader(bed: Bed, rank: int = 0) -> Process:
    found = bed.process()
    found.attach(rank)
    return found


def _in_order(bed: Bed, got: list[int]) -> None:
    assert got == bed.put[: len(got)], f"got {got} of {bed.put}"


def used_again(scheduling: ControlledRuntime, pool: Pool = SteppedOverflows) -> Scenario:
    """A writer uses its segments again while a reader reads: no message changes while it is read."""
    bed = Bed(scheduling, pool=pool)
    first, reader = _writer(bed), _reader(bed)
    first.put((1, 2))
    got: list[int] = []

    def final() -> None:
        _in_order(bed, got)
        assert len(got) >= 2, f"got {got}"
        assert len(bed.left()) <= 3, f"left are {bed.left()}"

    return bed.scenario({"writer": partial(first.put, (3,)), "reader": partial(reader.take, 3, got)}, final)


def given_up(scheduling: ControlledRuntime, pool: Pool = SteppedOverflows) -> Scenario:
    """A reader is given up wherever it is, and lives: what it reads is not used again under it."""
    bed = Bed(scheduling, ranks=2, slots=1, pool=pool)
    first, slow, other = _writer(bed), _reader(bed, 0), _reader(bed, 1)
    first.put((1,))
    other.take(1, [])
    got: list[int] = []

    def give_up() -> None:
        assert first.writer is not None
        first.writer.fence(0, timeout=None)
        first.put((2,))

    return bed.scenario({"reader": partial(slow.take, 1, got), "writer": give_up}, lambda: _in_order(bed, got))


def killed(scheduling: ControlledRuntime, pool: Pool = SteppedOverflows) -> Scenario:
    """A writer is killed at any step of a put, and another one goes on: the reader misses nothing that was put."""
    bed = Bed(scheduling, slots=3, pool=pool)
    first, second, reader = _writer(bed), bed.process(), _reader(bed)
    first.put((1,))
    got: list[int] = []

    def successor() -> None:
        scheduling.kill("writer")
        first.die()
        second.write()
        second.put((3,))

    def final() -> None:
        reader.take(3, got)
        assert got in ([1, 3], [1, 2, 3]), f"got {got}"
        assert set(bed.put) <= set(got), f"got {got} of {bed.put}"
        assert second.writer is not None
        second.writer.close(timeout=None)
        assert not bed.left(), f"left are {bed.left()}"

    return bed.scenario({"writer": partial(first.put, (2,)), "successor": successor}, final)


def leaves(scheduling: ControlledRuntime, pool: Pool = SteppedOverflows) -> Scenario:
    """A writer leaves while a reader reads, and another one goes on: what is still to be read is there."""
    bed = Bed(scheduling, pool=pool)
    first, second, reader = _writer(bed), bed.process(), _reader(bed)
    first.put((1, 2))
    got: list[int] = []

    def leave() -> None:
        assert first.writer is not None
        first.writer.close(remove=False, timeout=None)
        second.write()

    def final() -> None:
        reader.take(2, got)
        assert got == [1, 2], f"got {got}"
        assert second.writer is not None
        second.writer.close(timeout=None)
        assert not bed.left(), f"left are {bed.left()}"

    return bed.scenario({"writer": leave, "reader": partial(reader.take, 1, got)}, final)


def _program(
    name: str, build: Callable[[ControlledRuntime], Scenario], preemptions: int
) -> tuple[str, tuple[Program, Bound]]:
    return name, (Program(name, build, {}), Bound(preemptions=preemptions))


PROGRAMS: dict[str, tuple[Program, Bound]] = dict(
    (
        _program("a segment is used again", used_again, 2),
        _program("a reader of a segment is given up", given_up, 2),
        _program("a writer with segments is killed", killed, 1),
        _program("a writer with segments leaves", leaves, 3),
    )
)

LARGE_PROGRAMS: dict[str, tuple[Program, Bound]] = {
    f"{name}, more preemptions": (program, Bound(preemptions=(bound.preemptions or 0) + 1))
    for name, (program, bound) in PROGRAMS.items()
}
