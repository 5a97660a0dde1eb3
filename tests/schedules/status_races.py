"""The shipped words beside our components, for the same scenarios, under the controlled scheduler."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.testing import ControlledRuntime, Program, Scenario
from tests.schedules.status_programs import CACHE, ONE, Bed

__all__ = ("RACES", "race")

NORMAL, UPDATING, CLEARING, CLEARED = 0, 1, -1, -2


def _shipped_late_writer(runtime: ControlledRuntime) -> Scenario:
    """P7.1: two transfer ranks say that all is cleared, and an update begins in between. A poll is a wait here."""
    words, changed = runtime.words(3), runtime.condition()
    words[0], words[1], words[2] = CLEARING, 1, 1

    def mover(rank: int) -> None:
        with changed:
            runtime.store(words, 1 + rank, 0)
            changed.notify_all()
            while words[1] or words[2]:
                changed.wait()
        runtime.store(words, 0, CLEARED)
        with changed:
            changed.notify_all()

    def api() -> None:
        with changed:
            while runtime.load(words, 0) != CLEARED:
                changed.wait()
        runtime.store(words, 0, UPDATING)

    def final() -> None:
        assert words[0] == UPDATING, f"the update is lost: the word is {words[0]}"

    return Scenario({"rank 0": partial(mover, 0), "rank 1": partial(mover, 1), "api": api}, final=final)


def _our_late_writer(runtime: ControlledRuntime) -> Scenario:
    bed = Bed(runtime, CACHE)

    def api() -> None:
        bed.ask(0, "clear")
        bed.ask(0, "update", 0.0)

    def final() -> None:
        assert bed.told[0] == ["done", "late"], f"told {bed.told}"
        assert bed.status_words() == [UPDATING], f"the word is {bed.status_words()}"

    return bed.scenario({"api": api, **bed.parts(1)}, final)


def _shipped_write_back(runtime: ControlledRuntime) -> Scenario:
    """B45: a worker reads the word and writes its copy back."""
    words = runtime.words(1)
    words[0] = CLEARED

    def worker() -> None:
        runtime.store(words, 0, runtime.load(words, 0))

    def final() -> None:
        assert words[0] == UPDATING, f"the request is overwritten: the word is {words[0]}"

    return Scenario({"worker": worker, "api": lambda: runtime.store(words, 0, UPDATING)}, final=final)


def _our_reader(runtime: ControlledRuntime) -> Scenario:
    bed = Bed(runtime, ONE)

    def worker() -> None:
        assert bed.act(bed.clients[1], "view")["components"]["kv_cache"]["word"] in (NORMAL, CLEARING)

    def final() -> None:
        assert bed.status_words() == [CLEARING], f"the word is {bed.status_words()}"

    return bed.scenario({"worker": worker, "api": partial(bed.ask, 0, "clear", 0.0)}, final)


def _shipped_two_callers(runtime: ControlledRuntime) -> Scenario:
    """P7.4: a caller polls for CLEARED, and another one begins an update as soon as it can."""
    words, changed = runtime.words(1), runtime.condition()
    words[0] = CLEARING
    told = []

    def becomes(before: int, after: int) -> None:
        with changed:
            while runtime.load(words, 0) != before:
                changed.wait()
        runtime.store(words, 0, after)
        with changed:
            changed.notify_all()

    def caller() -> None:
        for _ in range(3):
            if runtime.load(words, 0) == CLEARED:
                told.append(200)
                return
            runtime.sleep(1.0)
        told.append(404)

    def ranks() -> None:
        becomes(CLEARING, CLEARED)
        becomes(UPDATING, NORMAL)

    def final() -> None:
        assert told == [200], f"all was cleared, and its caller is told {told}"

    return Scenario({"caller": caller, "other": partial(becomes, CLEARED, UPDATING), "ranks": ranks}, final=final)


def _our_two_callers(runtime: ControlledRuntime) -> Scenario:
    """The update is asked for as soon as the part has reported: often before the first caller has woken."""
    bed = Bed(runtime, ONE)
    (party,) = bed.parties

    def part_and_other() -> None:
        bed.serve(party, 1)
        bed.ask(1, "update", 0.0)

    def final() -> None:
        assert bed.told == [["done"], ["late"]], f"told {bed.told}"
        assert bed.status_words() == [UPDATING], f"the word is {bed.status_words()}"

    return bed.scenario({"caller": partial(bed.ask, 0, "clear"), "part, and other": part_and_other}, final)


_Build = Callable[[ControlledRuntime], Scenario]

# id -> the scenario on the shipped words, which fails with an error, and on ours.
RACES: dict[str, tuple[_Build, _Build]] = {
    "P7.1": (_shipped_late_writer, _our_late_writer),
    "P7.4": (_shipped_two_callers, _our_two_callers),
    "B45": (_shipped_write_back, _our_reader),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the scenario of a race on the shipped words or on ours."""
    build = RACES[name][0 if shipped else 1]
    return Program(f"{name} on {'the shipped words' if shipped else 'ours'}", build, {"race": name, "shipped": shipped})
