"""From the arguments of a queue's constructor to a running host or a connected transport.

The rules of safe defaults live here. ``("0.0.0.0", port)`` means "this machine": FastDeploy's callers write it so,
and it opens nothing to the network. Another machine is served only when the user writes an address of this machine's
network, a key that is not printed in anybody's source code, and ``allow_pickle=True``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from fdcomm.errors import AuthError, ConfigError, HostLostError, HostNotFoundError, UnsafeConfigError
from fdcomm.host.process import HostProcess
from fdcomm.host.service import HostConfig
from fdcomm.rendezvous import WELL_KNOWN_KEYS, Record, find, is_loopback, is_this_machine
from fdcomm.runtime import Runtime
from fdcomm.transports.manager import ManagerTransport

__all__ = ("Address", "TransportName", "connect", "start_host")

Address: TypeAlias = "tuple[str, int]"
TransportName: TypeAlias = Literal["auto", "unix", "tcp"]

_THIS_MACHINE = ("", "0.0.0.0", "::", "localhost", "127.0.0.1", "::1")


def start_host(
    config: HostConfig, address: Address, key: bytes, *, allow_pickle: bool, transport: TransportName, trace: str
) -> HostProcess:
    """Start a host for a server instance.

    Raises:
        UnsafeConfigError: The address is reachable from other machines and key or ``allow_pickle`` do not allow it.
    """
    name, port = check_address(address)
    key = chosen_key(key)
    tcp_host = ""
    if transport == "tcp" or not (name in _THIS_MACHINE or is_loopback(name)):
        tcp_host = "127.0.0.1" if name in ("", "0.0.0.0", "::", "localhost") else name
        _check_exposure(tcp_host, key, allow_pickle)
    return HostProcess(config, port=port, tcp_host=tcp_host, key=key, trace=trace)


def connect(
    address: Address,
    key: bytes,
    *,
    allow_pickle: bool,
    transport: TransportName,
    connect_timeout: float,
    runtime: Runtime,
) -> ManagerTransport:
    """Connect a client.

    Raises:
        HostNotFoundError: Nobody serves the address (after ``connect_timeout`` seconds).
        AuthError: The host has a chosen key and it is not this one.
        UnsafeConfigError: The host is another machine's, and key or ``allow_pickle`` do not allow that.
    """
    name, port = check_address(address)
    key = chosen_key(key)
    if not is_this_machine(name):
        _check_exposure(name, key, allow_pickle)
        return ManagerTransport((name, port), key, runtime)
    end = runtime.monotonic() + connect_timeout
    while True:
        record = find(port, max(0.0, end - runtime.monotonic()), runtime.sleep)
        try:
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
