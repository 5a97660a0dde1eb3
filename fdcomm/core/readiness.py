"""The readiness protocol as a pure object: who is ready, who is stuck, who is gone, and who waits for whom.

One method per action of ``spec/readiness.toml`` (``tla/readiness/Readiness.tla``). The core has no clock: the host
says with :meth:`Readiness.stall` and :meth:`Readiness.recover` what it has seen in a part's shared word. What follows
from a change is taken by :meth:`Readiness.advance`, one action a call, in the same critical section.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Component", "Health", "Outcome", "Part", "Readiness", "Said", "Waiting")

Said: TypeAlias = Literal["nothing", "starting", "ready", "failed"]
Health: TypeAlias = Literal["away", "starting", "ready", "stuck", "failed", "lost"]
Outcome: TypeAlias = Literal["open", "done", "failed", "late", "gone"]
Step: TypeAlias = Literal["Complete", "GiveUp"]
Party: TypeAlias = tuple[str, int]


@dataclass(slots=True, eq=False)
class Part:
    """A component's process of one rank.

    Attributes:
        inc: Incarnation: how many processes there were, the present one included.
        here: A process acts for it.
        lost: Its process is gone.
        said: What the present process has said.
        stuck: It is ready, and its loop stands still.
        reason: Why it has failed, or serves no more for a while.
    """

    inc: int = 0
    here: bool = False
    lost: bool = False
    said: Said = "nothing"
    stuck: bool = False
    reason: str = ""

    @property
    def serves(self) -> bool:
        """It is ready, and its loop goes round."""
        return self.said == "ready" and not self.stuck

    @property
    def troubled(self) -> bool:
        """It has failed, or is gone."""
        return self.said == "failed" or self.lost

    @property
    def health(self) -> Health:
        """One word for people and programs."""
        if self.stuck:
            return "stuck"
        if self.said != "nothing":
            return self.said
        return "lost" if self.lost else "away"


@dataclass(frozen=True)
class Component:
    """A component: its parts, and the components that it needs first, directly or not."""

    name: str
    parts: tuple[Part, ...]
    needs: frozenset[str]


@dataclass(slots=True, eq=False)
class Waiting:
    """A wait.

    Attributes:
        number: From 1.
        names: The components that it is for.
        patient: Parts that fail or are lost are waited for, because somebody starts them again.
        by: The part that waits; None: a client.
    """

    number: int
    names: tuple[str, ...]
    patient: bool
    by: Party | None
    outcome: Outcome = "open"


class Readiness:
    """The components of one replica.

    Args:
        components: (name, number of parts, names of the components that it needs first) of each.

    Attributes:
        asked: How many waits there were.
        open: The open waits by their numbers, in order.
    """

    def __init__(self, components: Sequence[tuple[str, int, Iterable[str]]]) -> None:
        names = [name for name, _, _ in components]
        if not components or len(set(names)) < len(names):
            raise ConfigError(f"components must have different names, and there must be one: {names}")
        needs = {name: set(needed) for name, _, needed in components}
        for name, parts, _ in components:
            unknown = needs[name] - set(names)
            if parts < 1 or unknown:
                raise ConfigError(f"{name} must have a part, and needs no component that there is not: {unknown or ''}")
        self.components = {
            name: Component(name, tuple(Part() for _ in range(parts)), _all_needs(name, needs))
            for name, parts, _ in components
        }
        self.asked = 0
        self.open: dict[int, Waiting] = {}

    # -- parts ---------------------------------------------------------------------------------------------------

    def join(self, component: str, rank: int) -> int:
        """Join: a new process, which is not ready. Return its incarnation."""
        part = self.part(component, rank)
        if part.here:
            raise ProtocolViolationError(f"Join: part {rank} of {component} is live")
        part.here, part.lost = True, False
        part.inc += 1
        self._says(part, "starting")
        return part.inc

    def leave(self, component: str, rank: int) -> list[Waiting]:
        """Leave: the process ends in peace. Return its waits, which are gone."""
        return self._go(component, rank, "Leave")

    def fence(self, component: str, rank: int) -> list[Waiting]:
        """Fence: the process is gone. Return its waits, which are gone."""
        gone = self._go(component, rank, "Fence")
        self.part(component, rank).lost = True
        return gone

    def ready(self, component: str, rank: int) -> None:
        """Ready: the part serves from now on.

        Raises:
            ProtocolViolationError: It is ready, or has failed and not begun anew.
        """
        part = self._live(component, rank, "Ready")
        if part.said != "starting":
            raise ProtocolViolationError(f"Ready: part {rank} of {component} is not starting but {part.health}")
        self._says(part, "ready")

    def fail(self, component: str, rank: int, reason: str = "") -> None:
        """Fail: the part cannot serve.

        Raises:
            ProtocolViolationError: It has failed already.
        """
        part = self._live(component, rank, "Fail")
        if part.said == "failed":
            raise ProtocolViolationError(f"Fail: part {rank} of {component} has failed already")
        self._says(part, "failed", reason)

    def withdraw(self, component: str, rank: int, reason: str = "") -> None:
        """Withdraw: the part serves no more for a while, or tries again after a failure.

        Raises:
            ProtocolViolationError: It is not ready, and has not failed.
        """
        part = self._live(component, rank, "Withdraw")
        if part.said == "starting":
            raise ProtocolViolationError(f"Withdraw: part {rank} of {component} is not ready")
        self._says(part, "starting", reason)

    def stall(self, component: str, rank: int) -> bool:
        """Stall: the stamp of the part is too old. False when that changes nothing: it is not ready, or known."""
        part = self.part(component, rank)
        if not part.serves:
            return False
        part.stuck = True
        return True

    def recover(self, component: str, rank: int) -> bool:
        """Recover: the part has a young stamp. False when it was not stuck."""
        part = self.part(component, rank)
        was, part.stuck = part.stuck, False
        return was

    # -- waits ---------------------------------------------------------------------------------------------------

    def wait(self, components: Sequence[str], *, patient: bool = False, by: Party | None = None) -> Waiting:
        """Wait: for all parts of these components.

        Raises:
            ConfigError: There is no such component.
            ProtocolViolationError: A part may not wait so: it is ready already, or the launch order has it the other
                way round.
        """
        if not components or any(name not in self.components for name in components):
            raise ConfigError(f"wait: {list(components)} must be some of {', '.join(self.components)}")
        if by is not None:
            self.check_order(components, *by)
        self.asked += 1
        waiting = Waiting(self.asked, tuple(components), patient, by)
        self.open[waiting.number] = waiting
        return waiting

    def complete(self, number: int) -> bool:
        """Complete: everything that the wait is for is ready."""
        waiting = self.open.get(number)
        if waiting is None or not all(part.serves for _, _, part in self.awaited(waiting)):
            return False
        self._end(waiting, "done")
        return True

    def give_up(self, number: int) -> bool:
        """GiveUp: a part that the wait is for has failed or is lost, and it is not patient."""
        waiting = self.open.get(number)
        if waiting is None or waiting.patient or not any(part.troubled for _, _, part in self.awaited(waiting)):
            return False
        self._end(waiting, "failed")
        return True

    def expire(self, number: int) -> bool:
        """Expire: the time of the wait is over, or its client is gone. False when it has ended."""
        waiting = self.open.get(number)
        if waiting is None:
            return False
        self._end(waiting, "late")
        return True

    def advance(self) -> tuple[Step, int] | None:
        """Take the first of Complete and GiveUp that is due: its name and the wait's number. None: nothing is."""
        for number in self.open:
            if self.complete(number):
                return "Complete", number
            if self.give_up(number):
                return "GiveUp", number
        return None

    def check_order(self, components: Sequence[str], mine: str, rank: int) -> None:
        """Raise ProtocolViolationError when a part may not wait for these components."""
        part = self._live(mine, rank, "Wait")
        if part.said == "ready":
            raise ProtocolViolationError(f"Wait: part {rank} of {mine} is ready; only a client may wait then")
        for name in components:
            if name == mine or mine in self.components[name].needs:
                raise ProtocolViolationError(
                    f"Wait: {mine} cannot wait for {name}, which comes after it in the launch order"
                )

    def awaited(self, waiting: Waiting) -> Iterable[tuple[str, int, Part]]:
        """Return the parts that a wait is for: (component, rank, part)."""
        return ((name, rank, part) for name in waiting.names for rank, part in enumerate(self.components[name].parts))

    def part(self, component: str, rank: int) -> Part:
        """Return a part.

        Raises:
            ConfigError: There is none.
        """
        there = self.components.get(component)
        if there is None:
            raise ConfigError(f"{component!r} is no component; there are {', '.join(self.components)}")
        if not 0 <= rank < len(there.parts):
            raise ConfigError(f"rank={rank} is outside 0 <= rank < {len(there.parts)} of {component}")
        return there.parts[rank]

    # -- helpers -------------------------------------------------------------------------------------------------

    @staticmethod
    def _says(part: Part, said: Said, reason: str = "") -> None:
        part.said, part.stuck, part.reason = said, False, reason

    def _go(self, component: str, rank: int, action: str) -> list[Waiting]:
        part = self._live(component, rank, action)
        part.here = False
        self._says(part, "nothing")
        gone = [waiting for waiting in self.open.values() if waiting.by == (component, rank)]
        for waiting in gone:
            self._end(waiting, "gone")
        return gone

    def _end(self, waiting: Waiting, how: Outcome) -> None:
        waiting.outcome = how
        del self.open[waiting.number]

    def _live(self, component: str, rank: int, action: str) -> Part:
        part = self.part(component, rank)
        if not part.here:
            raise ProtocolViolationError(f"{action}: part {rank} of {component} is not live")
        return part


def _all_needs(name: str, needs: dict[str, set[str]]) -> frozenset[str]:
    """Return everything that a component needs.

    Raises:
        ConfigError: It needs itself.
    """
    found: set[str] = set()
    todo = [name]
    while todo:
        new = needs[todo.pop()] - found
        found |= new
        todo += new
    if name in found:
        raise ConfigError(f"{name} would be launched after itself: the components need each other in a circle")
    return frozenset(found)
