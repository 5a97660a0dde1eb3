"""The control protocol as a pure object: one request to all ranks, and their combined answer.

One method per action of ``spec/control.toml`` (``tla/control/Control.tla``). A request is known by its number, so an
answer that comes too late cannot be counted for another request.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from fdcomm.core.members import Members
from fdcomm.errors import ConfigError, ProtocolViolationError

__all__ = ("Control", "Request", "State")

A = TypeVar("A")

State: TypeAlias = Literal["open", "done", "lost", "late", "withdrawn"]


@dataclass(slots=True, eq=False)
class Request(Generic[A]):
    """A request that is open, or has just ended.

    Attributes:
        number: From 1.
        payload: What the ranks take.
        client: Who asked.
        answers: Rank -> answer.
        without: Ranks that will not answer.
    """

    number: int
    payload: A
    client: int
    state: State = "open"
    answers: dict[int, A] = field(default_factory=dict)
    without: set[int] = field(default_factory=set)


class Control(Members, Generic[A]):
    """Requests to ``ranks`` ranks. Requests that have ended are forgotten: their answers are refused."""

    def __init__(self, ranks: int, capacity: int = 64) -> None:
        if min(ranks, capacity) < 1:
            raise ConfigError(f"num_client={ranks} and capacity={capacity} must be at least 1")
        super().__init__(ranks)
        self.capacity = capacity
        self.asked = 0
        self.open: dict[int, Request[A]] = {}
        self.served = [0] * ranks
        self.doing = [0] * ranks

    # -- members -------------------------------------------------------------------------------------------------

    def join(self, rank: int) -> None:
        """Join: somebody acts for the rank."""
        self._come(rank)

    def leave(self, rank: int) -> None:
        """Leave: what the rank was doing stays undone."""
        self._require_live(rank, "Leave")
        self.live.discard(rank)
        undone = self.open.get(self.doing[rank])
        if undone is not None:
            undone.without.add(rank)
        self.doing[rank] = 0

    def fence(self, rank: int) -> None:
        """Fence: the process is gone, and will answer nothing that is open."""
        self._require_live(rank, "Fence")
        self.live.discard(rank)
        self._lose(rank)
        self.doing[rank] = 0

    def vanish(self, rank: int) -> None:
        """Vanish: the process is gone before it took anything here."""
        self._require_away(rank, "Vanish")
        self._lose(rank)

    def reappear(self, rank: int) -> bool:
        """Reappear: a process acts for the rank again. False when it was not lost."""
        return self._find(rank)

    # -- requests ------------------------------------------------------------------------------------------------

    def ask(self, payload: A, client: int) -> Request[A] | None:
        """Ask. None when ``capacity`` requests are open."""
        if len(self.open) >= self.capacity:
            return None
        self.asked += 1
        request = Request(self.asked, payload, client, without=set(self.lost))
        self.open[request.number] = request
        return request

    def take(self, rank: int) -> Request[A] | None:
        """Take: the rank's next open request. None when there is none.

        Raises:
            ProtocolViolationError: The rank has not answered the one before.
        """
        self._require_live(rank, "Take")
        if self.doing[rank]:
            raise ProtocolViolationError(f"Take: rank {rank} has not answered request {self.doing[rank]}")
        for number, request in self.open.items():  # in the order of their numbers
            if number > self.served[rank] and rank not in request.without:
                self.doing[rank] = self.served[rank] = number
                return request
        return None

    def answer(self, rank: int, number: int, answer: A) -> bool:
        """Answer: True; RefuseLate: False, the request has ended.

        Raises:
            ProtocolViolationError: This is not the request that the rank has taken.
        """
        self._require_live(rank, "Answer")
        if number < 1 or self.doing[rank] != number:
            raise ProtocolViolationError(f"Answer: rank {rank} is not doing request {number}")
        self.doing[rank] = 0
        request = self.open.get(number)
        if request is None:
            return False
        request.answers[rank] = answer
        return True

    def collect(self, number: int) -> Request[A] | None:
        """Collect: the request with all answers, or None."""
        request = self._open_request(number)
        return self._end(request, "done") if len(request.answers) == self.ranks else None

    def end_lost(self, number: int) -> Request[A] | None:
        """EndLost: the request with all answers that will come, if ranks are gone; else None."""
        request = self._open_request(number)
        return self._end(request, "lost") if request.without and not self.awaited(request) else None

    def end_timeout(self, number: int) -> Request[A] | None:
        """EndTimeout: the request as it is, if it waits for ranks. The host knows the time limit."""
        request = self._open_request(number)
        return self._end(request, "late") if self.awaited(request) else None

    def withdraw(self, number: int) -> bool:
        """Withdraw: its client gives it up, or is gone. False when it is not open."""
        request = self.open.get(number)
        return request is not None and self._end(request, "withdrawn") is request

    def awaited(self, request: Request[A]) -> tuple[int, ...]:
        """Return the ranks that may still answer."""
        return tuple(r for r in range(self.ranks) if r not in request.answers and r not in request.without)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _lose(self, rank: int) -> None:
        self.lost.add(rank)
        for request in self.open.values():
            if rank not in request.answers:
                request.without.add(rank)

    def _open_request(self, number: int) -> Request[A]:
        request = self.open.get(number)
        if request is None:
            raise ProtocolViolationError(f"request {number} is not open")
        return request

    def _end(self, request: Request[A], how: State) -> Request[A]:
        del self.open[request.number]
        request.state = how
        return request
