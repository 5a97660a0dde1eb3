"""The shipping host's rearrangements on a controlled runtime, whose recorded runs the model judges."""

from __future__ import annotations

from typing import Any

from fdcomm.host.rearrange_channel import RearrangeChannel
from fdcomm.host.service import HostConfig
from fdcomm.testing import ControlledRuntime
from models.dispatch_trace import accept
from tests.schedules.hosted import HostBed

__all__ = ("RearrangeBed",)

CHANNEL = "rearrange"


class RearrangeBed(HostBed):
    """A host service with a session for each party."""

    def __init__(self, runtime: ControlledRuntime, ranks: int = 2) -> None:
        super().__init__(runtime, HostConfig(ranks), CHANNEL, accept)
        channel = self.service.channel(CHANNEL)
        assert isinstance(channel, RearrangeChannel)
        self.core = channel._core
        self.ranks = ranks
        self.requester, self.coordinator = self.session(0), self.session(0)
        self.loaders = [self.session(rank) for rank in range(ranks)]
        self.workers = [self.session(rank) for rank in range(ranks)]

    def session(self, client_id: int = 0, role: str | None = "producer") -> int:
        return super().session(client_id, role)

    def act(self, session: int, action: str, *args: Any) -> Any:
        """Call the channel."""
        self.runtime.access("sessions", change=False)
        return self.service.act(session, CHANNEL, action, *args, action)

    def lose(self, session: int) -> None:
        """The session's connection is gone."""
        self.runtime.access("sessions", change=True)
        self.service.lose_session(session)

    def ask(self, limit: float | None = None, addresses: tuple[str, ...] = ()) -> int:
        """Make a request."""
        number: int = self.act(self.requester, "request", addresses, limit)
        return number

    def coordinate(self) -> int:
        """Do the coordinator's part, waiting for as long as it takes."""
        number, _ = self.act(self.coordinator, "take", None)
        self.act(self.coordinator, "begin_load", number, b"plan")
        self.act(self.coordinator, "gather", number, None)
        self.act(self.coordinator, "declare", number, None)
        self.act(self.requester, "update", number)
        return int(number)

    def load(self, rank: int) -> int:
        """Do a loader's part."""
        number, plan = self.act(self.loaders[rank], "take_load", None)
        assert plan == b"plan"
        self.act(self.loaders[rank], "report", number, None)
        return int(number)

    def up_to_update(self, limit: float | None = None) -> int:
        """Bring a request to the point at which the workers may come."""
        for session in self.workers:  # every worker has looked once, so that its loss is noticed
            assert self.act(session, "take_update", 0.0) == 0
        number = self.ask(limit)
        assert self.act(self.coordinator, "take", 0.0) == (number, ())
        self.act(self.coordinator, "begin_load", number, b"plan")
        for rank in range(self.ranks):
            self.load(rank)
        self.act(self.coordinator, "declare", number, None)
        self.act(self.requester, "update", number)
        return number

    def outcome(self, number: int) -> str:
        """Return how a request has ended."""
        return str(self.act(self.requester, "wait", number, 0.0)["what"])

    def invariant(self) -> None:
        """What must hold between any two critical sections."""
        if not self.runtime.idle():
            return
        core = self.core
        over = core.phase in ("FREE", "DONE")
        assert over == (core.request_number in core.outcomes or not core.request_number), "an outcome too early or late"
        assert not core.exchanging() or core.phase == "UPDATING", "weights are exchanged for no request"
        assert "swap" not in core.worker or "here" not in core.worker, "one has begun without another"
