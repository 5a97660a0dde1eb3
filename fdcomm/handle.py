"""What every queue handle can do within its session: act in the host, and read the host's shared words."""

from __future__ import annotations

import contextlib
from typing import Any

from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ClosedError, ConfigError, MemoryOrderError, RankError, SignalError
from fdcomm.host.layout import BARRIER_GROUPS
from fdcomm.host_path import HostPath
from fdcomm.items import pickled, unpickled
from fdcomm.meeting_path import MeetingPath
from fdcomm.ring_path import RingPath
from fdcomm.session import Session
from fdcomm.stats import DispatchStatistics

__all__ = ("Handle", "handle_of")


def handle_of(queue: object, part: str) -> Handle:
    """Return the handle through which a part of that name acts.

    Raises:
        ConfigError: It is none. The part's first call would fail instead, far from the mistake.
    """
    if not isinstance(queue, Handle):
        raise ConfigError(
            f"{part}: queue={queue!r} is no handle; give an EngineWorkerQueue or an EngineCacheQueue", operation=part
        )
    return queue


class Handle(Session):
    """Base of the queue classes."""

    def _act(self, protocol: str, action: str, *args: Any, timeout: float | None = 0.0, name: str = "") -> Any:
        """Do one action in the host. ``timeout`` is the action's own limit, ``name`` the public call."""
        return self._use(name or action).call("act", protocol, action, *args, timeout=timeout)

    def _path(self, protocol: str, name: str) -> HostPath | RingPath:
        """Return this handle's way to a broadcast channel, for the public call ``name``."""
        path = self._paths.get(protocol)  # it looks by itself whether the handle may be used
        return path or self._ring(protocol, self._use(name)) or HostPath(self, protocol)

    def _meeting(self, channel: str, name: str) -> MeetingPath | None:
        """Return the meeting of a barrier's channel, in which the rank is claimed; None: it waits through the host."""
        transport = self._use(name)
        path = self._meetings.get(channel)
        if path is not None or not self._paths or channel not in self._welcome["meetings"]:
            return path
        with self._opening:
            self._use(name)
            path = self._meetings.get(channel)
            if path is None:
                self._act(channel, "claim", name, name=name)
                with contextlib.suppress(SignalError, MemoryOrderError):
                    path = self._meetings[channel] = MeetingPath(
                        self._welcome["meetings"][channel],
                        BARRIER_GROUPS[self._kind][channel.partition(".")[2]],
                        self.client_id,
                        self._runtime,
                        self._look_at_host,
                        transport.is_alive,
                        transport.abandon,
                    )
        return path

    def _told(self, channel: str, place: int, name: str) -> tuple[int, ...] | None:
        """Return what a reset has to say; None when a look at the barrier's meeting says that it is not aborted."""
        self._use(name)
        path = self._meetings.get(channel)
        if path is None:
            return ()
        self._look_at_host(name)
        return (path.told(place),) if path.broken(place) else None

    def _put(self, protocol: str, item: Any, timeout: Timeout, name: str, count: int = 1) -> None:
        """Give an item, in which are ``count`` things, to every rank of a broadcast channel."""
        if timeout is not DEFAULT:  # that one is looked up when there is something to wait for
            timeout = timeout_seconds(timeout, name)
        self._path(protocol, name).put(item, timeout, name, count)

    @staticmethod
    def _something(item: Any, name: str) -> Any:
        """Return the item; None would be read as "there is none"."""
        if item is None:
            raise ConfigError(
                f"{name}: None cannot be put, because the other side is told 'nothing' by it", operation=name
            )
        return item

    def _get(self, protocol: str, ticket: int, timeout: Timeout, name: str) -> tuple[int, Any, bool]:
        """Take this rank's next item of a broadcast channel: ``(id, item, all_read)``; id 0 is "nothing".

        From then on the handle has claimed its rank in this channel.
        """
        limit = timeout_seconds(timeout, name)
        if self._role == "producer" or self.client_id < 0:
            self._use(name)
            raise RankError(
                f"{name}: this handle acts for no rank; use a client with client_id= and without role='producer'",
                operation=name,
            )
        return self._path(protocol, name).take(self.client_id, ticket, limit, name)

    def _pickle(self, item: Any, name: str) -> bytes:
        self._use(name)
        return pickled(item, self._welcome["max_batch_bytes"], name)

    def _unpickle(self, payload: bytes, name: str) -> Any:
        return unpickled(payload, name)

    def _view(self, protocol: str, *args: Any, name: str) -> dict[str, Any]:
        """Return the host's snapshot of a channel."""
        view: dict[str, Any] = self._act(protocol, "view", *args, name=name)
        return view

    def _statistics(self, protocol: str) -> DispatchStatistics:
        view = self._view(protocol, name="statistics")
        ranks = range(self._welcome["tp_size"])
        return DispatchStatistics(
            num_tasks=view["num_tasks"],
            unread=tuple((id_, tuple(r for r in ranks if r not in taken)) for id_, taken in view["log"]),
            waiting_puts=len(view["waiting"]),
            puts=view["calls"],
            epoch=view["epoch"],
            live=tuple(view["live"]),
            lost=tuple(view["lost"]),
            away=tuple(view["away"]),
            sessions=view["sessions"],
            refused_connections=view["refused_connections"],
        )

    def _oldest(self, protocol: str, name: str) -> int:
        """Return the number of the oldest item that some rank has not taken, or 0. Local where memory is in reach."""
        return self._path(protocol, name).oldest(name)

    def _ticket(self, protocol: str, name: str) -> int:
        """Return the number of the oldest item that this handle's rank has not taken, or 0. As :meth:`_oldest`."""
        if self.client_id < 0:
            raise RankError(f"{name}: this handle has no client_id", operation=name)
        return self._path(protocol, name).ticket(self.client_id, name)

    @staticmethod
    def _check_ticket(ticket: object, name: str, source: str) -> None:
        if type(ticket) is not int or ticket < 0:
            raise ConfigError(f"{name}: ticket={ticket!r} must be a value of {source}()", operation=name)

    def _load(self, protocol: str, word: int, operation: str) -> int:
        """Return one of the channel's shared words, after looking now and then whether the host still lives."""
        self._look_at_host(operation)
        page = self._page
        if page is not None:
            try:
                return self._runtime.load(page.words, self._welcome["words_base"][protocol] + word)
            except ValueError as error:  # released: another thread is closing the handle
                raise ClosedError(f"{operation}: the handle is closed", operation=operation) from error
        raise ClosedError(f"{operation}: the handle is closed", operation=operation)
