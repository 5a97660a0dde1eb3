"""From the arguments of a queue's constructor to a running host or a connected transport.

The rules of safe defaults live here. ``("0.0.0.0", port)`` means "this machine": FastDeploy's callers write it so,
and it opens nothing to the network. Another machine is served only when the user writes an address of this machine's
network, a key that is not printed in anybody's source code, and ``allow_pickle=True``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from fdcomm.errors import AuthError, ConfigError, HostLostError, HostNotFoundError, UnsafeConfigError
from fdcomm.host.process import HostProcess
from fdcomm.host.service import HostConfig
from fdcomm.link.options import ZmqLink, endpoint_of
from fdcomm.rendezvous import WELL_KNOWN_KEYS, Record, find, is_loopback, is_this_machine
from fdcomm.runtime import Runtime
from fdcomm.transports.base import Transport
from fdcomm.transports.manager import ManagerTransport

if TYPE_CHECKING:
    from fdcomm.transports.link import LinkTransport

__all__ = ("Address", "How", "TransportName", "check_transport", "connect", "start_host")

Address: TypeAlias = "tuple[str, int]"
TransportName: TypeAlias = Literal["auto", "unix", "tcp", "zmq"]
How: TypeAlias = TransportName | ZmqLink

_THIS_MACHINE = ("", "0.0.0.0", "::", "localhost", "127.0.0.1", "::1")


def check_transport(transport: object) -> How:
    """Return what a constructor was told, with ZmqLink for "zmq"; ConfigError for what is nothing of it."""
    if isinstance(transport, str) and transport == "zmq":
        transport = ZmqLink()
    if isinstance(transport, ZmqLink):
        transport.check()
        return transport
    if isinstance(transport, str) and transport in ("auto", "unix", "tcp"):
        return cast(TransportName, transport)
    raise ConfigError(f"transport={transport!r} must be 'auto', 'unix', 'tcp', 'zmq' or a ZmqLink")


def start_host(
    config: HostConfig, address: Address, key: bytes, *, allow_pickle: bool, transport: How, trace: str
) -> HostProcess:
    """Start a host for a server instance.

    Raises:
        UnsafeConfigError: The address is reachable from other machines and key or ``allow_pickle`` do not allow it.
    """
    name, port = check_address(address)
    key = chosen_key(key)
    tcp_host = ""
    here = "127.0.0.1" if name in ("", "0.0.0.0", "::", "localhost") else name
    if isinstance(transport, ZmqLink):
        if transport.keys is not None and not transport.keys.server_secret:
            raise ConfigError("the keys lack the server's secret: they are those of clients")
        _check_link(here, transport, allow_pickle)
        return HostProcess(config, port=port, tcp_host="", key=key, trace=trace, link=transport.orders(here))
    if transport == "tcp" or not (name in _THIS_MACHINE or is_loopback(name)):
        tcp_host = here
        _check_exposure(tcp_host, key, allow_pickle)
    return HostProcess(config, port=port, tcp_host=tcp_host, key=key, trace=trace)


def connect(
    address: Address,
    key: bytes,
    *,
    allow_pickle: bool,
    transport: How,
    connect_timeout: float,
    runtime: Runtime,
) -> Transport:
    """Connect a client.

    Raises:
        HostNotFoundError: Nobody serves the address (after ``connect_timeout`` seconds).
        AuthError: The host has a chosen key and it is not this one.
        UnsafeConfigError: The host is another machine's, and key or ``allow_pickle`` do not allow that.
    """
    name, port = check_address(address)
    key = chosen_key(key)
    if not is_this_machine(name):
        if isinstance(transport, ZmqLink):
            return _link_to(name, port, transport, allow_pickle, connect_timeout, runtime)
        _check_exposure(name, key, allow_pickle)
        return ManagerTransport((name, port), key, runtime)
    end = runtime.monotonic() + connect_timeout
    while True:
        record = find(port, max(0.0, end - runtime.monotonic()), runtime.sleep)
        try:
            if isinstance(transport, ZmqLink):
                return _link_here(record, port, transport, runtime)
            return _connect_to(record, port, key, transport, runtime)
        except (HostNotFoundError, HostLostError):  # it ended since the look; a new one may be on its way
            if runtime.monotonic() >= end:
                raise
            runtime.sleep(0.02)


def _connect_to(record: Record, port: int, key: bytes, transport: TransportName, runtime: Runtime) -> ManagerTransport:
    if not (record.key or key):
        raise AuthError(
            f"the host of port {port} was started with an explicit authkey; pass the same one to this client"
        )
    if transport == "tcp" and not record.tcp_port:
        raise ConfigError(f"the host of port {port} has no TCP socket; start its server with transport='tcp'")
    where = (record.tcp_host, record.tcp_port) if transport == "tcp" else record.socket
    return ManagerTransport(where, key or bytes.fromhex(record.key), runtime)


def _link_to(
    host: str, port: int, link: ZmqLink, allow_pickle: bool, connect_s: float, runtime: Runtime
) -> LinkTransport:
    """Connect to another machine's host."""
    from fdcomm.transports.link import LinkTransport

    _check_link(host, link, allow_pickle)
    return LinkTransport(endpoint_of(host, port), link, runtime, connect_s=connect_s)


def _link_here(record: Record, port: int, link: ZmqLink, runtime: Runtime) -> LinkTransport:
    """Connect to a host of this machine. Its keys are in its record, unless somebody has chosen them."""
    from fdcomm.transports.link import LinkTransport
    from fdcomm.zsocket.curve import CurveKeys

    if not record.link:
        raise ConfigError(f"the host of port {port} has no door for ZeroMQ; start its server with transport='zmq'")
    if link.keys is None:
        if not record.link_keys:
            raise AuthError(f"the host of port {port} was started with keys; pass transport=ZmqLink(keys=...)")
        link = replace(link, keys=CurveKeys(*record.link_keys.split(" ")))

    def is_gone() -> bool:
        try:
            return find(port, 0.0).instance != record.instance
        except HostNotFoundError:
            return True

    return LinkTransport(record.link, link, runtime, connect_s=0.0, is_gone=is_gone)


def check_address(address: Address) -> Address:
    """Return the address, or raise ConfigError when it is not ``(host, port)``."""
    if isinstance(address, (tuple, list)) and len(address) == 2:
        name, port = address
        if isinstance(name, str) and isinstance(port, int) and not isinstance(port, bool) and 0 <= port <= 65535:
            return name, port
    raise ConfigError(f"address={address!r} must be a pair (host, port) with 0 <= port <= 65535")


def chosen_key(key: bytes) -> bytes:
    """Return the key that the user chose, or b"" for a well-known default, which counts as none."""
    if not isinstance(key, (bytes, bytearray)):
        raise ConfigError(f"authkey must be bytes, not {type(key).__name__}")
    return b"" if bytes(key) in WELL_KNOWN_KEYS else bytes(key)


def _check_exposure(host: str, key: bytes, allow_pickle: bool) -> None:
    if host in _THIS_MACHINE or is_loopback(host):
        return
    if not key:
        raise UnsafeConfigError(
            f"{host} is reachable from other machines, so it needs a key that nobody can look up: pass authkey= with "
            f"at least 16 random bytes (for example from os.urandom), or use ('127.0.0.1', port) for this machine"
        )
    if not allow_pickle:
        raise UnsafeConfigError(
            f"{host} is reachable from other machines, and whoever holds the key can run code through pickle: pass "
            "allow_pickle=True if you accept that, or use ('127.0.0.1', port) for this machine"
        )


def _check_link(host: str, link: ZmqLink, allow_pickle: bool) -> None:
    """The same for a link, whose keys are those of CURVE."""
    if host in _THIS_MACHINE or is_loopback(host):
        return
    if link.keys is None:
        raise UnsafeConfigError(
            f"{host} is reachable from other machines, so it needs keys: make them once with CurveKeys.generate(), "
            "pass transport=ZmqLink(keys=keys) to the server and ZmqLink(keys=keys.for_clients()) to the clients"
        )
    if not allow_pickle:
        raise UnsafeConfigError(
            f"{host} is reachable from other machines, and items are pickled: whoever holds the keys can run code in "
            "the processes that take them. Pass allow_pickle=True if you accept that, or use ('127.0.0.1', port)"
        )
