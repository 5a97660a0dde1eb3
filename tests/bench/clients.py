"""The hosts that are compared, and how to open a client of each from any process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from fdcomm import EngineWorkerQueue
from tests.bench import clients_ours, clients_shipped
from tests.races.shipped_host import ShippedHost

__all__ = ("HOSTS", "Client", "Host", "OurHost", "ShippedBenchHost", "open_client")


class Client(Protocol):
    """What both clients have."""

    def put_tasks(self, tasks: Any) -> None: ...

    def exist_tasks(self) -> bool: ...

    def num_tasks(self) -> int: ...

    def close(self) -> None: ...


class Host(Protocol):
    """A running host."""

    def orders(self, rank: int, *, reads: bool) -> dict[str, Any]:
        """Return what :func:`open_client` needs, in a form that JSON can carry."""

    def pid(self) -> int:
        """Return the host's process id."""

    def stop(self) -> None:
        """End it."""


class ShippedBenchHost:
    """The shipped protocol: over TCP, as it is by default, or over a unix socket."""

    def __init__(self, ranks: int, *, tcp: bool) -> None:
        self._host = ShippedHost(ranks, tcp=tcp)
        self._ranks = ranks

    def orders(self, rank: int, *, reads: bool) -> dict[str, Any]:
        host = self._host
        address = host.address if isinstance(host.address, str) else ["0.0.0.0", host.address[1]]
        place = {"address": address, "key": host.key.hex(), "words": host.words}
        return {"shipped": True, **place, "ranks": self._ranks, "rank": rank}

    def pid(self) -> int:
        return self._host.process.pid

    def stop(self) -> None:
        self._host.stop()


class OurHost:
    """fdcomm as it is by default."""

    def __init__(self, ranks: int) -> None:
        self._server = EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks)
        self._ranks = ranks

    def orders(self, rank: int, *, reads: bool) -> dict[str, Any]:
        role = "reader" if reads else "producer"
        port = self._server.get_server_port()
        return {"shipped": False, "port": port, "ranks": self._ranks, "rank": rank, "role": role}

    def pid(self) -> int:
        process = self._server._host
        assert process is not None
        return process.pid

    def stop(self) -> None:
        self._server.cleanup()


@dataclass(frozen=True)
class _Maker:
    kind: str

    def __call__(self, ranks: int) -> Host:
        return OurHost(ranks) if self.kind == "ours" else ShippedBenchHost(ranks, tcp=self.kind == "shipped tcp")


HOSTS = {kind: _Maker(kind) for kind in ("shipped tcp", "shipped unix", "ours")}


def open_client(orders: dict[str, Any]) -> Any:
    """Open the client that a host's ``orders`` describe."""
    return (clients_shipped if orders["shipped"] else clients_ours).open_client(orders)
