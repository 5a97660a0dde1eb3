"""Level V3 on the host's control channel: the edges of the model's graph that a host can take, each taken.

Sessions are in this process; an asking call has a thread of its own and wakes only when the driver says so, so that
everything may happen between an answer and the look of who waits for it.
"""

from __future__ import annotations

import pickle
from functools import partial

from fdcomm.core.control import Request
from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    HostLostError,
    ProtocolViolationError,
    RequestCancelledError,
    StaleAnswerError,
)
from fdcomm.host.control_channel import ControlChannel
from fdcomm.host.members import Place
from models.control import Config, Control, State
from models.control_state import LIVE
from tests.conformance.control_core import state_of
from tests.conformance.control_moves import host_moves
from tests.conformance.driving import Deviation, ServiceCoverage, difference, must_raise, take_every_move
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.recording import Memory
from tests.conformance.walks import Move
from tests.traces.control_runs import event_of, shown

__all__ = ("ServiceDriver", "drive_service")

_ENDS = {"Collect": "done", "EndLost": "lost", "EndTimeout": "late"}


class ServiceDriver:
    """A channel under test, and what its callers know. Each request has a session of its own."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone: set[int] = set()
        place = Place("control", 0, self.runtime, self.recorder, lambda session: session not in self.gone)
        self.channel = ControlChannel(place, config.ranks)
        self.channel._core.capacity = config.capacity
        self.requests: list[Request[bytes]] = []
        self.asking: dict[int, tuple[int, GatedCall]] = {}
        self.holder: dict[int, int] = {}
        self.closed: list[int] = []
        self.dead: set[int] = set()
        self._sessions = 0
        self.spare = {rank: [self.open(rank)] for rank in range(config.ranks)}

    def open(self, client_id: int) -> int:
        """Open a session."""
        self._sessions += 1
        role = "producer" if client_id < 0 else None
        self.channel.open(self._sessions, client_id, role, f"session {self._sessions}")
        return self._sessions

    def state(self) -> State:
        """Return the model's state that the channel is in."""
        return state_of(self.channel._core, self.requests, self.dead, pickle.loads)

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one call."""
        names = [action.name for _, action, _ in move]
        before, action, _ = move[0]
        rank, number = action.param("rank"), action.param("number")
        if names[0] == "Ask":
            self._ask(move)
        elif number is not None:
            self._end(names[0], number)
        elif rank is None:
            raise ValueError(f"{action} has no rank")
        elif names[-1] in ("Join", "Take"):
            self._take(rank, move)
        elif names[0] in ("Answer", "RefuseLate"):
            self._answer(rank, before.doing[rank], late=names[0] == "RefuseLate")
        else:
            self._life(names, rank)

    def _ask(self, move: Move[State]) -> None:
        session, number = self.open(-1), move[0][2].asked
        payload = pickle.dumps(f"request {number}")
        call = self.runtime.start(lambda: self.channel.ask(session, payload, 1.0))
        core = self.channel._core
        ends_at_once = len(move) > 1
        if call.done != ends_at_once:
            raise Deviation(f"{move[0][1]} {'has' if call.done else 'has not'} returned")
        if ends_at_once:
            self._told(call, number, "EndLost", move[-1][2])
            gone = move[-1][2].without[number - 1]
            self.requests.append(Request(number, payload, 0, "lost", {}, set(gone)))
        else:
            self.requests.append(core.open[number])
            self.asking[number] = session, call

    def _end(self, name: str, number: int) -> None:
        session, call = self.asking.pop(number)
        if name == "Withdraw":
            by_cancel = number % 2 == 1
            if by_cancel and self.channel.cancel(session) != (number,):
                raise Deviation(f"the cancel did not withdraw {number}")
            if not by_cancel:
                self.channel.close_session(session, lost=False)
            self._notified(call, name)
            call.wake()
            if not isinstance(call.error, RequestCancelledError if by_cancel else FencedError):
                raise Deviation(f"a withdrawn request ended with {call.error!r}, {call.result!r}")
            return
        if name == "EndTimeout":
            call.expired = True
        else:
            self._notified(call, name)
        call.wake()
        self._told(call, number, name, self.state())

    def _told(self, call: GatedCall, number: int, name: str, after: State) -> None:
        given = {given.rank: tuple(given) for given in after.answers[number - 1]}
        missing = tuple(rank for rank in range(self.config.ranks) if rank not in given)
        if call.error is not None:
            raise Deviation(f"{name}({number}) raised {call.error!r}")
        found, end, answers, said = call.result
        read = {rank: pickle.loads(answer) for rank, answer in enumerate(answers) if answer is not None}
        if (found, end, read, said) != (number, _ENDS[name], given, missing):
            raise Deviation(f"{name}({number}) returned {call.result} instead of {given}, {missing}")

    @staticmethod
    def _notified(call: GatedCall, name: str) -> None:
        if not call.notified:
            raise Deviation(f"{name} is due, and who waits for it sleeps without being notified")

    def _take(self, rank: int, move: Move[State]) -> None:
        if len(move) > 1 or move[0][1].name == "Join":
            if move[0][1].name == "Fence":
                self.closed.append(self.holder[rank])
                self.dead.discard(rank)
            self.holder[rank] = self.spare[rank].pop()
        found = self.channel.take(self.holder[rank], 0.0)
        if move[-1][1].name == "Join":
            if found is not None:
                raise Deviation(f"a rank took {found}, and there is nothing for it")
        elif found != (move[-1][2].doing[rank], pickle.dumps(f"request {move[-1][2].doing[rank]}")):
            raise Deviation(f"{move[-1][1]} took {found}")
        if not self.spare[rank]:
            self.spare[rank].append(self.open(rank))  # the rank is live now, so nobody reappears

    def _answer(self, rank: int, number: int, *, late: bool) -> None:
        call = partial(self.channel.answer, self.holder[rank], number, pickle.dumps((rank, number)))
        if not late:
            call()
        elif must_raise(StaleAnswerError, call).request != number:
            raise Deviation("the refusal names another request")

    def _life(self, names: list[str], rank: int) -> None:
        if names == ["Crash"]:
            self.dead.add(rank)
            self.gone.add(self.holder[rank])
        elif names[-1] == "Reappear":
            if names[0] == "Fence":  # the host hears of the end of the old handle when the new one opens
                self.closed.append(self.holder.pop(rank))
                self.dead.discard(rank)
            self.spare[rank].append(self.open(rank))
        else:
            holder = self.holder.pop(rank)
            self.closed.append(holder)
            self.dead.discard(rank)
            self.channel.close_session(holder, lost=names == ["Fence"])

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``: each must raise its error, or say no, and change nothing."""
        enabled = {(a.name, *(value for _, value in a.params)) for a, _ in Control(self.config).steps(state)}
        channel, tried = self.channel, 1
        for rank, status in enumerate(state.status):
            spare = self.spare[rank][-1] if self.spare[rank] else None
            if spare is not None:
                must_raise(ProtocolViolationError, partial(channel.answer, spare, state.doing[rank] or 1, b""))
                tried += 1
            if status != LIVE:
                continue
            holder = self.holder[rank]
            if spare is not None:
                must_raise(DuplicateRankError, partial(channel.take, spare, 0.0))
            wrong = partial(channel.answer, holder, state.doing[rank] + 1, b"")
            must_raise(ProtocolViolationError, wrong)
            if state.doing[rank]:
                must_raise(ProtocolViolationError, partial(channel.take, holder, 0.0))
            elif ("Take", rank) not in enabled and channel.take(holder, 0.0) is not None:
                raise Deviation(f"rank {rank} took what is not for it")
            tried += 3
        for session in self.closed:
            must_raise(FencedError, partial(channel.take, session, 0.0))
            must_raise(FencedError, partial(channel.answer, session, 1, b""))
            tried += 2
        for number, (_, call) in self.asking.items():
            if not {("Collect", number), ("EndLost", number)} & enabled:
                call.wake()  # without reason, or for one that is not its own
                if call.done:
                    raise Deviation(f"request {number} ended with {call.result!r}, {call.error!r}")
                tried += 1
        if state.state.count("open") == self.config.capacity:
            asker = self.open(-1)
            must_raise(CommTimeoutError, partial(channel.ask, asker, b"too many", 0.0))
            channel.close_session(asker, lost=False)
            tried += 1
        if channel.cancel(self.spare[0][-1] if self.spare[0] else self.open(-1)) != ():
            raise Deviation("a cancel withdrew what another handle has asked")
        return tried

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.channel.shut_down()
        for number, (_, call) in self.asking.items():
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise Deviation(f"request {number} ended with {call.error!r} when the host ended")


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of a host through the channel."""
    graph, moves = host_moves(config)
    return take_every_move(graph, moves, lambda: ServiceDriver(config), _check)


def _check(driver: ServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    told = []
    for event in driver.recorder.take():
        args = {**event["args"], "client": 0} if event["action"] == "Ask" else event["args"]
        told.append(((event["action"], args, event["result"]), event["post"]))
    expected = [
        (event_of(action, before, after), shown(after)) for before, action, after in move if action.name != "Crash"
    ]
    if told != expected:
        raise Deviation(f"recorded {told} instead of {expected}")
