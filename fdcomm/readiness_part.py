"""What a process is a part of, and the word that its loop stamps."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.core.readiness import Party
from fdcomm.errors import ClosedError, HostLostError, ProtocolViolationError
from fdcomm.handle import Handle
from fdcomm.host import beats

__all__ = ("PROTOCOL", "PartLoop")

PROTOCOL: Final = "readiness"
_LOOK_AT_HOST_EVERY_S: Final = 0.1
_CALL_EVERY_S: Final = 1.0


class PartLoop:
    """The part that a process is, through one handle."""

    def __init__(self, queue: Handle) -> None:
        self._queue = queue
        self._runtime = queue._runtime
        self._party: Party | None = None
        self._inc = 0
        self._word = -1  # in the host's shared page; -1: not within reach
        self._next_look = 0.0
        self._limit: float | None = None

    def party(self, operation: str) -> Party:
        """Return the part.

        Raises:
            ProtocolViolationError: It was not named.
        """
        if self._party is None:
            raise ProtocolViolationError(
                f"{operation}: this process is no part yet; call starting() or ready() with its component first",
                operation=operation,
            )
        return self._party

    @property
    def in_reach(self) -> bool:
        """True while a beat is no call of the host."""
        return self._word >= 0

    def begin(self, party: Party, stage: str, fraction: float | None) -> None:
        """Tell the host that the part comes up."""
        args = (*self._change_to(party, "readiness.starting"), self._clock(), stage, fraction)
        self._takes(party, self._queue._act(PROTOCOL, "begin", *args, name="readiness.starting"))

    def ready(self, party: Party, limit: float | None) -> None:
        """Tell the host that the part serves."""
        args = (*self._change_to(party, "readiness.ready"), self._clock(), limit)
        self._limit = limit
        self._takes(party, self._queue._act(PROTOCOL, "ready", *args, name="readiness.ready"))

    def act(self, action: str, name: str, *args: object) -> None:
        """Tell the host something else about the part."""
        self._queue._act(PROTOCOL, action, *self.party(name), *args, name=name)

    def forget(self) -> None:
        """The process is no part any more."""
        self._party, self._word = None, -1

    def beat(self) -> None:
        """Store the time in the part's word, after looking now and then whether the connection still lives.

        Where the word is not within reach the host is asked to, once a second, or four times in the limit.
        """
        name = "readiness.beat"
        transport = self._queue._use(name)
        now = self._runtime.monotonic()
        if self._word < 0:
            party = self.party(name)
            if now >= self._next_look:
                self._queue._act(PROTOCOL, "beat", *party, name=name)
                self._next_look = now + min(_CALL_EVERY_S, (self._limit or _CALL_EVERY_S) / 4)
            return
        if now >= self._next_look:
            if not transport.is_alive():
                raise HostLostError(
                    f"{name}: the host is gone, or has lost this process, which is no part any more; end it, or open "
                    "a new handle",
                    operation=name,
                )
            self._next_look = now + _LOOK_AT_HOST_EVERY_S
        page = self._queue._page
        try:
            if page is not None:
                self._runtime.store(page.words, self._word, beats.stamp(self._inc, now))
                return
        except ValueError as error:  # released: another thread is closing the handle
            raise ClosedError(f"{name}: the handle is closed", operation=name) from error
        raise ClosedError(f"{name}: the handle is closed", operation=name)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _change_to(self, party: Party, name: str) -> Party:
        if self._party not in (None, party):
            raise ProtocolViolationError(
                f"{name}: this object is part {self._party}, and not {party}; make another one for that",
                operation=name,
            )
        return party

    def _clock(self) -> float | None:
        return None if self._queue._page is None else self._runtime.monotonic()

    def _takes(self, party: Party, answer: Any) -> None:
        self._party = party
        self._inc, slot = answer
        self._word = -1 if slot < 0 else self._queue._welcome["words_base"][PROTOCOL] + slot
        self._next_look = 0.0
