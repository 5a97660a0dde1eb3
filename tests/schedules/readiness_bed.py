"""A host service with components, and the sessions of who takes part, for programs over readiness."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fdcomm.errors import FdcommError
from fdcomm.host import beats
from fdcomm.host.readiness_channel import ReadinessChannel
from fdcomm.testing import ControlledRuntime
from models.readiness_trace import accept
from tests.schedules.component_bed import ComponentBed, Party

__all__ = ("CACHE", "ONE", "ORDER", "Bed", "Declared")

Declared = list[tuple[str, int, list[str]]]
ONE: Declared = [("cache", 1, [])]
CACHE: Declared = [("cache", 2, [])]
ORDER: Declared = [("cache", 1, []), ("worker", 1, ["cache"])]


class Bed(ComponentBed):
    """A host service with components, and what came of their parts."""

    def __init__(self, runtime: ControlledRuntime, declared: Declared) -> None:
        parties = [(name, rank) for name, parts, _ in declared for rank in range(parts)]
        super().__init__(runtime, "readiness", accept, declared, parties)
        self.base = len(self.words) - beats.words_for(2)
        self.came: dict[Party, list[object]] = {party: [] for party in self.parties}

    def wait(self, client: int, names: tuple[str, ...], timeout: float | None = None, patient: bool = False) -> None:
        """Wait, and note the outcome or the error's type."""
        token = len(self.told[client]) + 1
        self.tell(client, "wait", token, list(names), timeout, patient, None)

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
