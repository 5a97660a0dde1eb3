"""The shipping host service with declared components: what the testbeds of readiness and of status stand on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fdcomm.errors import FdcommError
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime
from tests.schedules.hosted import Accept, HostBed

__all__ = ("ComponentBed", "Party")

Party = tuple[str, int]


class ComponentBed(HostBed):
    """A host service with components, a session for each part and two for clients, and what these were told."""

    def __init__(
        self, runtime: ControlledRuntime, protocol: str, accept: Accept, declared: object, parties: Iterable[Party]
    ) -> None:
        super().__init__(runtime, HostConfig(2), protocol, accept)
        self.clients = [self.session(), self.session()]
        self.act(self.clients[0], "declare", declared)
        self.parties = list(parties)
        self.sessions = {party: self.session() for party in self.parties}
        self.told: list[list[object]] = [[], []]

    def act(self, session: int, action: str, *args: object) -> Any:
        """Call the host."""
        return self.service.act(session, self.protocol, action, *args)

    def tell(self, client: int, action: str, *args: object) -> None:
        """Make a client's call that waits, and note the outcome or the error's type."""
        try:
            end = self.act(self.clients[client], action, *args)
            self.told[client].append("cancelled" if end["cancelled"] else end["outcome"])
        except FdcommError as error:
            self.told[client].append(type(error))

    def watch(self, client: int, shows: Callable[[Any], bool]) -> None:
        """Watch every change, until a view shows what is awaited."""
        seen = -1
        while True:
            view = self.act(self.clients[client], "watch", seen, None)
            assert view["changes"] > seen
            seen = view["changes"]
            if shows(view):
                return
