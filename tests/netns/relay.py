"""A TCP relay between two networks, which delays what goes through it, holds it back, and cuts connections."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections import deque
from typing import Any

__all__ = ("Relay",)

_CHUNK = 65_536
_LONGEST_S = 60.0


class _End:
    """One end of a connection through the relay."""

    def __init__(self, sock: socket.socket, to_host: bool) -> None:
        self.sock = sock
        self.to_host = to_host
        self.other: _End
        self.waiting: deque[tuple[float, bytes]] = deque()  # for this end: when it is due, and what

    def abort(self) -> None:
        """Close, so that the peer is told at once."""
        with contextlib.suppress(OSError):
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class Relay:
    """Listens, and passes on. Everything is done by one thread; the methods may be called from any other.

    Args:
        listen: Address to listen on; port 0 lets the system choose.
        target: Where connections lead to.
    """

    def __init__(self, listen: tuple[str, int], target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(listen)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._delay_s = 0.0
        self._held: frozenset[bool] = frozenset()
        self._orders: deque[Any] = deque()
        self._ends: set[_End] = set()
        self._told, self._tell = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._told, selectors.EVENT_READ)
        self._open = True
        self.connections = 0
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._thread.start()

    # -- what a test does --------------------------------------------------------------------------------------------

    def delay(self, seconds: float) -> None:
        """Everything takes so much longer, in each direction."""
        self._do(lambda: setattr(self, "_delay_s", seconds))

    def partition(self) -> None:
        """Nothing goes through, and no connection ends: what is sent is held back. Also what comes later."""
        self._do(lambda: setattr(self, "_held", frozenset((True, False))))

    def hold_answers(self) -> None:
        """Nothing goes from the host to its clients."""
        self._do(lambda: setattr(self, "_held", frozenset((False,))))

    def heal(self) -> None:
        """Everything goes through again, also what was held back."""
        self._do(lambda: setattr(self, "_held", frozenset()))

    def cut(self) -> None:
        """End all connections; what they hold is lost. New ones are served."""
        self._do(self._cut)

    def close(self) -> None:
        """End."""
        self._do(lambda: setattr(self, "_open", False))
        self._thread.join(_LONGEST_S)

    def _do(self, order: Any) -> None:
        """Have the thread do something, and wait until it has."""
        done = threading.Event()
        self._orders.append((order, done))
        self._tell.send(b"\0")
        if not done.wait(_LONGEST_S):
            raise RuntimeError("the relay does not answer")

    # -- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        self._selector.register(self._listener, selectors.EVENT_READ)
        while self._open:
            for key, events in self._selector.select(self._wait_s()):
                if key.fileobj is self._told:
                    self._told.recv(_CHUNK)
                elif key.fileobj is self._listener:
                    self._accept()
                elif key.data in self._ends:
                    self._serve(key.data, events)
            while self._orders:
                order, done = self._orders.popleft()
                order()
                for end in self._ends:
                    self._watch(end)
                done.set()
            self._flush()
        self._cut()
        for sock in (self._listener, self._told, self._tell):
            sock.close()
        self._selector.close()

    def _wait_s(self) -> float | None:
        due = [end.waiting[0][0] for end in self._ends if end.waiting and end.to_host not in self._held]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            host = socket.create_connection(self._target, timeout=5.0)
        except OSError:
            _End(client, False).abort()
            return
        self.connections += 1
        a, b = _End(client, False), _End(host, True)
        a.other, b.other = b, a
        for end in (a, b):
            end.sock.setblocking(False)
            end.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._ends.add(end)
            self._selector.register(end.sock, selectors.EVENT_READ, end)
            self._watch(end)

    def _watch(self, end: _End) -> None:
        """Listen to an end unless what it says is held back: then it stays in the system's buffers."""
        held = end.other.to_host in self._held
        with contextlib.suppress(KeyError):
            self._selector.unregister(end.sock)
        if not held:
            self._selector.register(end.sock, selectors.EVENT_READ, end)

    def _serve(self, end: _End, events: int) -> None:
        del events
        try:
            data = end.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        end.other.waiting.append((time.monotonic() + self._delay_s, data))

    def _flush(self) -> None:
        """Pass on what is due. What cannot be written now is tried again soon."""
        now = time.monotonic()
        for end in list(self._ends):
            while end in self._ends and end.waiting and end.to_host not in self._held and end.waiting[0][0] <= now:
                _, data = end.waiting.popleft()
                if not data:
                    self._drop(end)
                    break
                try:
                    sent = end.sock.send(data)
                except BlockingIOError:
                    sent = 0
                except OSError:
                    self._drop(end)
                    break
                if sent < len(data):
                    end.waiting.appendleft((now + 0.001, data[sent:]))

    def _drop(self, end: _End) -> None:
        for one in (end, end.other):
            if one in self._ends:
                self._ends.discard(one)
                with contextlib.suppress(KeyError):
                    self._selector.unregister(one.sock)
                one.abort()

    def _cut(self) -> None:
        for end in list(self._ends):
            self._drop(end)
