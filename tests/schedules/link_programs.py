"""Programs over the shipping book of links: the door's thread, and the threads that do calls."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import FencedError
from fdcomm.link import frames
from fdcomm.link.links import Links
from fdcomm.testing import Bound, ControlledRuntime, Program, Scenario
from models.dispatch_trace import accept
from tests.schedules.hosted import judge
from tests.traces.layerwise_runs import Memory
from tests.traces.link_runs import GRACE_S, Handle

__all__ = ("PROGRAMS", "Bed")


class _Service:
    """What takes effect, and when sessions end, each in one critical section."""

    def __init__(self, runtime: ControlledRuntime, events: list[Any]) -> None:
        self._guard = runtime.condition()
        self._events = events
        self.open: set[int] = set()
        self.made = 0

    def open_session(self, hello: Any) -> dict[str, Any]:
        with self._guard:
            self.made += 1
            self.open.add(self.made)
            return {"session": self.made, "instance": 1}

    def close_session(self, session: int) -> None:
        with self._guard:
            self.open.discard(session)

    lose_session = close_session

    def act(self, session: int, protocol: str, action: str, *args: Any) -> int:
        with self._guard:
            if session not in self.open:
                raise FencedError("the session has ended")
            self._events.append({"effect": args[0]})
            return int(args[0])


class _Log(Memory):
    """Events of links and effects of calls, in one order."""


class Bed:
    """The shipping book on a controlled runtime; at the end the model judges what it recorded."""

    def __init__(self, runtime: ControlledRuntime, jobs: int) -> None:
        self.runtime = runtime
        self.memory = _Log()
        self.service = _Service(runtime, self.memory.events)
        self.handle = Handle(1)
        self.sent: list[list[Any]] = []
        self._jobs: deque[Callable[[], None]] = deque()
        self._changed = runtime.condition()
        self._expected = jobs
        self.links = Links(
            self.service,
            lambda peer, message: self.sent.append(message),
            self._submit,
            grace_s=GRACE_S,
            instance=1,
            runtime=runtime,
            recorder=self.memory,
            window=2,
        )

    def _submit(self, job: Callable[[], None]) -> None:
        with self._changed:
            self._jobs.append(job)
            self._changed.notify_all()

    def works(self, count: int = 1) -> None:
        """Do calls, as a thread of the host's."""
        for _ in range(count):
            with self._changed:
                while not self._jobs:
                    self._changed.wait()
                job = self._jobs.popleft()
            job()

    def opened(self) -> None:
        """The session is open, before anything else happens."""
        self.links.receive("a", self.handle.call())
        self._jobs.popleft()()
        for message in self.sent:
            self.handle.take(message)
        self.sent.clear()

    def effects(self) -> list[int]:
        """Return the calls that have taken effect, in order."""
        return [event["effect"] for event in self.memory.events if "effect" in event]

    def scenario(self, tasks: dict[str, Callable[[], None]], final: Callable[[], None]) -> Scenario:
        """Return the scenario of these tasks."""

        def at_the_end() -> None:
            final()
            ends = [i for i, event in enumerate(self.memory.events) if event.get("action") in ("Fence", "Depart")]
            late = [event for end in ends for event in self.memory.events[end:] if "effect" in event]
            assert late == [], f"after the end of the session: {late}"
            judge(accept, [event for event in self.memory.events if "effect" not in event])

        return Scenario(tasks, final=at_the_end)


def copies(runtime: ControlledRuntime) -> Scenario:
    """A call and its copy come, and a sign of life, while the call is done: it takes effect once, and is answered."""
    bed = Bed(runtime, 1)
    bed.opened()
    call = bed.handle.call()
    ping = [frames.PING, bed.handle.name, frames.header(bed.handle.open)]

    def door() -> None:
        for message in (call, bed.handle.request(2), ping):
            bed.links.receive("a", message)

    def final() -> None:
        assert bed.effects() == [2], bed.effects()
        for message in bed.sent:
            bed.handle.take(message)
        assert bed.handle.answers[2] == (2, None)

    return bed.scenario({"door": door, "worker": bed.works}, final)


def two_calls(runtime: ControlledRuntime) -> Scenario:
    """Two calls are done by two threads, and come in the other order: each takes effect once."""
    bed = Bed(runtime, 2)
    bed.opened()
    first, second = bed.handle.call(), bed.handle.call()

    def door() -> None:
        for message in (second, first):
            bed.links.receive("a", message)

    def final() -> None:
        assert sorted(bed.effects()) == [2, 3], bed.effects()

    return bed.scenario({"door": door, "one": bed.works, "two": bed.works}, final)


def fenced(runtime: ControlledRuntime, end: str) -> Scenario:
    """The session ends while a call is done: it takes effect before that, or never."""
    bed = Bed(runtime, 1 if end == "silence" else 2)
    bed.opened()
    call = bed.handle.call()

    def door() -> None:
        bed.links.receive("a", call)
        if end == "silence":
            bed.links.tick(2 * GRACE_S)
        else:
            bed.links.receive("a", [frames.QUIT, bed.handle.name])

    def final() -> None:
        assert bed.effects() in ([], [2]), bed.effects()
        assert bed.service.open == set(), "the session is left open"

    return bed.scenario({"door": door, "worker": lambda: bed.works(1 if end == "silence" else 2)}, final)


def half_opened(runtime: ControlledRuntime) -> Scenario:
    """The handle is given up while its session is being opened: nothing is left open."""
    bed = Bed(runtime, 1)
    hello = bed.handle.call()

    def door() -> None:
        bed.links.receive("a", hello)
        bed.links.tick(2 * GRACE_S)

    def final() -> None:
        assert bed.service.open == set(), "the session is left open"

    return bed.scenario({"door": door, "worker": bed.works}, final)


_BUILT: dict[str, Callable[[ControlledRuntime], Scenario]] = {
    "a call, its copy and a sign of life": copies,
    "2 calls and 2 threads": two_calls,
    "silence while a call is done": partial(fenced, end="silence"),
    "the handle gives up while a call is done": partial(fenced, end="quit"),
    "silence while the session is opened": half_opened,
}
PROGRAMS: dict[str, tuple[Program, Bound]] = {
    name: (Program(f"link: {name}", build, {}), Bound(preemptions=2 if build is two_calls else 3))
    for name, build in _BUILT.items()
}
"""Name -> the program and its bound."""
