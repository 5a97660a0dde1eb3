"""What every queue handle can do within its session: act in the host, and read the host's shared words."""

from __future__ import annotations

import pickle
from typing import Any

from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    HostLostError,
    PayloadError,
    PayloadTooLargeError,
    RankError,
)
from fdcomm.ring.payload import decode
from fdcomm.session import Session
from fdcomm.stats import DispatchStatistics

__all__ = ("Handle",)

_LOOK_AT_HOST_EVERY_S = 0.1


class Handle(Session):
    """Base of the queue classes."""

    def _act(self, protocol: str, action: str, *args: Any, timeout: float | None = 0.0, name: str = "") -> Any:
        """Do one action in the host. ``timeout`` is the action's own limit, ``name`` the public call."""
        return self._use(name or action).call("act", protocol, action, *args, timeout=timeout)

    def _put(self, protocol: str, item: Any, timeout: Timeout, name: str, count: int = 1) -> None:
        """Pickle an item, in which are ``count`` things, and give it to every rank of a broadcast channel."""
        limit = timeout_seconds(timeout, name)
        self._use(name)
        path = self._paths.get(protocol)
        if path is not None:
            path.put(item, limit, name, count)
            return
        payload = self._pickle(item, name)
        self._act(protocol, "put_tasks", payload, limit, name, count, timeout=limit, name=name)

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
        self._use(name)
        if self._role == "producer" or self.client_id < 0:
            raise RankError(
                f"{name}: this handle acts for no rank; use a client with client_id= and without role='producer'",
                operation=name,
            )
        path = self._paths.get(protocol)
        if path is not None:
            if protocol not in self._claimed or path.end.port is None:
                self._act(protocol, "claim", name, name=name)
                path.claim(self.client_id)
                self._claimed.add(protocol)
            return path.take(ticket, limit, name, self.client_id)
        try:
            id_, payload, all_read = self._act(protocol, "get_tasks", ticket, limit, name, timeout=limit, name=name)
        except CommTimeoutError:
            self._claimed.add(protocol)
            raise
        self._claimed.add(protocol)
        return id_, self._unpickle(payload, name) if id_ else None, all_read

    def _clear(self, protocol: str, name: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Drop what no rank has taken. Returns what was dropped, and who has taken the oldest item that stays."""
        self._use(name)
        path = self._paths.get(protocol)
        if path is not None:
            return path.clear(name)
        cleared: tuple[tuple[int, ...], tuple[int, ...]] = self._act(protocol, "clear_data", name, name=name)
        return cleared

    def _number(self, protocol: str, what: str, name: str) -> int:
        """Return ``num_tasks`` or ``count`` of a channel. Local where its ring is mapped."""
        self._use(name)
        path = self._paths.get(protocol)
        if path is None:
            return int(self._view(protocol, name=name)[what])
        path.check(name)
        return path.look.count() if what == "count" else sum(1 for _ in path.look.numbers())

    def _items(self, protocol: str, name: str) -> list[Any]:
        """Return the retained items, oldest first."""
        self._use(name)
        path = self._paths.get(protocol)
        if path is None:
            return [self._unpickle(payload, name) for payload in self._act(protocol, "items", name=name)]
        return path.items(name)

    def _pickle(self, item: Any, name: str) -> bytes:
        self._use(name)
        try:
            payload = pickle.dumps(item, protocol=5)
        except Exception as error:  # __reduce__ of the caller's objects may raise anything
            raise PayloadError(f"{name}: the item cannot be pickled: {error}", operation=name) from error
        most = self._welcome["max_batch_bytes"]
        if len(payload) > most:
            raise PayloadTooLargeError(
                f"{name}: the item has {len(payload)} bytes when pickled and the host allows {most}; start its server "
                "with a larger max_batch_bytes",
                operation=name,
            )
        return payload

    def _unpickle(self, payload: bytes | tuple[bytes, int], name: str) -> Any:
        try:
            if isinstance(payload, tuple):  # from a ring: buffers may stand beside the stream
                return decode(memoryview(payload[0]), payload[1], views=False)
            return pickle.loads(payload)
        except Exception as error:  # so may unpickling
            raise PayloadError(
                f"{name}: the item was taken but cannot be unpickled in this process: {error}", operation=name
            ) from error

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
        """Return the id of the oldest item that some rank has not taken, or 0. Local where the words are mapped."""
        path = self._paths.get(protocol)
        if path is not None:
            self._use(name)
            path.check(name)
            return path.look.oldest()
        if self._page is not None and protocol not in self._welcome["rings"]:
            return self._load(protocol, 0, name)
        log = self._view(protocol, name=name)["log"]
        return int(log[0][0]) if log else 0

    def _ticket(self, protocol: str, name: str) -> int:
        """Return the id of the oldest item that this handle's rank has not taken, or 0. Local as :meth:`_oldest`."""
        if self.client_id < 0:
            raise RankError(f"{name}: this handle has no client_id", operation=name)
        path = self._paths.get(protocol)
        if path is not None:
            self._use(name)
            path.check(name)
            return path.look.next_after(path.look.cursor(self.client_id))
        if self._page is not None and protocol not in self._welcome["rings"]:
            return self._load(protocol, 1 + self.client_id, name)
        return int(self._view(protocol, name=name)["ticket"])

    @staticmethod
    def _check_ticket(ticket: object, name: str, source: str) -> None:
        if isinstance(ticket, bool) or not isinstance(ticket, int) or ticket < 0:
            raise ConfigError(f"{name}: ticket={ticket!r} must be a value of {source}()", operation=name)

    def _load(self, protocol: str, word: int, operation: str) -> int:
        """Return one of the channel's shared words, after looking now and then whether the host still lives."""
        transport, page = self._use(operation), self._page
        now = self._runtime.monotonic()
        if now >= self._next_look:  # the words of a host that was killed never change again
            if not transport.is_alive():
                self._use(operation)  # closed meanwhile?
                raise HostLostError(
                    f"{operation}: the host is gone, or this handle has lost it; open a new handle (and start a new "
                    "host if that fails)",
                    operation=operation,
                )
            self._next_look = now + _LOOK_AT_HOST_EVERY_S
        if page is not None:
            try:
                return self._runtime.load(page.words, self._welcome["words_base"][protocol] + word)
            except ValueError as error:  # released: another thread is closing the handle
                raise ClosedError(f"{operation}: the handle is closed", operation=operation) from error
        raise ClosedError(f"{operation}: the handle is closed", operation=operation)
