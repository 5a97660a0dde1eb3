"""What every queue handle has: a session with a host, local reads of its shared words, and an orderly end."""

from __future__ import annotations

import contextlib
import os
import pickle
import warnings
from types import TracebackType
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from fdcomm.connect import Address, TransportName, check_address, connect, start_host
from fdcomm.deadline import Timeout, timeout_seconds
from fdcomm.errors import (
    ClosedError,
    ConfigError,
    FdcommError,
    ForkedHandleError,
    HostLostError,
    PayloadError,
    PayloadTooLargeError,
    RankError,
)
from fdcomm.host.layout import Kind
from fdcomm.host.process import HostProcess
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, Welcome
from fdcomm.runtime import Runtime
from fdcomm.shm import WordPage
from fdcomm.stats import DispatchStatistics
from fdcomm.transports.base import Transport

__all__ = ("Handle", "Role")

Role: TypeAlias = Literal["reader", "producer"]
_Self = TypeVar("_Self", bound="Handle")

_LOOK_AT_HOST_EVERY_S = 0.1


class Handle:
    """Base of the queue classes. The public arguments are described there."""

    _kind: ClassVar[Kind]
    """Which protocols the queue's host runs."""

    def __init__(
        self,
        address: Address,
        authkey: bytes,
        is_server: bool,
        num_client: int,
        client_id: int,
        local_data_parallel_size: int,
        local_data_parallel_id: int,
        *,
        role: Role | None,
        depth: int,
        max_batch_bytes: int,
        allow_pickle: bool,
        transport: TransportName | Transport,
        trace: str | os.PathLike[str],
        connect_timeout: float,
        runtime: Runtime,
    ) -> None:
        self.address: Address = check_address(address)
        self.authkey = authkey
        self.is_server = is_server
        self.num_client = num_client
        self.client_id = client_id
        self.local_data_parallel_size = local_data_parallel_size
        self.local_data_parallel_id = local_data_parallel_id
        self._role = role
        self._runtime = runtime
        self._pid = os.getpid()
        self._host: HostProcess | None = None
        self._transport: Transport | None = None
        self._page: WordPage | None = None
        self._next_look = 0.0
        config = HostConfig(num_client, local_data_parallel_size, depth, max_batch_bytes, self._kind)
        config.check()
        self._check_rank_and_role()
        wait_s = timeout_seconds(connect_timeout, "connect_timeout") or 0.0
        try:
            if isinstance(transport, str):
                if transport not in ("auto", "unix", "tcp"):
                    raise ConfigError(f"transport={transport!r} must be 'auto', 'unix' or 'tcp'")
                if is_server:
                    self._host = start_host(
                        config,
                        self.address,
                        authkey,
                        allow_pickle=allow_pickle,
                        transport=transport,
                        trace=os.path.abspath(trace) if trace else "",
                    )
                    self.address = (self.address[0], self._host.record.port)
                transport = connect(
                    self.address,
                    authkey,
                    allow_pickle=allow_pickle,
                    transport=transport,
                    connect_timeout=wait_s,
                    runtime=runtime,
                )
            self._transport = transport
            self._welcome: Welcome = transport.open_session(self._hello())
            self._page = _map_words(self._welcome)
        except BaseException:
            self._release(goodbye=False)
            raise

    # -- life ----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the handle; on a server instance also end the host. Idempotent, bounded to a few seconds."""
        if os.getpid() == self._pid:
            self._release()

    def cleanup(self) -> None:
        """The same as :meth:`close`, under FastDeploy's name."""
        self.close()

    def get_server_port(self) -> int:
        """Return the server's port, also when it was given as 0.

        Raises:
            RuntimeError: This is a client instance, as in FastDeploy.
        """
        if not self.is_server:
            raise RuntimeError("get_server_port: only a server instance has a port; a client knows its address")
        return self.address[1]

    @property
    def is_single_node(self) -> bool:
        """True when the host's shared words are mapped here, so that looking for tasks costs no round trip."""
        return self._page is not None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A reader that goes because of an error is lost, not gone in peace: the engine is told at its next put.
        if os.getpid() == self._pid:
            self._release(goodbye=error is None)

    def __del__(self) -> None:
        if getattr(self, "_transport", None) is not None and os.getpid() == self._pid:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self, stacklevel=2)
            self._release(goodbye=False)

    def __repr__(self) -> str:
        part = "server" if self.is_server else f"client {self.client_id}"
        state = "closed" if self._transport is None else "open"
        return f"<{type(self).__name__} {part} of port {self.address[1]}, {state}>"

    # -- for the queue classes -----------------------------------------------------------------------------------

    def _use(self, operation: str) -> Transport:
        """Return the transport of a handle that may be used here and now."""
        if os.getpid() != self._pid:
            raise ForkedHandleError(
                f"{operation}: this handle was made in process {self._pid} and came to process {os.getpid()} by fork; "
                "open a new one here",
                operation=operation,
            )
        if self._transport is None:
            raise ClosedError(f"{operation}: the handle is closed", operation=operation)
        return self._transport

    def _act(self, protocol: str, action: str, *args: Any, timeout: float | None = 0.0, name: str = "") -> Any:
        """Do one action in the host. ``timeout`` is the action's own limit, ``name`` the public call."""
        return self._use(name or action).call("act", protocol, action, *args, timeout=timeout)

    def _put(self, protocol: str, item: Any, timeout: Timeout, name: str) -> None:
        """Pickle an item and give it to every rank of a broadcast channel."""
        limit = timeout_seconds(timeout, name)
        payload = self._pickle(item, name)
        self._act(protocol, "put_tasks", payload, limit, name, timeout=limit, name=name)

    @staticmethod
    def _something(item: Any, name: str) -> Any:
        """Return the item; None would be read as "there is none"."""
        if item is None:
            raise ConfigError(
                f"{name}: None cannot be put, because the other side is told 'nothing' by it", operation=name
            )
        return item

    def _get(self, protocol: str, ticket: int, timeout: Timeout, name: str) -> tuple[int, Any, bool]:
        """Take this rank's next item of a broadcast channel: ``(id, item, all_read)``; id 0 is "nothing"."""
        limit = timeout_seconds(timeout, name)
        self._use(name)
        if self._role == "producer" or self.client_id < 0:
            raise RankError(
                f"{name}: this handle acts for no rank; use a client with client_id= and without role='producer'",
                operation=name,
            )
        id_, payload, all_read = self._act(protocol, "get_tasks", ticket, limit, name, timeout=limit, name=name)
        return id_, self._unpickle(payload, name) if id_ else None, all_read

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

    def _unpickle(self, payload: bytes, name: str) -> Any:
        try:
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

    def _has_words(self) -> bool:
        """Return True when the host's shared words are mapped here."""
        return self._page is not None

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

    # -- helpers -------------------------------------------------------------------------------------------------

    def _check_rank_and_role(self) -> None:
        least = -1 if self.is_server else 0
        if not isinstance(self.client_id, int) or not least <= self.client_id < self.num_client:
            raise RankError(f"client_id={self.client_id!r} is outside 0 <= client_id < {self.num_client}")
        if not isinstance(self.local_data_parallel_id, int):
            raise ConfigError(f"local_data_parallel_id={self.local_data_parallel_id!r} must be an integer")
        if self._role not in (None, "reader", "producer"):
            raise ConfigError(f"role={self._role!r} must be 'reader', 'producer' or None")
        if self._role == "reader" and self.client_id < 0:
            raise RankError("role='reader' needs a client_id")

    def _hello(self) -> Hello:
        return Hello(
            version=PROTOCOL_VERSION,
            kind=self._kind,
            num_client=self.num_client,
            client_id=self.client_id,
            dp_rank=self.local_data_parallel_id,
            role=self._role,
            pid=self._pid,
        )

    def _release(self, *, goodbye: bool = True) -> None:
        transport, self._transport = self._transport, None
        page, self._page = self._page, None
        host, self._host = self._host, None
        if transport is not None:
            if goodbye and host is None:  # a host that is about to end needs no goodbye, and may be stopped
                transport.close()
            else:
                transport.abandon()
        if page is not None:
            page.close()
        if host is not None:
            host.stop()


def _map_words(welcome: Welcome) -> WordPage | None:
    """Map the host's shared words, if they can be reached from here; what is reached is checked, not assumed."""
    if not welcome["words_path"]:
        return None
    with contextlib.suppress(FdcommError):
        return WordPage.attach(welcome["words_path"], welcome["instance"])
    return None
