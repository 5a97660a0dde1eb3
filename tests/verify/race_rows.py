"""The rows of races: schedules find them on the published steps, again when replayed, and not on ours."""

from __future__ import annotations

from typing import Protocol

from fdcomm.testing import Bound, Exhaustive, Program, Report, explore, replay
from tests.verify import rows
from tests.verify.check import Row

__all__ = ("explored", "race_name", "race_row")

_ANY = Bound()


class _Race(Protocol):
    """The scenario of a race on the published steps or on ours."""

    def __call__(self, name: str, *, shipped: bool) -> Program: ...


def race_name(name: str, published: str = "published steps") -> str:
    """Return what the row of a race is called."""
    return f"race {name}: found on the {published}, none on ours"


def explored(
    protocol: str,
    what: str,
    race: _Race,
    name: str,
    bound: Bound = _ANY,
    our_bound: Bound | None = None,
    verdict: str = "",
) -> Row:
    """Every schedule of a race up to the bound, on the published steps and on ours.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        race: Gives the programs of the races.
        name: The race.
        bound: Of the published steps.
        our_bound: Of our steps, if it is another one.
        verdict: What the failure has to be; "" is any.
    """
    broken = race(name, shipped=True)
    shipped = explore(broken, Exhaustive(), bound)
    ours = explore(race(name, shipped=False), Exhaustive(), our_bound or bound)
    return race_row(protocol, what, broken, shipped, ours, verdict)


def race_row(
    protocol: str, what: str, broken: Program, shipped: Report, ours: Report, verdict: str = "", shows: str = ""
) -> Row:
    """A race that schedules find on the published steps, again when replayed, and not on ours.

    Args:
        protocol: Protocol of the row.
        what: What the row is called.
        broken: The program on the published steps.
        shipped: Its exploration.
        ours: The exploration of the same program on our steps.
        verdict: What the failure has to be; "" is any.
        shows: What its verdict and message have to contain.
    """
    failure, wrong = shipped.failure, ""
    found = failure.verdict if failure is not None else "no failure"
    if (
        failure is None
        or (verdict and failure.verdict != verdict)
        or shows not in f"{failure.verdict} {failure.message}"
    ):
        wrong = f"the published steps do not fail as they should: {rows.told(shipped)}"
    else:
        again = replay(broken, failure)
        # A replay knows no limit of steps, and a message about one says how many they were.
        alike = again.message == failure.message or shipped.bound.max_steps != Bound().max_steps
        if again.verdict != failure.verdict or not alike:
            wrong = f"the schedule does not fail again when it is replayed, but gives {again.verdict}: {again.message}"
    return rows.schedule(
        protocol, what, ours, wrong, f"published: {found} in {shipped.executions} executions; ours: {rows.told(ours)}"
    )
