"""Calls and looks of the pause channel: who waits, who need not any more, and how many jobs the ranks have told of.

Nothing here decides anything of the protocol. The channel's lock is held around each method.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from fdcomm.core.pause import Pause

__all__ = ("Calls", "Looks", "snapshot")


class Calls:
    """The clients of the contract: one is a call at a time, and whoever holds the pause."""

    def __init__(self) -> None:
        self.session_of: dict[int, int] = {}
        self.unwanted: set[int] = set()
        self.watching = 0  # calls that wait for single ranks, and not only for the last one's report
        self._tokens: dict[int, int] = {}

    def begin(self, session: int, token: int | None) -> int:
        """Number a call; with a token it can be given up."""
        client = next(number for number in itertools.count(1) if number not in self.session_of)
        self.session_of[client] = session
        if token is not None:
            self._tokens[client] = token
        return client

    def end(self, client: int, *, holds: bool) -> None:
        """The call has ended; who holds the pause keeps the number."""
        self._tokens.pop(client, None)
        self.unwanted.discard(client)
        if not holds:
            del self.session_of[client]

    def give_up(self, session: int, token: int | None) -> int:
        """Mark the calls of this session that wait, or those with that token. Returns how many."""
        mine = {
            client
            for client, said in self._tokens.items()
            if self.session_of[client] == session and token in (None, said)
        }
        self.unwanted |= mine
        return len(mine)

    @contextlib.contextmanager
    def watches(self) -> Iterator[None]:
        """Whatever a rank says is news to the call in this block."""
        self.watching += 1
        try:
            yield
        finally:
            self.watching -= 1

    def __len__(self) -> int:
        return len(self._tokens)


class Looks:
    """How many jobs run in each rank, as it told last; a look asks all to tell again."""

    def __init__(self) -> None:
        self.number = 0
        self._told: dict[int, tuple[int, int]] = {}

    def told(self, rank: int, running: int) -> None:
        """The rank answers the latest look."""
        self._told[rank] = (self.number, running)

    def forget(self, rank: int) -> None:
        """Another process acts for the rank."""
        self._told.pop(rank, None)

    def answered(self, ranks: Iterable[int], look: int) -> bool:
        """Return True when all these ranks have answered that look, or a later one."""
        return all(rank in self._told and self._told[rank][0] >= look for rank in ranks)

    def running(self, ranks: Iterable[int]) -> dict[int, int]:
        """Return what those of these ranks told last that have told something."""
        return {rank: self._told[rank][1] for rank in ranks if rank in self._told}


def snapshot(core: Pause, calls: Calls, looks: Looks) -> dict[str, Any]:
    """Return the state of the group: plain values only."""
    missing = core.missing() if core.latest.phase == "pause" else ()
    return {
        "order": core.latest.number,
        "phase": core.latest.phase,
        "mode": core.latest.mode,
        "still": core.still,
        "missing": missing,
        "running": looks.running(rank for rank in missing if core.seen[rank] == core.latest.number),
        "behind": core.not_resumed(core.latest.number),
        "waiting": len(calls),
        "holders": len(core.holders),
        "live": sorted(core.live),
        "lost": sorted(core.lost),
    }
