"""Scenarios of a connection between machines: a relay stands in it, for the published protocol and for ours."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

from fdcomm import CurveKeys, EngineWorkerQueue, ZmqLink
from fdcomm.runtime import SYSTEM
from fdcomm.transports.link import LinkTransport
from tests.netns.relay import Relay
from tests.races.race import Race
from tests.races.shipped import ShippedQueue
from tests.races.variants import LOCK_S, POLLS, Shipped

__all__ = ("GRACE_S", "LinkOurs", "LinkRace", "ended", "relay_to", "through")

GRACE_S = 1.0
STILL_S = 2.0
"""A call that has not ended after so long, when nobody is left who could answer it, waits for ever."""


class LinkOurs:
    """A host with a door, and clients of it: through a relay, or beside it."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self._stack = ExitStack()
        self.keys = CurveKeys.generate()
        link = ZmqLink(self.keys, grace_s=GRACE_S)
        self.server = EngineWorkerQueue(
            ("127.0.0.1", 0), is_server=True, num_client=ranks, transport=link, data_path="host"
        )
        self._stack.callback(self.server.close)
        self.port = self.server.get_server_port()
        self.relay = Relay(("127.0.0.1", 0), ("127.0.0.1", self.port))
        self._stack.callback(self.relay.close)

    def client(
        self, rank: int, role: Literal["reader", "producer"], *, grace_s: float = GRACE_S, relayed: bool = True
    ) -> EngineWorkerQueue:
        """Open a client; ``relayed`` over the network, else on the host's machine."""
        transport: Any = "auto"
        if relayed:
            link = ZmqLink(self.keys.for_clients(), grace_s=grace_s)
            transport = LinkTransport(f"tcp://127.0.0.1:{self.relay.port}", link, SYSTEM, connect_s=10.0)
        queue = EngineWorkerQueue(
            ("127.0.0.1", self.port),
            num_client=self.ranks,
            client_id=rank,
            role=role,
            transport=transport,
            data_path="host",
        )
        self._stack.callback(queue.close)
        return queue

    def __enter__(self) -> LinkOurs:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


@dataclass(frozen=True)
class LinkRace(Race):
    """A race on a connection between machines."""

    ours: Callable[[LinkOurs], str]  # type: ignore[assignment]

    def on_ours(self) -> str:
        """Return what went wrong on ours."""
        with LinkOurs(self.ranks) as variant:
            return self.ours(variant)


def relay_to(variant: Shipped) -> Relay:
    """Return a relay to the manager of the published protocol."""
    address = variant.host.address
    if isinstance(address, str):
        raise ValueError("the published manager must be on TCP")
    relay = Relay(("127.0.0.1", 0), address)
    variant._stack.callback(relay.close)
    return relay


def through(variant: Shipped, relay: Relay, rank: int, **options: Any) -> ShippedQueue:
    """Return a published client that reaches the manager through the relay."""
    host = variant.host
    queue = ShippedQueue(
        ("127.0.0.1", relay.port), host.key, variant.ranks, rank, host.words, polls=POLLS, lock_s=LOCK_S, **options
    )
    variant._stack.callback(queue.close)
    return queue


def ended(call: Callable[[], Any]) -> tuple[bool, str]:
    """Make a call in a thread; return whether it has ended in time, and its error's name."""
    told: list[str] = []

    def run() -> None:
        try:
            call()
        except Exception as error:  # noqa: BLE001 - reported
            told.append(type(error).__name__)
        else:
            told.append("")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(STILL_S if not told else 0.0)
    return not thread.is_alive(), told[0] if told else ""
