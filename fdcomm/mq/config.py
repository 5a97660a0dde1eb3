"""What an FMQ can be told: endpoints, socket options, limits. Read from ``FMQ_CONFIG_JSON`` where nothing is passed."""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeVar

import msgspec

from fdcomm.errors import ConfigError
from fdcomm.zsocket.curve import CurveKeys
from fdcomm.zsocket.paths import socket_file

__all__ = ("Config", "Delivery", "Endpoint", "EndpointType", "Role", "SocketOptions", "load_config", "role_of")

ENVIRONMENT: Final = "FMQ_CONFIG_JSON"
Delivery = Literal["acknowledged", "forget"]
T = TypeVar("T")


class EndpointType(enum.Enum):
    """The two patterns."""

    QUEUE = "queue"
    TOPIC = "topic"


class Role(enum.Enum):
    """What a queue's handle does."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


@dataclass(frozen=True)
class Endpoint:
    """Where a queue or a topic is.

    Attributes:
        protocol: "ipc" or "tcp".
        address: "ipc": a path; a relative one is in ``Config.ipc_root``. "tcp": ``host:port``.
        io_threads: FastDeploy's; all handles of a process share one context, so the most that is asked for counts.
        copy: FastDeploy's; large parts are never copied.
        curve: Keys, of both ends; required for "tcp" beyond this machine. The end that binds is the server: a queue's
            consumer, a topic's publisher.
    """

    protocol: Literal["ipc", "tcp"]
    address: str
    io_threads: int = 1
    copy: bool = False
    curve: CurveKeys | None = None

    def __post_init__(self) -> None:
        if self.protocol not in ("ipc", "tcp") or not self.address:
            raise ConfigError(f"an endpoint is ipc or tcp and has an address, not {self.protocol!r} {self.address!r}")
        if self.protocol == "tcp":
            host, _, port = self.address.rpartition(":")
            if not host or not port.isdecimal() or int(port) > 65_535:
                raise ConfigError(f"the address of a tcp endpoint is host:port, not {self.address!r}")


@dataclass(frozen=True)
class SocketOptions:
    """Options of the sockets.

    Attributes:
        sndhwm: Most messages that a topic keeps for one subscriber; 0 is no limit. Queues have ``Config.window``.
        rcvhwm: Most messages that a subscriber keeps unread; 0 is no limit.
        linger: Milliseconds that an end waits for what is not acknowledged, or not sent. Never without a limit.
        sndbuf: Bytes of the kernel's buffer.
        rcvbuf: Bytes of the kernel's buffer.
        immediate: FastDeploy's; a queue connects only to a consumer that is there.
    """

    sndhwm: int = 0
    rcvhwm: int = 0
    linger: int = 5000
    sndbuf: int = 32 * 1024 * 1024
    rcvbuf: int = 32 * 1024 * 1024
    immediate: int = 1

    def __post_init__(self) -> None:
        for name in ("sndhwm", "rcvhwm", "linger", "sndbuf", "rcvbuf"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must be at least 0: a linger without end keeps a process from ending")


@dataclass(frozen=True)
class Config:
    """Everything that an FMQ is told.

    Attributes:
        ipc_root: Directory of the sockets, of mode 0700; None is the runtime directory (``FDCOMM_RUNTIME_DIR``).
        io_threads: As for an endpoint.
        copy: As for an endpoint.
        endpoints: Name -> where it is. Others are in ``ipc_root``.
        socket_config: Options of the sockets.
        window: Most messages of a producer that are not acknowledged.
        ack_every: A consumer acknowledges after this many messages at the latest, and whenever it waits.
        shm_threshold: Bytes from which a payload goes through shared memory.
        shm_window: Most bytes of a producer's payloads in shared memory that are not acknowledged; a single payload may
            be larger. What is acknowledged is written again, and fresh memory costs ten times what writing again does.
        allow_pickle: Accept, and send, pickled objects over tcp. They run what their sender wishes.
    """

    ipc_root: str | None = None
    io_threads: int = 1
    copy: bool = False
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    socket_config: SocketOptions = field(default_factory=SocketOptions)
    window: int = 1024
    ack_every: int = 32
    shm_threshold: int = 1024 * 1024
    shm_window: int = 64 * 1024 * 1024
    allow_pickle: bool = False

    def __post_init__(self) -> None:
        if min(self.window, self.ack_every, self.shm_threshold, self.shm_window, self.io_threads) < 1:
            raise ConfigError("window, ack_every, shm_threshold, shm_window and io_threads must be at least 1")

    def endpoint(self, name: str) -> Endpoint:
        """Return where a queue or a topic is. The path of an ipc endpoint is the socket's."""
        found = self.endpoints.get(name)
        if found is None:
            return Endpoint("ipc", socket_file(f"fmq_{name}.ipc", self.ipc_root))
        if found.protocol == "ipc":
            directory, _, file = found.address.rpartition("/")
            return replace(found, address=socket_file(file, directory or self.ipc_root))
        return found


def role_of(role: str | Role) -> Role:
    """Return the role.

    Raises:
        ConfigError: It is neither "producer" nor "consumer".
    """
    try:
        return Role(role)
    except ValueError:
        raise ConfigError(f"role={role!r} is neither 'producer' nor 'consumer'") from None


def load_config(text: str | None = None) -> Config:
    """Return the configuration of ``FMQ_CONFIG_JSON``: a JSON object with the fields of :class:`Config`.

    Args:
        text: The object; None takes the environment. Without either everything has its default.

    Raises:
        ConfigError: It is no such object. Nothing of it is taken.
    """
    text = os.environ.get(ENVIRONMENT) if text is None else text
    if not text:
        return Config()
    try:
        raw = msgspec.json.decode(text.encode())
        _known(Config, raw, "")
        for name, endpoint in raw.get("endpoints", {}).items():
            _known(Endpoint, endpoint, f"endpoints.{name}.")
        _known(SocketOptions, raw.get("socket_config", {}), "socket_config.")
        return msgspec.convert(raw, Config)
    except (msgspec.MsgspecError, AttributeError) as error:
        raise ConfigError(f"{ENVIRONMENT} is not understood: {error}") from error


def _known(kind: type[Any], raw: Any, where: str) -> None:
    if not isinstance(raw, dict):
        raise ConfigError(f"{ENVIRONMENT}: {where or 'it'} must be an object")
    strange = sorted(set(raw) - {item.name for item in fields(kind)})
    if strange:
        raise ConfigError(f"{ENVIRONMENT}: there is no {', '.join(where + name for name in strange)}")
