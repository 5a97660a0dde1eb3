"""Runs of links as their host records them: random ones, over a network that loses, copies and delays; altered ones."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from fdcomm.errors import FencedError
from fdcomm.link import frames
from fdcomm.link.links import LINK_EVENTS, Links
from fdcomm.runtime import SYSTEM
from tests.traces.alterations import dropped, gap, on_copies, renamed, valued
from tests.traces.events import Event, index_of, lines_of, renumbered
from tests.traces.layerwise_runs import Memory

__all__ = ("ACTIONS", "ALTERED", "Handle", "Tally", "World", "lines_of", "random_runs", "whole_runs")

ACTIONS = set(LINK_EVENTS)
GRACE_S = 10.0


class Tally:
    """A service that counts what takes effect, for which call of which session."""

    def __init__(self) -> None:
        self.sessions: dict[int, str] = {}
        self.effects: Counter[tuple[int, int]] = Counter()
        self.opened: Counter[int] = Counter()

    def open_session(self, hello: int) -> dict[str, Any]:
        """Open a session. ``hello`` is the handle's own number."""
        session = len(self.sessions) + 1
        self.sessions[session] = "open"
        self.opened[hello] += 1
        return {"session": session, "instance": 1}

    def close_session(self, session: int) -> None:
        """Close."""
        if self.sessions[session] == "open":
            self.sessions[session] = "closed"

    def lose_session(self, session: int) -> None:
        """Fence."""
        if self.sessions[session] == "open":
            self.sessions[session] = "lost"

    def act(self, session: int, protocol: Any, action: str, *args: Any) -> int:
        """Take effect. In the place of the protocol is the handle, and the argument is the number of its call."""
        if self.sessions.get(session) != "open":
            raise FencedError(f"{action}: the session has ended")
        self.effects[protocol, args[0]] += 1
        return int(args[0])


class Handle:
    """The handle's side of the protocol, over a network in memory."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = number.to_bytes(frames.LINK_BYTES, "big")
        self.top = 0
        self.open: list[int] = []
        self.answers: dict[int, Any] = {}
        self.state = "up"

    def call(self) -> list[Any]:
        """Make the next call; return its request."""
        self.top += 1
        self.open.append(self.top)
        return self.request(self.top)

    def request(self, number: int) -> list[Any]:
        """Return the request of a call."""
        call = ("open_session", (self.number,)) if number == 1 else ("act", (self.number, "act", number))
        return [frames.CALL, self.name, frames.header(number, self.open, self.top), *frames.pack(call)]

    def take(self, message: list[Any]) -> list[list[Any]]:
        """Take a message of the host; return requests that have to be sent again."""
        kind = message[0]
        if self.state != "up":
            return []
        if kind == frames.ENDED:
            self.state = "told"
        elif kind == frames.PONG:
            (missing,) = frames.numbers(message[2], "l")
            return [self.request(n) for n in missing if n in self.open]
        else:
            (number,) = frames.numbers(message[2], "n")
            if number in self.open:
                self.open.remove(number)
                self.answers[number] = frames.outcome(message[3:])
        return []


class World:
    """Handles, a network, and a host's book of links; whatever happens next is drawn."""

    def __init__(self, rng: random.Random, window: int = 4) -> None:
        self.rng = rng
        self.window = window
        self.memory = Memory()
        self.tally = Tally()
        self.jobs: list[Callable[[], None]] = []
        self.there: list[tuple[int, list[Any]]] = []  # to the host
        self.back: list[tuple[int, list[Any]]] = []
        self.handles: list[Handle] = []
        self.links = Links(
            self.tally,
            lambda peer, message: self.back.append((peer, message)),
            self.jobs.append,
            grace_s=GRACE_S,
            instance=1,
            runtime=SYSTEM,
            recorder=self.memory,
            window=window,
        )

    def new(self) -> Handle:
        """Make a handle."""
        self.handles.append(Handle(len(self.handles)))
        return self.handles[-1]

    def send(self, handle: Handle, message: list[Any]) -> None:
        """Put a message into the network."""
        self.there.append((handle.number, message))

    def deliver(self, index: int = 0, *, keep: bool = False) -> None:
        """Give a message to the host; perhaps a copy of it comes again."""
        peer, message = self.there[index] if keep else self.there.pop(index)
        self.links.receive(peer, message)

    def answer(self, index: int = 0) -> None:
        """Give a message to its handle."""
        number, message = self.back.pop(index)
        handle = self.handles[number]
        for request in handle.take(message):
            self.send(handle, request)

    def run(self, index: int = 0) -> None:
        """Run a job."""
        self.jobs.pop(index)()

    def act(self) -> None:
        """Something happens."""
        rng = self.rng
        luck = rng.random()
        if luck < 0.04 or not self.handles:
            handle = self.new()
            self.send(handle, handle.call())
        elif luck < 0.25:
            self._handle_acts(rng.choice(self.handles[-3:]))
        elif luck < 0.55 and self.there:
            self.deliver(rng.randrange(len(self.there)), keep=rng.random() < 0.2)
        elif luck < 0.6 and self.there + self.back:
            lossy = rng.choice([end for end in (self.there, self.back) if end])
            lossy.pop(rng.randrange(len(lossy)))
        elif luck < 0.75 and self.jobs:
            self.run(rng.randrange(len(self.jobs)))
        elif luck < 0.97 and self.back:
            self.answer(rng.randrange(len(self.back)))
        elif luck > 0.985:
            self.links.tick(rng.choice((GRACE_S / 4, GRACE_S / 2)))

    def _handle_acts(self, handle: Handle) -> None:
        if handle.state != "up":
            return
        luck = self.rng.random()
        if luck < 0.5 and 1 in handle.answers and len(handle.open) < self.window:
            self.send(handle, handle.call())
        elif luck < 0.75 and handle.open:
            self.send(handle, handle.request(self.rng.choice(handle.open)))
        elif luck < 0.93:
            self.send(handle, [frames.PING, handle.name, frames.header(handle.open)])
        elif not handle.open:
            handle.state = "left"
            self.send(handle, [frames.BYE if luck < 0.97 else frames.QUIT, handle.name])

    def check(self) -> None:
        """AssertionError if a call took effect twice, or has an answer and took none."""
        assert max(self.tally.effects.values(), default=0) <= 1, self.tally.effects
        assert max(self.tally.opened.values(), default=0) <= 1, self.tally.opened
        for handle in self.handles:
            for number, (value, error) in handle.answers.items():
                if number > 1 and error is None:
                    assert value == number
                    assert self.tally.effects[handle.number, number] == 1
                assert error is None or isinstance(error, FencedError), error

    def runs(self) -> list[list[Event]]:
        """Return the runs of the links."""
        found: dict[str, list[Event]] = {}
        for event in self.memory.events:
            found.setdefault(event["protocol"], []).append(event)
        return [*found.values()]


def random_runs(seed: int, acts: int) -> list[list[Event]]:
    """Return what the links of a random world have recorded."""
    world = World(random.Random(seed))
    for _ in range(acts):
        world.act()
    world.check()
    return world.runs()


def whole_runs() -> list[list[Event]]:
    """Return a run that is closed and one that is fenced, in which everything else happens; always the same."""
    world = World(random.Random(0), window=2)
    for end in ("closed", "fenced"):
        handle = world.new()
        world.send(handle, handle.call())
        world.send(handle, handle.request(1))
        for step in (world.deliver, world.run, world.deliver, world.answer):  # Begin, Finish, Repeat
            step()
        world.back.clear()
        first = frames.pack(("open_session", (handle.number,)))
        hello = handle.number, [frames.CALL, handle.name, frames.header(1, [1], 1), *first]
        for _ in range(2):
            world.send(handle, handle.call())
        world.deliver(1)
        world.there.append(hello)
        world.deliver(1)  # Stale
        world.send(handle, handle.request(3))
        world.deliver(1)  # Repeat, while it runs
        world.deliver()
        if end == "closed":
            world.run()
            world.run()
            for _ in range(len(world.back)):
                world.answer()
            world.send(handle, [frames.BYE, handle.name])
            world.deliver()
            world.run()
        else:
            world.run()
            world.links.tick(2 * GRACE_S)
        world.send(handle, handle.request(handle.top))
        world.there[-1][1][2] = frames.header(handle.top, [handle.top], handle.top)
        world.deliver()  # Refuse
        world.jobs.clear()
        world.back.clear()
    world.check()
    return world.runs()


def _again(name: str, fits: Callable[[Event], bool] = lambda event: True) -> Callable[[list[Event]], list[Event]]:
    """The first such event happens once more."""

    def change(run: list[Event]) -> list[Event]:
        index = index_of(run, name, fits)
        run.insert(index + 1, copy.deepcopy(run[index]))
        return renumbered(run)

    return change


def _goes_on(run: list[Event]) -> list[Event]:
    """A call begins in a session that has ended."""
    index = index_of(run, "Refuse")
    run[index]["action"] = "Begin"
    run[index]["post"]["session"] = "open"
    return run


def _finishes_late(run: list[Event]) -> list[Event]:
    """A call takes effect after the fence."""
    index = index_of(run, "Fence")
    late = copy.deepcopy(run[index])
    running = next(n for n, state in late["post"]["known"] if state == "running")
    late |= {"action": "Finish", "args": {"number": running}}
    late["post"]["known"] = [[n, "done" if n == running else state] for n, state in late["post"]["known"]]
    run.insert(index + 1, late)
    return renumbered(run)


def _known_as(name: str, state: str) -> Callable[[list[Event]], list[Event]]:
    """After the first such event the last call is known as something else."""

    def change(run: list[Event]) -> list[Event]:
        run[index_of(run, name)]["post"]["known"][-1][1] = state
        return run

    return change


ALTERED = on_copies(
    {
        "a line is lost": gap("Finish"),
        "a call is forgotten": dropped("Begin"),
        "an end is forgotten": dropped("Fence"),
        "a call begins twice": _again("Begin"),
        "a call ends twice": _again("Finish"),
        "it is fenced twice": _again("Fence"),
        "a late copy begins": renamed("Stale", "Begin"),
        "a copy begins": renamed("Repeat", "Begin"),
        "a new call was there before": renamed("Begin", "Repeat"),
        "a refused call goes on": _goes_on,
        "a call ends after the fence": _finishes_late,
        "it was closed": renamed("Fence", "Depart"),
        "an answer is not kept": _known_as("Finish", "new"),
        "a call is done at once": _known_as("Begin", "done"),
        "a state that is none": _known_as("Begin", "bare"),
        "another call": valued("Finish", "args", "number", lambda number: number + 1),
        "a call that is not open": valued("Stale", "args", "number", lambda number: number + 7),
        "more calls than there were": valued("Begin", "args", "open", lambda calls: [*calls, calls[-1] + 5]),
        "a higher number": valued("Begin", "post", "top", lambda number: number + 1),
        "a truth is a number": valued("Begin", "post", "top", bool),
        "a session that is none": valued("Begin", "post", "session", lambda session: "half open"),
        "another session": valued("Fence", "post", "session", lambda session: "open"),
        "no such action": renamed("Finish", "Forget"),
    }
)
