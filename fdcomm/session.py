"""The life of a handle: it opens a session with a host, may start that host, and ends in an orderly way."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from types import TracebackType
from typing import ClassVar, Final, Literal, NoReturn, TypeAlias, TypeVar, cast

from fdcomm.arguments import file_path, flag, is_truth, whole
from fdcomm.connect import Address, How, check_address, check_transport, connect, start_host
from fdcomm.deadline import timeout_seconds
from fdcomm.errors import (
    ClosedError,
    ConfigError,
    FdcommError,
    ForkedHandleError,
    MemoryOrderError,
    RankError,
    SignalError,
)
from fdcomm.host import refusals
from fdcomm.host.layout import BROADCASTS, Kind
from fdcomm.host.process import HostProcess
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, Welcome
from fdcomm.link.options import ZmqLink
from fdcomm.meeting_path import MeetingPath
from fdcomm.ring_path import RingPath
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.shm import WordPage
from fdcomm.transports.base import REPLY_GRACE_S, Transport

__all__ = ("DataPathName", "Role", "Session")

_DATA_PATH: Final = "FDCOMM_DATA_PATH"
_LOOK_AT_HOST_EVERY_S: Final = 0.1

Role: TypeAlias = Literal["reader", "producer"]
DataPathName: TypeAlias = Literal["auto", "ring", "host"]
_Self = TypeVar("_Self", bound="Session")


class Session:
    """Base of :class:`fdcomm.handle.Handle`. The public arguments are described at the queue classes."""

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
        role: Role | None = None,
        depth: int = 1,
        max_batch_bytes: int = 1 << 28,
        allow_pickle: bool = False,
        transport: How | Transport = "auto",
        trace: str | os.PathLike[str] = "",
        data_path: DataPathName = "auto",
        connect_timeout: float = 0.0,
        runtime: Runtime = SYSTEM,
    ) -> None:
        self.address: Address = check_address(address)
        self.authkey = authkey
        made = type(self).__name__
        self.is_server = flag(is_server, "is_server", made)
        self.num_client = whole(num_client)
        self.client_id = whole(client_id)
        self.local_data_parallel_size = whole(local_data_parallel_size)
        self.local_data_parallel_id = whole(local_data_parallel_id)
        self._role = role
        self._runtime = runtime
        self._pid = os.getpid()
        self._host: HostProcess | None = None
        self._transport: Transport | None = None
        self._page: WordPage | None = None
        self._next_look = 0.0  # when to look again whether the host lives
        self._claimed: set[str] = set()  # channels: its rank is claimed
        if isinstance(data_path, str) and data_path == "auto":
            data_path = cast(DataPathName, os.environ.get(_DATA_PATH, "auto"))
        self._data_path = data_path
        self._paths: dict[str, RingPath] = {}  # rings that are mapped; none: the host puts and gets for this handle
        self._meetings: dict[str, MeetingPath] = {}  # barriers' channels in which it has claimed its rank
        self._opening = threading.RLock()
        sizes = (self.num_client, self.local_data_parallel_size, whole(depth), whole(max_batch_bytes))
        config = HostConfig(*sizes, self._kind, data_path)
        config.check()
        self._check_rank_and_role()
        if self._role == "reader":
            self._claimed.add(BROADCASTS[self._kind][0])
        allow_pickle = flag(allow_pickle, "allow_pickle", made)
        trace = file_path(trace, "trace", made)
        if not hasattr(transport, "open_session"):
            transport = check_transport(transport)
        wait_s = timeout_seconds(connect_timeout, "connect_timeout")
        if wait_s is None:
            raise ConfigError("connect_timeout=None: a constructor does not wait for ever; give seconds")
        try:
            if isinstance(transport, (str, ZmqLink)):
                how = transport
                if self.is_server:
                    self._host = start_host(
                        config,
                        self.address,
                        authkey,
                        allow_pickle=allow_pickle,
                        transport=how,
                        trace=trace,
                    )
                    self.address = (self.address[0], self._host.record.port)
                    if isinstance(how, ZmqLink):  # the door is for others: this process is on the host's machine
                        how = "auto"
                transport = connect(
                    self.address,
                    authkey,
                    allow_pickle=allow_pickle,
                    transport=how,
                    connect_timeout=wait_s,
                    runtime=runtime,
                )
            self._transport = transport
            self._welcome: Welcome = transport.open_session(self._hello())
            self._page = _map_words(self._welcome)
            self._choose_ring(transport)
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

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: the end of a copy would end the session of the handle that it was made from."""
        raise ConfigError(f"{self!r} cannot be copied or pickled: open a handle in each process")

    def __repr__(self) -> str:
        part = "server" if self.is_server else f"client {self.client_id}"
        state = "closed" if self._transport is None else "open"
        return f"<{type(self).__name__} {part} of port {self.address[1]}, {state}>"

    # -- helpers ----------------------------------------------------------------------------------------------------

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

    def _check_rank_and_role(self) -> None:
        least = -1 if self.is_server else 0
        if (
            is_truth(self.client_id)
            or not isinstance(self.client_id, int)
            or not least <= self.client_id < self.num_client
        ):
            raise RankError(f"client_id={self.client_id!r} is outside 0 <= client_id < {self.num_client}")
        if is_truth(self.local_data_parallel_id) or not isinstance(self.local_data_parallel_id, int):
            raise ConfigError(f"local_data_parallel_id={self.local_data_parallel_id!r} must be an integer")
        if self._role is not None and not (isinstance(self._role, str) and self._role in ("reader", "producer")):
            raise ConfigError(f"role={self._role!r} must be 'reader', 'producer' or None")
        if self._role == "reader" and self.client_id < 0:
            raise RankError("role='reader' needs a client_id")

    def _look_at_host(self, operation: str) -> float:
        """Raise HostLostError if the host is gone: what it has left in memory never changes again. Returns the time.

        Looks ten times a second at most.
        """
        now = self._runtime.monotonic()
        if now < self._next_look and self._transport is not None and os.getpid() == self._pid:
            return now
        if not self._use(operation).is_alive():
            self._use(operation)  # closed meanwhile?
            raise refusals.host_gone(operation)
        self._next_look = now + _LOOK_AT_HOST_EVERY_S
        return now

    # -- rings -----------------------------------------------------------------------------------------------------

    def _choose_ring(self, transport: Transport) -> None:
        """Map the main channel's ring, if it can be reached from here: then items go through rings.

        Else the host puts and gets for this handle. The other rings are mapped when they are used first.
        """
        main = BROADCASTS[self._kind][0]
        here = False
        if self._data_path != "host" and main in self._welcome["rings"]:
            try:
                self._paths[main] = self._open_ring(main, transport)
                here = True
            except (SignalError, MemoryOrderError) as error:
                if self._data_path == "ring":
                    raise ConfigError(
                        f"data_path='ring': the host's memory cannot be reached from here: {error}"
                    ) from error
        elif self._data_path == "ring":
            raise ConfigError("data_path='ring': the host was started without rings")
        if self._role == "reader" and here:
            self._paths[main].claim(self.client_id)
        elif self._role == "reader" and main in self._welcome["rings"]:
            transport.call("act", main, "attach", "open", timeout=REPLY_GRACE_S)

    def _ring(self, protocol: str, transport: Transport) -> RingPath | None:
        """Return this handle's way into a channel's ring, or None where the host puts and gets for it."""
        path = self._paths.get(protocol)
        if path is None and self._paths:
            with self._opening:
                path = self._paths.get(protocol)
                if path is None and self._paths:
                    path = self._paths[protocol] = self._open_ring(protocol, transport)
        return path

    def _open_ring(self, protocol: str, transport: Transport) -> RingPath:
        return RingPath(
            self._welcome["rings"][protocol],
            self._welcome["max_batch_bytes"],
            self._runtime,
            self._look_at_host,
            transport.is_alive,
            lambda name: transport.call("act", protocol, "claim", name, timeout=0.0),
            transport.abandon,
        )

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
        with self._opening:
            paths, self._paths = self._paths, {}
            meetings, self._meetings = self._meetings, {}
        for meeting in meetings.values():
            meeting.close(leave=goodbye)
        for path in paths.values():
            path.close(leave=goodbye)
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
