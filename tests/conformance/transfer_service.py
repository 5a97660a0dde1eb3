"""Level V3 on the host's transfer channel: the edges of the model's graph that a host can take, each taken.

Sessions are in this process; a rank's accept has a thread of its own and wakes only when the driver says so, so that
everything may happen between a vote and the look of who waits.
"""

from __future__ import annotations

from typing import Any

from fdcomm.errors import FencedError, HostLostError
from fdcomm.host.members import Place
from fdcomm.host.transfer_channel import TransferChannel
from models.kernel import Action
from models.transfer import Config, State
from models.transfer_state import QUEUED, numbers, reported
from tests.conformance.driving import Deviation, ServiceCoverage, difference, must_raise, take_every_move
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.recording import Memory
from tests.conformance.transfer_core import Known
from tests.conformance.transfer_moves import host_moves
from tests.conformance.transfer_refusals import refusals
from tests.conformance.walks import Move
from tests.traces.transfer_runs import event_of, shown

__all__ = ("ServiceDriver", "drive_service")

_LIMIT_S = 1.0


class ServiceDriver(Known):
    """A channel under test, with a session for each client, and a spare one for each rank."""

    def __init__(self, config: Config) -> None:
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone_sessions: set[int] = set()
        place = Place("transfer", 0, self.runtime, self.recorder, lambda session: session not in self.gone_sessions)
        self.channel = TransferChannel(place, config.ranks)
        self.channel._core.capacity = config.capacity
        self.channel._kinds = {str(kind): kind for kind in range(1, config.kinds + 1)}
        super().__init__(config, self.channel._core)
        self._sessions = 0
        self.client = {number: self.open_session(-1) for number in range(1, config.clients + 1)}
        self.spare = {rank: [self.open_session(rank)] for rank in range(config.ranks)}
        self.holder: dict[int, int] = {}
        self.calls: dict[int, GatedCall] = {}
        self.closed: list[int] = []

    def open_session(self, client_id: int) -> int:
        """Open a session."""
        self._sessions += 1
        role = "producer" if client_id < 0 else None
        self.channel.open(self._sessions, client_id, role, f"session {self._sessions}")
        return self._sessions

    def seen(self) -> State:
        """Return the model's state that the channel is in."""
        ranks = self.config.ranks
        return self.state((False,) * ranks, (frozenset(),) * ranks, (frozenset(),) * ranks)

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one call."""
        (before, action, after), names = move[0], [action.name for _, action, _ in move]
        rank, client = action.param("rank"), action.param("client")
        if client is not None:
            self._of_client(action, client, before, after)
        elif action.name == "Clear":
            self._expect(action, self.channel.clear(self.client[1]), tuple(numbers(before, QUEUED)))
        elif action.name == "Abandon":
            number = action.param("number") or 0
            self._expect(action, self.channel.abandon(self.client[before.owner[number - 1]], number), True)
        elif rank is None:
            raise ValueError(f"{action} has no rank")
        elif action.param("number") is not None:
            self._report(action, rank, action.param("number") or 0, before)
        elif names[0] in ("Accept", "Return", "BackOff", "Refuse"):
            self._vote(names, rank, move)
        else:
            self._life(names, rank)

    def _report(self, action: Action, rank: int, number: int, before: State) -> None:
        channel, holder, said = self.channel, self.holder[rank], f"said by {rank}".encode()
        if action.name == "Overdue":
            self._expect(action, channel.overdue(holder, number, said), True)
        elif action.name == "Settle" and rank not in reported(before, number) and number % 2:
            self._expect(action, channel.report(holder, number, True, said), False)  # a report that comes too late
        elif action.name == "Settle":
            channel.settle(holder, number)
        else:
            self._expect(action, channel.report(holder, number, action.name == "ReportOk", said), True)

    # -- clients -------------------------------------------------------------------------------------------------

    def _of_client(self, action: Action, client: int, before: State, after: State) -> None:
        channel, session = self.channel, self.client[client]
        held = self.hand(client)
        if action.name == "Issue":
            kind, number = str(action.param("kind")), len(after.state)
            self._expect(action, channel.issue(session, kind, f"task {number}".encode(), 0.0), number)
            self.tasks.append(self.core.queued[number])
        elif action.name == "Withdraw":
            mine = tuple(n for n in numbers(before, QUEUED) if before.owner[n - 1] == client)
            self._expect(action, channel.withdraw(session), mine)
        elif action.name == "HandOut":
            look = channel.result if any(before.held) else channel.news
            self._expect(action, look(session, 0.0), self._result(after, after.hand[client - 1]))
        elif action.name == "Settled":
            self._expect(action, self._settled(session, action.param("number") or 0, before), action.param("number"))
        elif action.name == "Acknowledge":
            if before.results[client - 1] or len(before.handled) % 2:
                channel.acknowledge(session)
            else:  # asks for a next one, and there is none
                self._expect(action, channel.result(session, 0.0), None)
        else:
            self.gone.add(client)
            self.closed.append(session)
            channel.close_session(session, lost=client % 2 == 0)
            return
        if held and self.hand(client) != held:
            self.handled.add(held)

    def _settled(self, session: int, number: int, before: State) -> object:
        """By the call for it, or by the one that looks for results too: with nothing in hand that is one action."""
        settled = self.core.clients[before.owner[number - 1]].settled
        settled.remove(number)  # the model may tell of any that has settled
        settled.appendleft(number)
        if before.hand[before.owner[number - 1] - 1]:
            return self.channel.settled(session, 0.0)
        return self.channel.news(session, 0.0)

    @staticmethod
    def _result(s: State, number: int) -> tuple[Any, ...]:
        said = sorted((r.rank, r.ok, f"said by {r.rank}".encode()) for r in s.reports[number - 1])
        gone, busy = s.without[number - 1], s.busy[number - 1]
        return number, s.state[number - 1], said, tuple(sorted(gone)), tuple(sorted(busy))

    # -- ranks ---------------------------------------------------------------------------------------------------

    def _vote(self, names: list[str], rank: int, move: Move[State]) -> None:
        channel, runtime = self.channel, self.runtime
        if names == ["Refuse"]:
            channel.refuse(self.holder[rank])
        elif names == ["Return"]:
            self._expect(move[0][1], channel.accept(self.holder[rank], 0.0), None)
        elif names == ["BackOff"]:
            self._back_off(rank, move[0][0])
        else:
            session = self.holder[rank]
            call = self.calls[rank] = runtime.start(lambda: channel.accept(session, _LIMIT_S))
            if names[-1] == "Start":
                self._started(numbers(move[0][0], QUEUED)[0], move[-1][2])
            elif names[-1] == "BackOff":
                self._expect(move[-1][1], (self.calls.pop(rank).done, call.result, call.error), (True, None, None))
            elif call.done:
                raise Deviation(f"{move[0][1]} has returned {call.result!r}, {call.error!r}")

    def _started(self, number: int, after: State) -> None:
        """Everybody who waits gets the task."""
        wanted = (number, str(after.kind[number - 1]), f"task {number}".encode())
        for rank in list(self.calls):
            call = self.calls.pop(rank)
            if not call.done:
                if not call.notified:
                    raise Deviation(f"rank {rank} sleeps, and is not told that the task has started")
                call.wake()
            self._expect(f"the accept of rank {rank}", call.result, wanted)

    def _back_off(self, rank: int, before: State) -> None:
        call = self.calls.pop(rank)
        absent = len(self.core.live) < self.core.ranks
        if QUEUED in before.state and "no" not in before.vote and not absent:
            call.expired = True
        elif not call.notified:
            raise Deviation(f"rank {rank} sleeps, and is not told that it waits in vain")
        call.wake()
        if not call.done or call.error is not None or call.result is not None:
            raise Deviation(f"rank {rank} has not backed off, but {call.result!r}, {call.error!r}")

    def _life(self, names: list[str], rank: int) -> None:
        if names == ["Crash"]:
            self.dead.add(rank)
            self.gone_sessions.add(self.holder[rank])
            return
        if names[0] in ("Leave", "Fence"):
            holder = self.holder.pop(rank)
            self.dead.discard(rank)
            if len(names) == 1:
                self._leave(rank, holder, lost=names[0] == "Fence")
            else:
                self.closed.append(holder)
        if names[-1] == "Reappear":
            self.spare[rank].append(self.open_session(rank))
        elif names[-1] == "Join":
            self.holder[rank] = self.spare[rank].pop()
            self.channel.next_task(self.holder[rank], 0.0)
            self.spare[rank].append(self.open_session(rank))  # the rank is live now, so nobody reappears
        self._end_calls(rank)

    def _leave(self, rank: int, holder: int, *, lost: bool) -> None:
        """The handle closes, or is lost; or only the loop is closed."""
        if not lost and rank not in self.calls and len(self.closed) % 2:
            self.channel.leave(holder)
            self.channel.leave(holder)  # idempotent
            if rank in self.core.live:
                raise Deviation(f"the loop of rank {rank} is closed, and the rank has not left")
            self.channel.close_session(holder, lost=False)
        else:
            self.channel.close_session(holder, lost=lost)
        self.closed.append(holder)

    def _end_calls(self, rank: int) -> None:
        """Who waits through a handle that is gone is told."""
        if rank in self.calls and (rank not in self.holder or self.core.votes[rank] != "yes"):
            self._fenced(self.calls.pop(rank))

    @staticmethod
    def _fenced(call: GatedCall) -> None:
        call.wake()
        if not isinstance(call.error, FencedError):
            raise Deviation(f"a call of a handle that is gone ended with {call.result!r}, {call.error!r}")

    def refusals(self, s: State) -> int:
        """Make calls that cannot succeed in ``s``: each must raise its error, or say no, and change nothing."""
        calls = refusals(self, s)
        for error, call, wanted in calls:
            if error is not None:
                must_raise(error, call)  # type: ignore[type-var]
            elif (found := call()) != wanted:
                raise Deviation(f"{call} returned {found!r} instead of {wanted!r}")
        return len(calls) + self._wake_in_vain(s)

    def _wake_in_vain(self, s: State) -> int:
        """Who has no reason to wake sleeps on."""
        if QUEUED not in s.state or "no" in s.vote or any(rank not in self.core.live for rank in range(len(s.vote))):
            return 0
        for rank, call in self.calls.items():
            call.wake()
            if call.done:
                raise Deviation(f"rank {rank} has stopped waiting: {call.result!r}, {call.error!r}")
        return len(self.calls)

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.channel.shut_down()
        for rank, call in self.calls.items():
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise Deviation(f"the accept of rank {rank} ended with {call.result!r} when the host ended")

    @staticmethod
    def _expect(action: object, found: object, wanted: object) -> None:
        if found != wanted:
            raise Deviation(f"{action} returned {found!r} instead of {wanted!r}")


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of a host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, lambda: ServiceDriver(config), _check)


def _check(driver: ServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.seen()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    told = [((event["action"], event["args"], event["result"]), event["post"]) for event in driver.recorder.take()]
    expected = [
        (event_of(action, before, after), shown(after))
        for before, action, after in move
        if action.name != "Crash" and not (action.name == "Gone" and action.param("client") not in before.owner)
    ]
    if told != expected:
        raise Deviation(f"recorded {told} instead of {expected}")
