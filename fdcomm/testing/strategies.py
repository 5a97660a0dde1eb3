"""Strategies: who goes on at each step, and when there is nothing left to try.

``begin()`` says whether there is another execution; ``choose(scheduler)`` picks one of ``scheduler.options``;
``end(outcome)`` is told how it went. ``complete`` is True when everything within the bound has been tried.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from fdcomm.testing.schedule import PRUNED, NondeterminismError, Outcome
from fdcomm.testing.scheduler import Scheduler
from fdcomm.testing.sharing import Histories, Sharing

__all__ = ("PCT", "Exhaustive", "Indexed", "RandomWalk", "Replay", "Strategy")

_ODDS_OF_TIME: Final = 0.1


class Strategy(Protocol):
    """See the module."""

    complete: bool
    histories: Histories | None
    sharing: Sharing | None

    @property
    def known(self) -> int: ...

    def begin(self) -> bool: ...

    def choose(self, scheduler: Scheduler) -> int | None: ...

    def end(self, outcome: Outcome) -> None: ...


@dataclass(slots=True)
class _Node:
    options: tuple[int, ...]
    index: int
    fingerprint: Hashable


class Exhaustive:
    """Depth-first search by replay.

    Args:
        prune: End an execution in a state that has been explored with no less of the bound left. Sound if tasks are
            deterministic functions of the results of their operations, and share data only through words, through
            data that one lock protects, or announced by ``access()``. Without it nothing is assumed.
        reduce: Do not try orders of operations that commute (release, wait, a word that one lock protects so far, ...).
            Sound under the same conditions, and for invariants that look only at what one lock protects while it is
            free. A deadlock is reported as such, though a spurious wake-up might have come before it. When an
            execution shows that a word is not protected, the search begins anew with that knowledge.
    """

    def __init__(self, *, prune: bool = True, reduce: bool = True) -> None:
        self.complete = False
        self.histories = Histories() if prune else None
        self.sharing = Sharing() if reduce else None
        self._stack: list[_Node] = []
        self._depth = 0
        self._began = False
        self._seen: dict[Hashable, list[tuple[int, int, int]]] = {}

    @property
    def known(self) -> int:
        """How many steps of the next execution repeat the last one."""
        return max(0, len(self._stack) - 1)

    @property
    def states(self) -> int | None:
        """How many states with a choice have been met; None when they are not told apart."""
        return None if self.histories is None else len(self._seen)

    def begin(self) -> bool:
        """See :class:`Strategy`."""
        stack = self._stack
        if self.sharing is not None and self.sharing.news:
            self.sharing.news = False
            stack.clear()
            self._seen.clear()
        elif self._began:
            while stack and stack[-1].index + 1 == len(stack[-1].options):
                stack.pop()
            if not stack:
                self.complete = True
                return False
            stack[-1].index += 1
        self._began = True
        self._depth = 0
        return True

    def choose(self, scheduler: Scheduler) -> int | None:
        """See :class:`Strategy`."""
        depth = self._depth
        self._depth += 1
        if depth < len(self._stack):
            node = self._stack[depth]
            seen = scheduler.fingerprint()
            if node.fingerprint != seen:
                raise NondeterminismError(
                    f"step {depth + 1} differs when repeated: it was {node.fingerprint}, and now is {seen}"
                )
            return node.options[node.index]
        options = scheduler.options
        if len(options) > 1 and (local := scheduler.local()) is not None:
            options = (local,)
        if self.histories is not None and len(options) > 1 and self._known(scheduler):
            return None
        self._stack.append(_Node(options, 0, scheduler.fingerprint()))
        return options[0]

    def end(self, outcome: Outcome) -> None:
        """See :class:`Strategy`."""
        if self._depth < len(self._stack) and not outcome.failed:
            raise NondeterminismError(f"an execution ended after {self._depth} steps that was longer before")

    def _known(self, scheduler: Scheduler) -> bool:
        spent = scheduler.spent
        known = self._seen.setdefault(scheduler.key(), [])
        if any(all(a <= b for a, b in zip(other, spent, strict=True)) for other in known):
            return True
        known.append(spent)
        return False


class RandomWalk:
    """A seeded uniform choice at every step."""

    histories: Histories | None = None
    sharing: Sharing | None = None
    known = 0

    def __init__(self, seed: int, executions: int) -> None:
        self.complete = False
        self._seeds = iter(range(executions))
        self._seed = seed
        self._random = random.Random()

    def begin(self) -> bool:
        """See :class:`Strategy`."""
        number = next(self._seeds, None)
        self._random.seed(f"{self._seed}/{number}")
        return number is not None

    def choose(self, scheduler: Scheduler) -> int | None:
        """See :class:`Strategy`."""
        return self._random.choice(scheduler.options)

    def end(self, outcome: Outcome) -> None:
        """See :class:`Strategy`."""


class PCT(RandomWalk):
    """Random priorities with ``depth - 1`` random changes: finds a bug of that depth with a known probability.

    (Burckhardt and others, 2010: at least ``1 / (tasks * steps ** (depth - 1))`` per execution.)
    """

    def __init__(self, seed: int, executions: int, depth: int = 3) -> None:
        super().__init__(seed, executions)
        self._depth = depth
        self._longest = 1
        self._step = 0
        self._priorities: dict[int, float] = {}
        self._changes: set[int] = set()

    def begin(self) -> bool:
        """See :class:`Strategy`."""
        self._longest = max(self._longest, self._step)
        more = super().begin()
        self._step = 0
        self._priorities = {}
        self._changes = {self._random.randrange(self._longest) for _ in range(self._depth - 1)}
        return more

    def choose(self, scheduler: Scheduler) -> int | None:
        """See :class:`Strategy`."""
        self._step += 1
        others = [option for option in scheduler.options if option < 0]
        tasks = [option for option in scheduler.options if option >= 0]
        if not tasks or (others and self._random.random() < _ODDS_OF_TIME):
            return self._random.choice(others)
        for task in tasks:
            self._priorities.setdefault(task, 1 + self._random.random())
        first = max(tasks, key=lambda task: self._priorities[task])
        if self._step in self._changes:
            self._priorities[first] = -self._step
            first = max(tasks, key=lambda task: self._priorities[task])
        return first


class Replay:
    """Runs given choices once; after the last one, the default.

    Args:
        choices: What to choose.
        strict: A choice that is not possible is an error. Otherwise it is skipped, so that a schedule of one program
            can be tried on another.
    """

    histories: Histories | None = None
    sharing: Sharing | None = None
    known = 0

    def __init__(self, choices: Sequence[int], *, strict: bool = True) -> None:
        self.complete = False
        self._choices = list(choices)
        self._next = 0
        self._strict = strict
        self._began = False

    def begin(self) -> bool:
        """See :class:`Strategy`."""
        again, self._began = self._began, True
        return not again

    def choose(self, scheduler: Scheduler) -> int | None:
        """See :class:`Strategy`."""
        while self._next < len(self._choices):
            choice = self._choices[self._next]
            self._next += 1
            if choice in scheduler.options:
                return choice
            if self._strict:
                raise NondeterminismError(
                    f"step {self._next} of the schedule is {choice}, which is not one of {scheduler.options}: "
                    "it is a schedule of another program"
                )
        return scheduler.options[0]

    def end(self, outcome: Outcome) -> None:
        """See :class:`Strategy`."""
        if self._strict and outcome.verdict != PRUNED and self._next < len(self._choices):
            raise NondeterminismError(f"the execution ended after {self._next} of {len(self._choices)} choices")


class Indexed(Replay):
    """Runs indices into the options, modulo their number: any list of numbers is a schedule, and 0 is the default."""

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__(indices, strict=False)

    def choose(self, scheduler: Scheduler) -> int | None:
        """See :class:`Strategy`."""
        if self._next == len(self._choices):
            return scheduler.options[0]
        self._next += 1
        return scheduler.options[self._choices[self._next - 1] % len(scheduler.options)]
