"""A host service with components, and the sessions of who takes part, for programs over readiness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.host import beats
from fdcomm.host.readiness_channel import ReadinessChannel
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime
from models.readiness_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("CACHE", "ONE", "ORDER", "Bed", "Declared", "Party")

Declared = list[tuple[str, int, list[str]]]
Party = tuple[str, int]
ONE: Declared = [("cache", 1, [])]
CACHE: Declared = [("cache", 2, [])]
ORDER: Declared = [("cache", 1, []), ("worker", 1, ["cache"])]


class Bed(HostBed):
    """A host service with components, a session for each part and two for clients, and what these were told."""

    def __init__(self, runtime: ControlledRuntime, declared: Declared) -> None:
        super().__init__(runtime, HostConfig(2), "readiness", accept)
        self.clients = [self.session(), self.session()]
        self.act(self.clients[0], "declare", declared)
        self.parties: list[Party] = [(name, rank) for name, parts, _ in declared for rank in range(parts)]
        self.sessions = {party: self.session() for party in self.parties}
        self.base = len(self.words) - beats.words_for(2)
        self.told: list[list[object]] = [[], []]
        self.came: dict[Party, list[object]] = {party: [] for party in self.parties}

    def act(self, session: int, action: str, *args: object) -> Any:
        """Call the host."""
        return self.service.act(session, "readiness", action, *args)

    def wait(self, client: int, names: tuple[str, ...], timeout: float | None = None, patient: bool = False) -> None:
        """Wait, and note the outcome or the error's type."""
        token = len(self.told[client]) + 1
        try:
            end = self.act(self.clients[client], "wait", token, list(names), timeout, patient, None)
            self.told[client].append("cancelled" if end["cancelled"] else end["outcome"])
        except FdcommError as error:
            self.told[client].append(type(error))

    def come(self, party: Party, session: int | None = None, limit: float | None = None) -> None:
        """A part comes up, and is ready."""
        mine = self.sessions[party] if session is None else session
        try:
            self.act(mine, "begin", *party, self.runtime.monotonic(), "loading", None)
            self.act(mine, "ready", *party, self.runtime.monotonic(), limit)
            self.came[party].append("ready")
        except FdcommError as error:
            self.came[party].append(type(error))

    def parts(self) -> dict[str, Callable[[], None]]:
        """Return a task for each part."""
        return {f"{name} {rank}": partial(self.come, (name, rank)) for name, rank in self.parties}

    def beat(self, party: Party, inc: int) -> None:
        """The loop of a part comes round: one store, as the client makes it."""
        slot = self.base + beats.slot_of(self.parties.index(party), inc)
        self.runtime.store(self.words, slot, beats.stamp(inc, self.runtime.monotonic()))

    @property
    def channel(self) -> ReadinessChannel:
        """The channel inside."""
        channel = self.service.channel("readiness")
        assert isinstance(channel, ReadinessChannel)
        return channel

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        core = self.channel._core
        assert core is not None
        for waiting in core.open.values():
            awaited = [part for _, _, part in core.awaited(waiting)]
            assert not all(part.serves for part in awaited), "a wait was due, and nobody ended it"
            assert waiting.patient or not any(part.troubled for part in awaited), "trouble was not told"
