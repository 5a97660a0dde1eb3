"""The host process: serves until its owner ends, then removes everything that it made."""

from __future__ import annotations

import errno
import importlib
import json
import os
import secrets
import select
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from fdcomm.errors import AddressInUseError, ConfigError, FdcommError
from fdcomm.host.rings import goes_through_rings, make_ring, meetings
from fdcomm.host.server import Front, HostServer
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.rendezvous import Record, RecordLock, runtime_dir, socket_path
from fdcomm.ring.memory import Memory
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.shm import WordPage
from fdcomm.trace import Recorder

__all__ = ("Orders", "main")

_FAULTS: Final = "FDCOMM_FAULTS"


@dataclass(frozen=True)
class Orders:
    """What the owner tells its host, as one JSON line on standard input: the key is in no argument list."""

    config: dict[str, Any]
    port: int
    tcp_host: str
    key: str
    trace: str
    owner_pid: int
    link: dict[str, Any] = field(default_factory=dict)


def main() -> None:
    """Entry point. Standard input stays open for as long as the owner lives; its end is ours."""
    os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the owner, which ends us when it is done
    ended = False

    def on_term(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, on_term)
    orders = Orders(**json.loads(sys.stdin.buffer.raw.readline()))  # type: ignore[union-attr]
    with ExitStack() as undo:
        try:
            record = _start(orders, undo)
        except (FdcommError, OSError, ValueError, ArithmeticError, MemoryError) as error:  # sizes may be absurd
            undo.close()  # before the owner hears of it: then it ends us
            kind = type(error).__name__ if isinstance(error, FdcommError) else "HostStartError"
            plain = isinstance(error, (FdcommError, OSError)) and str(error)
            _say({"error": kind, "message": plain or repr(error)})
            return
        _say({"record": asdict(record)})
        _wait_for_the_end(orders.owner_pid, lambda: ended)
    os._exit(0)  # threads that serve connections may be blocked; nothing of them needs an orderly end


def _start(orders: Orders, undo: ExitStack) -> Record:
    config = HostConfig(**orders.config)
    config.check()
    through_rings = goes_through_rings(config, traced=bool(orders.trace))
    runtime = _runtime()
    instance = secrets.randbits(62)
    path = socket_path(runtime_dir(), f"{instance:016x}.sock")
    key = bytes.fromhex(orders.key) or secrets.token_bytes(32)
    linked = orders.link.get("host", "")
    port, lock, reserved = _claim_port(orders.port, orders.tcp_host or linked)
    undo.callback(lock.release)
    undo.callback(reserved.close)
    recorder = None
    if orders.trace:
        try:
            recorder = Recorder(orders.trace)
        except OSError as error:
            raise ConfigError(f"trace={orders.trace!r}: {error.strerror}") from error
    page = WordPage.create(f"fdcomm-{os.getuid()}-{instance:016x}", words_needed(config), instance)
    undo.callback(os.unlink, page.path)  # it stays mapped: threads may still store into it
    front = Front()
    doors: list[Any] = []
    service = HostService(
        config,
        runtime,
        page.words,
        recorder=recorder,
        is_connected=lambda session: (
            front.is_connected(session) and all(door.links.is_connected(session) for door in doors)
        ),
        refused=front.refused,
        instance=instance,
        words_path=page.path,
        rings=_rings(config, os.path.basename(page.path)) if through_rings else None,
        meetings=meetings(os.path.basename(page.path), config.tp_size) if through_rings else None,
    )
    front.service = service
    server = HostServer(path, key, front)
    undo.callback(os.unlink, path)
    undo.callback(service.shut_down)
    server.start()
    if orders.tcp_host:
        reserved.close()
        HostServer((orders.tcp_host, port), key, front).start()
    link = {}
    if linked:
        reserved.close()
        link = _open_door(orders, port, service, instance, runtime, recorder, doors)
        undo.callback(doors[0].close)
    record = Record(
        port=port,
        instance=instance,
        socket=path,
        words=page.path,
        tcp_host=orders.tcp_host,
        tcp_port=port if orders.tcp_host else 0,
        key="" if orders.key else key.hex(),
        pid=os.getpid(),
        owner_pid=orders.owner_pid,
        **link,
    )
    lock.publish(record)
    return record


def _open_door(
    orders: Orders,
    port: int,
    service: HostService,
    instance: int,
    runtime: Runtime,
    recorder: Recorder | None,
    doors: list[Any],
) -> dict[str, Any]:
    """Serve other machines too; return what the record says of it. What that needs is imported only here."""
    door, options = importlib.import_module("fdcomm.link.door"), importlib.import_module("fdcomm.link.options")
    host, own = orders.link["host"], orders.link["keys"]
    keys = door.keys_of(own)
    link = options.ZmqLink(keys, orders.link["grace_s"], orders.link["heartbeat_s"])
    doors.append(door.Door(host, port, link, service, instance=instance, runtime=runtime, recorder=recorder))
    made = "" if own else f"{keys.server_public} {keys.client_public} {keys.client_secret}"
    return {"link": options.endpoint_of(host, port), "link_keys": made}


def _rings(config: HostConfig, name: str) -> Callable[[int, str, int], Memory]:
    return lambda dp, protocol, depth: make_ring(f"{name}.{dp}.{protocol}", config.tp_size, depth)


def _runtime() -> Runtime:
    """Return the standard library; the fault injector of our tests where the environment asks for it by name.

    The injector is imported only then: nothing of it is in a host of production.
    """
    if os.environ.get(_FAULTS):
        injected: Runtime = importlib.import_module("fdcomm.testing.faults").FaultRuntime.from_environment()
        return injected
    return SYSTEM


def _claim_port(port: int, tcp_host: str) -> tuple[int, RecordLock, socket.socket]:
    """Claim the port against other hosts (lock file) and against other programs (a bound socket)."""
    while True:
        family = socket.AF_INET6 if ":" in tcp_host else socket.AF_INET
        reserved = socket.socket(family, socket.SOCK_STREAM)
        if tcp_host:  # connections of the last host at this port may be winding down; its listener would still be seen
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            reserved.bind((tcp_host or "127.0.0.1", port))
            chosen = reserved.getsockname()[1]
            return chosen, RecordLock(chosen), reserved
        except AddressInUseError:
            reserved.close()
            if port:
                raise
        except OSError as error:
            reserved.close()
            if error.errno != errno.EADDRINUSE:
                raise ConfigError(
                    f"cannot take port {port} of {tcp_host or 'this machine'}: {error.strerror}"
                ) from error
            try:
                RecordLock(port).release()  # says who has it, when it is one of us
            except AddressInUseError as ours:
                raise ours from None
            raise AddressInUseError(
                f"port {port} cannot be taken: {error.strerror}; choose another (0: any)"
            ) from error


def _wait_for_the_end(owner_pid: int, ended: Callable[[], bool]) -> None:
    """Return when the owner has closed our standard input, has died, or has sent SIGTERM.

    The look at the parent process is for an owner whose children inherited the other end of the pipe.
    """
    while not ended() and os.getppid() == owner_pid:
        if select.select([0], [], [], 0.5)[0]:
            return


def _say(message: dict[str, Any]) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # not just closed: the next connection would get the number of standard output
    os.close(null)
