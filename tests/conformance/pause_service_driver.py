"""Drives the host's pause channel by the labels of the model.

Sessions are in process, calls that wait are in threads of their own and wake when the driver says so. The gates of
the ranks are the shipping ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fdcomm.core.pause import MODES
from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    HostLostError,
    NotPausedError,
    PauseEndedError,
    ProtocolViolationError,
    RequestCancelledError,
    StalePauseError,
)
from fdcomm.host.members import Place
from fdcomm.host.pause_channel import PauseChannel
from models.graph import Edge
from models.kernel import Action
from models.pause import Config, State, still
from models.pause_state import DEAD, LIVE
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.pause_core import Deviation, PauseDriver
from tests.conformance.pause_moves import RETURNS
from tests.conformance.recording import Memory
from tests.conformance.walks import Move

__all__ = ("INSIDE", "ServiceDriver")

INSIDE = ("Crash", "Admit", "Done", "Park")  # what a host cannot see


class ServiceDriver(PauseDriver):
    """A channel under test, with one session for each rank and each client."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone: set[int] = set()
        place = Place("pause", 0, self.runtime, self.recorder, lambda session: session not in self.gone)
        self.channel = PauseChannel(place, config.ranks)
        self.core = self.channel._core
        self._sessions = 0
        self.of_rank = {rank: self._open(rank) for rank in range(config.ranks)}
        self.of_client = {client: self._open(-1) for client in range(1, config.clients + 1)}
        self.calls: dict[int, GatedCall] = {}
        self.number: dict[int, int] = {}  # number that the channel gave to a client's call -> client
        self.hold: dict[int, int] = {}  # client -> number under which it holds
        self.begins: dict[int, bool] = {}  # client in pause -> it began the pause
        self.given_up = 0

    def _open(self, client_id: int) -> int:
        self._sessions += 1
        role = "producer" if client_id < 0 else None
        self.channel.open(self._sessions, client_id, role, f"session {self._sessions}")
        return self._sessions

    def holders(self) -> frozenset[int]:
        """Return the clients that hold the pause."""
        if set(self.hold.values()) != self.core.holders:
            raise Deviation(f"{self.core.holders} hold the pause, and should be {self.hold}")
        return frozenset(self.hold)

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one critical section."""
        before, action, after = move[0]
        client, rank = action.param("client"), action.param("rank")
        if client is not None:
            self._client_move(client, move)
        else:
            assert rank is not None
            self._rank_move(rank, action.name, parked=after.parked < before.parked, joins=len(move) > 1)
        self._wake_in_vain(move[-1][2])

    def _wake_in_vain(self, state: State) -> None:
        """Let who was notified and cannot return look: then what wakes it later is what makes its return possible."""
        for client, call in self.calls.items():
            if call.notified and not _can_return(state, client):
                call.wake()
                if call.done:
                    raise Deviation(f"the call of client {client} ended with {call.error!r}, {call.result!r}")

    def _expecting(self) -> set[int]:
        numbers = {client: number for number, client in self.number.items()}
        return {numbers[client] for client in super()._expecting()}

    # -- ranks ---------------------------------------------------------------------------------------------------

    def _rank_move(self, rank: int, name: str, *, parked: bool, joins: bool) -> None:
        channel, session = self.channel, self.of_rank[rank]
        if name == "Join" or joins:
            if joins:
                self.of_rank[rank] = self._open(rank)
                self.dead.discard(rank)
            channel.join(self.of_rank[rank])
            self.gates[rank] = self.make_gate(self.core.latest)
        elif name == "Leave":
            channel.leave(session)
            self.gates[rank].shut = True
        elif name == "Fence":
            channel.close_session(session, lost=True)
            self.dead.discard(rank)
            self.of_rank[rank] = self._open(rank)
        elif name == "Take":
            self.gates[rank].take(self.core.latest)
            if channel.next_order(session, self.gates[rank].order, False, 0.0) is not None:
                raise Deviation("a rank that has taken the latest order is given another")
        elif name == "Quiet":
            channel.report(session, self.gates[rank].order, self.gates[rank].quiet)
        else:
            if name == "Crash":
                self.gone.add(session)
            self._of_rank(name, rank, parked=parked)

    # -- clients -------------------------------------------------------------------------------------------------

    def _client_move(self, client: int, move: Move[State]) -> None:
        channel, session = self.channel, self.of_client[client]
        action = move[0][1]
        name = action.name
        if name == "Hold":
            self.hold[client] = channel.hold(session, None)
        elif name == "LetGo":
            channel.let_go(session, self.hold.pop(client))
        elif name in ("CallPause", "CallResume", "CancelPause"):
            if name == "CallPause":
                self.begins[client] = move[0][0].phase == "run"
            self._begin(client, action)
            if len(move) > 1:
                self._end(client, move[1], woken=False)
        elif name in RETURNS:
            self._end(client, move[0])
        else:
            self._give_up(client, move[0][0])
        if name == "CallResume" or name == "CancelPause":
            self.promised = self.promised and move[0][0].phase == "run"

    def _begin(self, client: int, action: Action) -> None:
        channel, session = self.channel, self.of_client[client]
        taken = set(self.number) | set(self.hold.values())
        self.number[next(number for number in range(1, 9) if number not in taken)] = client
        mode = MODES[action.param("mode") or 0]
        target: dict[str, Callable[[], object]] = {
            "CallPause": lambda: channel.pause(session, mode, False, 1.0, client),
            "CallResume": lambda: channel.resume(session, None, 1.0, client),
            "CancelPause": lambda: channel.cancel(session, 1.0, client),
        }
        self.calls[client] = self.runtime.start(target[action.name])
        about = self.core.began if action.name == "CallPause" else self.core.latest.number
        kind = {"CallPause": "pause", "CallResume": "resume", "CancelPause": "cancel"}[action.name]
        self._call(client, kind, about)

    def _end(self, client: int, edge: Edge[State], *, woken: bool = True) -> None:
        call, kind = self.calls.pop(client), self.waiting[client - 1]
        if woken:
            if not call.notified:
                raise Deviation(f"{edge[1]} is possible, and the call sleeps without being notified")
            call.wake()
        about = self.awaited[client - 1]
        wanted: dict[str, object] = {"pause": (about, 0, self.begins.pop(client, None)), "resume": None, "cancel": True}
        good = call.done and call.error is None and call.result == wanted[kind]
        if edge[1].name == "PauseEnded":
            good = isinstance(call.error, PauseEndedError)
        if not good:
            raise Deviation(f"{edge[1]}: the call ended with {call.error!r}, {call.result!r}")
        self.promised = self.promised or edge[1].name == "PauseReturns"
        self._call(client, "idle", 0)

    def _give_up(self, client: int, before: State) -> None:
        call = self.calls.pop(client)
        ready = _can_return(before, client)
        if ready:
            self.channel.close_session(self.of_client[client], lost=True)
            self.of_client[client] = self._open(-1)
        self.given_up += 1
        asked = not ready and self.given_up % 2 == 0
        if asked:
            self._ask_to_give_up(client, call)
        call.expired = not asked
        call.wake()
        wanted = FencedError if ready else RequestCancelledError if asked else CommTimeoutError
        if not isinstance(call.error, wanted):
            raise Deviation(f"GiveUp({client}): the call ended with {call.error!r}, {call.result!r}")
        if wanted is CommTimeoutError and call.error.missing != self._missing(before, client):
            raise Deviation(f"GiveUp({client}): {call.error.missing} are missing, the error says")
        self._call(client, "idle", 0)

    def _ask_to_give_up(self, client: int, call: GatedCall) -> None:
        channel, session = self.channel, self.of_client[client]
        if channel.give_up(session, client + 1) or channel.give_up(self._open(-1), client):
            raise Deviation("a call was given up by another's token, or by another session")
        if channel.give_up(session, client) != 1 or not call.notified:
            raise Deviation(f"the call of client {client} is not told to give up")

    def _missing(self, before: State, client: int) -> tuple[int, ...]:
        there = [rank for rank, status in enumerate(before.status) if status in (LIVE, DEAD)]
        if before.waiting[client - 1] == "pause":
            return tuple(rank for rank in there if rank not in before.quiet)
        return tuple(rank for rank in there if before.seen[rank] < before.awaited[client - 1])

    # -- what is recorded ----------------------------------------------------------------------------------------

    def events(self) -> list[tuple[Action, Mapping[str, Any]]]:
        """Return the events since the last look, in the model's terms."""
        found = []
        for event in self.recorder.take():
            args = {name: value for name, value in event["args"].items() if name != "order"}
            name = event["action"]
            if "client" in args:
                held = {number: client for client, number in self.hold.items()}
                args["client"] = (self.released if name == "LetGo" else held if name == "Hold" else self.number)[
                    args["client"]
                ]
                if name in (*RETURNS, "GiveUp"):
                    del self.number[event["args"]["client"]]
            if "mode" in args:
                args["mode"] = MODES.index(args["mode"])
            found.append((Action(name, tuple(args.items())), event["post"]))
        self.released = {number: client for client, number in self.hold.items()}
        return found

    released: Mapping[int, int] = {}

    # -- refusals ------------------------------------------------------------------------------------------------

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``: each must raise its error and change nothing."""
        channel, tried = self.channel, 0

        def refused(kind: type[FdcommError], call: Callable[..., object], *args: object) -> None:
            nonlocal tried
            tried += 1
            try:
                answer = call(*args)
            except kind:
                return
            raise Deviation(f"{call.__name__}{args} must raise {kind.__name__}, and returned {answer}")

        for rank, status in enumerate(state.status):
            session = self.of_rank[rank]
            if status == LIVE:
                refused(DuplicateRankError, channel.join, session)
                other = self._open(rank)
                refused(DuplicateRankError, channel.join, other)
                channel.close_session(other, lost=True)
            elif status != DEAD:
                for call in (channel.report, channel.next_order):
                    args = (state.order, True) if call == channel.report else (state.order, True, 0.0)
                    refused(ProtocolViolationError, call, session, *args)
                refused(ProtocolViolationError, channel.leave, session)
        client = self.of_client[1]
        rests, pause = still(state), state.phase == "pause"
        if pause and not rests:
            refused(CommTimeoutError, channel.pause, client, "keep", False, 0.0)
        if pause and (not rests or state.holders):
            refused(CommTimeoutError, channel.resume, client, None, 0.0)
        if pause:
            refused(StalePauseError, channel.resume, client, state.began - 1, 0.0)
        if not rests:
            refused(NotPausedError, channel.hold, client, None)
        else:
            refused(NotPausedError, channel.hold, client, state.began - 1)
        if (not pause or rests) and channel.cancel(client, 0.0):
            raise Deviation("cancel returned True, and there was nothing to cancel")
        refused(ProtocolViolationError, channel.let_go, client, 9)
        for other in self.hold.values():
            refused(ProtocolViolationError, channel.let_go, self.of_rank[0], other)
        refused(FencedError, channel.pause, -7, "drain", False, 0.0)
        refused(ProtocolViolationError, channel.pause, client, "gently", False, 0.0)
        self.recorder.take()
        return tried

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.channel.shut_down()
        for call in self.calls.values():
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise Deviation(f"a call ended with {call.error!r} when the host ended")


def _can_return(state: State, client: int) -> bool:
    kind, about = state.waiting[client - 1], state.awaited[client - 1]
    if kind == "pause":
        return still(state) or state.phase == "run" or about != state.began
    return all(state.seen[rank] >= about for rank, status in enumerate(state.status) if status in (LIVE, DEAD))
