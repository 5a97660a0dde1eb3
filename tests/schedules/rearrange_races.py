"""Races of rearrangements as programs, over the published steps and over the shipping host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import RearrangeBusyError
from fdcomm.testing import ControlledRuntime, Program, Scenario
from tests.schedules.rearrange_testbed import RearrangeBed

__all__ = ("RACES", "race")

_POLL_S = 0.001


class Shipped:
    """Words: size, two cells for addresses, status. Nobody holds a lock."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self._runtime = runtime
        self._words = runtime.words(4)

    def request(self, name: int) -> bool:
        """Look at the status, write the size, then the addresses."""
        if self._runtime.load(self._words, 3):
            return False
        self._runtime.store(self._words, 0, 2)
        self._runtime.store(self._words, 1, name)
        self._runtime.store(self._words, 2, name)
        return True

    def wait(self) -> None:
        """Look again later."""
        self._runtime.sleep(_POLL_S)

    def take(self) -> tuple[int, ...]:
        """Poll the size, read the addresses, clear the size, and say that it is being done."""
        while not self._runtime.load(self._words, 0):
            self._runtime.sleep(_POLL_S)
        read = tuple(self._runtime.load(self._words, cell) for cell in (1, 2))
        self._runtime.store(self._words, 0, 0)
        self._runtime.store(self._words, 3, 1)
        return read

    def end(self) -> None:
        """It is over."""
        self._runtime.store(self._words, 3, 0)


class Ours:
    """The shipping host service."""

    def __init__(self, runtime: ControlledRuntime) -> None:
        self.bed = RearrangeBed(runtime, 1)
        self._busy: object = 0

    def request(self, name: int) -> bool:
        """Ask, with two addresses."""
        try:
            self.bed.act(self.bed.requester, "request", (f"{name}a", f"{name}b"), None)
        except RearrangeBusyError as error:
            self._busy = error.request
            return False
        return True

    def wait(self) -> None:
        """Wait for the end of the one that was running."""
        self.bed.act(self.bed.requester, "wait", self._busy, None)

    def take(self) -> tuple[int, ...]:
        """Take, waiting for as long as it takes."""
        _, addresses = self.bed.act(self.bed.coordinator, "take", None)
        return tuple(int(address[0]) for address in addresses)

    def end(self) -> None:
        """Call it off."""
        self.bed.act(self.bed.coordinator, "declare", self.bed.core.request_number, "no")


def _whole(handle: Shipped | Ours) -> Scenario:
    """P13.1: the addresses are those of the request."""
    read: list[tuple[int, ...]] = []

    def final() -> None:
        assert read == [(1, 1)], f"the addresses are {read}"

    def requester() -> None:
        handle.request(1)

    return Scenario({"requester": requester, "manager": lambda: read.append(handle.take())}, final=final)


def _none_lost(handle: Shipped | Ours) -> Scenario:
    """P13.2, P13.3: every request that was accepted is taken."""
    accepted: list[int] = []
    taken: list[int] = []

    def requester(name: int) -> None:
        while not handle.request(name):
            handle.wait()
        accepted.append(name)

    def manager() -> None:
        for _ in (1, 2):
            taken.append(handle.take()[0])
            handle.end()

    def final() -> None:
        assert sorted(taken) == [1, 2], f"accepted {accepted}, taken {taken}"

    return Scenario({"1": partial(requester, 1), "2": partial(requester, 2), "manager": manager}, final=final)


# Race -> its program, and what it comes to on the published steps.
RACES: dict[str, tuple[Callable[[Shipped | Ours], Scenario], str]] = {
    "P13.1": (_whole, "invariant"),
    "P13.3": (_none_lost, "livelock"),
}


def race(name: str, *, shipped: bool) -> Program:
    """Return the program of a race, over the published steps or over ours."""

    def build(runtime: ControlledRuntime) -> Scenario:
        return RACES[name][0](Shipped(runtime) if shipped else Ours(runtime))

    return Program(f"{name}, {'shipped' if shipped else 'ours'}", build, {})
