"""Calls of a pause that wait: how they go is told while they do, and another thread can end them."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from fdcomm.errors import FdcommError
from fdcomm.handle import Handle
from fdcomm.watched import watched

__all__ = ("Holds", "PauseStatistics", "Progress", "Waits", "new_token")

_PROTOCOL: Final = "pause"
FRESH_S: Final = 0.2
"""How long a look waits for what the ranks answer. A rank that is stopped does not hold up the news of the others."""

_tokens = itertools.count(1)


@dataclass(frozen=True)
class PauseStatistics:
    """A snapshot of a group's pause.

    Attributes:
        phase: "run" or "pause": what the latest order says.
        mode: Of the present pause, or the last one.
        paused: The pause has been reached: no rank runs a job.
        missing: Ranks in which jobs may still run.
        holders: Clients that hold the pause.
        lost_holds: Holds that ended because their client's process was gone.
        live: Ranks that have joined.
        lost: Ranks whose process is gone.
        running: Jobs that run in each of the missing ranks that have shut their gates, as each told last.
        behind: Ranks that have not taken the latest order.
        waiting: Calls of pause, resume and cancel_pause that wait.
    """

    phase: str
    mode: str
    paused: bool
    missing: tuple[int, ...]
    holders: int
    lost_holds: int
    live: tuple[int, ...]
    lost: tuple[int, ...]
    running: Mapping[int, int] = field(default_factory=dict)
    behind: tuple[int, ...] = ()
    waiting: int = 0

    @classmethod
    def of(cls, view: Mapping[str, Any]) -> PauseStatistics:
        """Read the host's snapshot."""
        return cls(
            phase=view["phase"],
            mode=view["mode"],
            paused=view["still"],
            missing=tuple(view["missing"]),
            holders=view["holders"],
            lost_holds=view["lost_holds"],
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
            running=dict(view["running"]),
            behind=tuple(view["behind"]),
            waiting=view["waiting"],
        )


Progress: TypeAlias = Callable[[PauseStatistics], object]
"""Called now and then while a call waits."""


def new_token() -> int:
    """Return a number that no other call of this process has."""
    return next(_tokens)


class Holds:
    """The holds of one handle, and which threads have one."""

    def __init__(self, queue: Handle) -> None:
        self._queue = queue
        self._threads = threading.local()

    @property
    def mine(self) -> bool:
        """True while the calling thread is in a block that holds the pause."""
        return getattr(self._threads, "count", 0) > 0

    @contextlib.contextmanager
    def held(self, client: int, name: str) -> Iterator[None]:
        """For the thread's block: the host has the hold already, under that number."""
        self._threads.count = getattr(self._threads, "count", 0) + 1
        try:
            yield
        finally:
            self._threads.count -= 1
            self.let_go(client, name)

    def let_go(self, client: int, name: str) -> None:
        """Action LetGo."""
        self._queue._act(_PROTOCOL, "let_go", client, name=name)


class Waits:
    """Makes the calls of one handle that wait."""

    def __init__(self, queue: Handle) -> None:
        self._queue = queue

    def call(self, action: str, *args: Any, limit: float | None, token: int = 0) -> Any:
        """Let the host do an action that waits up to ``limit`` seconds. 0 is the token of calls that need none."""
        name = {"cancel": "cancel_pause"}.get(action, action)
        return self._queue._act(_PROTOCOL, action, *args, limit, token, timeout=limit, name=name)

    def watched(
        self,
        action: str,
        *args: Any,
        limit: float | None,
        progress: Progress,
        every: float,
        end: Callable[[], object] | None = None,
        undo: Callable[[Any], object] = lambda answer: None,
    ) -> Any:
        """As :meth:`call`, in a thread of its own; meanwhile ``progress`` is called here every ``every`` seconds.

        When that raises, or this thread is interrupted, the call is given up, or ended by ``end``; if it has been
        answered nevertheless, ``undo`` is called with the answer.
        """
        token = new_token()
        return watched(
            self._queue._runtime,
            partial(self.call, action, *args, limit=limit, token=token),
            look=self.look,
            progress=progress,
            every=every,
            end=end or partial(self.give_up, token),
            undo=undo,
        )

    def look(self) -> PauseStatistics:
        """Ask the ranks how many jobs run, and return what is known soon after."""
        view = self._queue._act(_PROTOCOL, "look", FRESH_S, timeout=FRESH_S, name="pause.look")
        return PauseStatistics.of(view)

    def tell(self, progress: Progress) -> None:
        """Look, and tell it; nothing where the look fails: the call that waits is told that, too."""
        try:
            seen = self.look()
        except FdcommError:
            return
        progress(seen)

    def give_up(self, token: int | None) -> int:
        """End the calls of this handle that wait, or those with that token. Action GiveUp."""
        ended: int = self._queue._act(_PROTOCOL, "give_up", token, name="give_up")
        return ended
