"""Drives the host's service by the labels of the barrier model: sessions in process, waits in threads of their own.

A move is what a host does in one critical section.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fdcomm.core.barrier import BarrierGroup
from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    HostLostError,
    PeerLostError,
    ProtocolViolationError,
)
from fdcomm.host.barrier_channel import BarrierChannel
from fdcomm.host.members import Place
from models.barrier import Config, State
from models.barrier_state import DEAD, LIVE, UNSAID
from models.kernel import Action
from tests.conformance.barrier_core import abstract, endings, label_of, names_of
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.recording import Memory
from tests.conformance.walks import Move

__all__ = ("WAITS", "BarrierServiceDriver")

WAITS = ("Arrive", "Pass", "Mismatch", "Refuse")
ERROR = {
    "lost": PeerLostError,
    "mismatch": BarrierMismatchError,
    "broken": BarrierBrokenError,
    "over": BarrierMismatchError,
}


class BarrierServiceDriver:
    """A channel under test. ``lazy``: who was told something wakes only at the end."""

    def __init__(self, config: Config, *, lazy: bool = False) -> None:
        self.config = config
        self.lazy = lazy
        self.names = names_of(config.barriers)
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone: set[int] = set()
        place = Place("barriers.test", 0, self.runtime, self.recorder, lambda session: session not in self.gone)
        self.channel = BarrierChannel(place, self.names, config.ranks)
        self.session: dict[int, int] = {}
        self.dead: set[int] = set()
        self.undone = [0] * config.barriers
        self.passed = [[0] * config.barriers for _ in range(config.ranks)]
        self.waiting: dict[int, tuple[GatedCall, str]] = {}
        self.asleep: list[tuple[GatedCall, str, tuple[str, object] | None]] = []
        self.told: dict[tuple[int, int], int] = {}
        self._sessions = 0
        self.engine = self.open(-1)

    @property
    def core(self) -> BarrierGroup:
        """The core inside."""
        return self.channel._core

    def open(self, client_id: int) -> int:
        """Open a session."""
        self._sessions += 1
        self.channel.open(self._sessions, client_id, None, f"session {self._sessions}")
        return self._sessions

    def state(self) -> State:
        """Return the model's state that the channel is in."""
        return abstract(self.core, self.dead, self.undone, self.passed)

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one call."""
        action, last = move[0][1], move[-1]
        name, rank = last[1].name, action.param("rank")
        ended: dict[int, tuple[str, object]] = {}
        for earlier, step, later in move:
            ended |= endings(step, earlier, later)
        broken = [who for who, ending in ended.items() if ending[0] == "broken"]
        withdrawn = {step.param("rank") for _, step, _ in move if step.name in ("Leave", "Fence")}
        barrier = last[1].param("barrier")
        if name == "Crash":
            assert rank is not None
            self.gone.add(self.session[rank])
            self.dead.add(rank)
        elif name in ("Leave", "Fence"):
            assert rank is not None
            self.dead.discard(rank)
            self.channel.close_session(self.session.pop(rank), lost=name == "Fence")
        elif name == "Timeout":
            assert rank is not None
            self._give_up(rank)
        elif name == "Abort":
            self.channel.abort(self.engine, self.names[barrier or 0])
        elif name == "Reset":
            self.channel.reset(self.engine, self.names[barrier or 0])
            self.undone[barrier or 0] = last[1].param("abort") or 0
        if name in WAITS:
            assert rank is not None
            if len(move) > 1:
                self.dead.discard(rank)
                self.session[rank] = self.open(rank)
            mine = self._wait(last[1], rank)
            if name != "Arrive":
                self._told(mine, f"{last[1]}", ended.pop(rank))
        for who in withdrawn:
            if who in self.waiting:
                self._settle(*self.waiting.pop(who), None)
        for who, ending in ended.items():
            self._settle(*self.waiting.pop(who), ending)
            if ending[0] == "passed":
                self.passed[who][barrier or 0] += 1
        if name == "Pass":
            assert rank is not None
            self.passed[rank][barrier or 0] += 1
        for who in broken:
            self.told[self.session[who], barrier or 0] = last[2].aborts[barrier or 0]
        if name == "Arrive":
            assert rank is not None
            self.waiting[rank] = mine, str(last[1])

    def finish(self) -> None:
        """Wake whoever sleeps on, then end the host: whoever waits is told."""
        for call, label, ending in self.asleep:
            call.wake()
            self._told(call, label, ending)
        self.channel.shut_down()
        for call, label in self.waiting.values():
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise AssertionError(f"{label} ended with {call.error!r} when the host ended")

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``: each must raise its error and change nothing."""
        tried = 0
        where = {a.rank for there in state.arrived for a in there}
        for rank, status in enumerate(state.status):
            if status == LIVE:
                other = self.open(rank)
                self._refused(DuplicateRankError, other, 0)
                self.channel.close_session(other, lost=False)
                tried += 1
            if status in (LIVE, DEAD) and rank in where:
                for barrier in range(self.config.barriers):
                    self._refused(ProtocolViolationError, self.session[rank], barrier)
                    tried += 1
        self._refused(FencedError, -7, 0)
        for number, name in enumerate(self.names):
            if not state.broken[number]:
                self.channel.reset(self.engine, name)
            for session in self.session.values():
                if self.told.get((session, number)) != state.aborts[number]:
                    self.channel.reset(session, name)  # it was told of no abort, or of an older one
                    tried += 1
        return tried + 1

    def events(self) -> list[tuple[Action, Mapping[str, Any]]]:
        """Return the events since the last look, in the model's terms."""
        found = []
        for event in self.recorder.take():
            args = dict(event["args"])
            if "barrier" in args:
                args["barrier"] = self.names.index(args["barrier"])
            if "label" in args:
                args["label"] = int(args["label"][6:] or 0)
            if "round" in args:
                args["round"] = UNSAID if args["round"] is None else args["round"]
            if event["action"] == "Refuse":
                del args["label"]
            if event["result"]:
                raise AssertionError(f"an event has a result: {event}")
            found.append((Action(event["action"], tuple(args.items())), event["post"]))
        return found

    # -- helpers -------------------------------------------------------------------------------------------------

    def _wait(self, action: Action, rank: int) -> GatedCall:
        number = action.param("round")
        said = None if number in (None, UNSAID) else number
        label = label_of(action.param("label") or 0)
        name, session = self.names[action.param("barrier") or 0], self.session[rank]
        return self.runtime.start(lambda: self.channel.wait(session, name, label, said, 1.0))

    def _refused(self, kind: type[FdcommError], session: int, barrier: int) -> None:
        try:
            answer = self.channel.wait(session, self.names[barrier], "", None, 0.0)
        except kind:
            return
        raise AssertionError(f"a wait that must raise {kind.__name__} returned {answer}")

    def _give_up(self, rank: int) -> None:
        call, label = self.waiting.pop(rank)
        missing = next(self.core.missing(name) for name in self.names if rank in self.core.arrived(name))
        call.expired = True
        call.wake()
        if not isinstance(call.error, CommTimeoutError) or call.error.missing != missing:
            raise AssertionError(f"{label} ended with {call.error!r} at its time limit; {missing} are missing")

    def _settle(self, call: GatedCall, label: str, ending: tuple[str, object] | None) -> None:
        if not call.notified:
            raise AssertionError(f"{label} has ended ({ending}), and sleeps without being notified")
        if self.lazy:
            self.asleep.append((call, label, ending))
            return
        call.wake()
        self._told(call, label, ending)

    @staticmethod
    def _told(call: GatedCall, label: str, ending: tuple[str, object] | None) -> None:
        if not call.done:
            raise AssertionError(f"{label} has not returned")
        if ending is None:
            good = isinstance(call.error, FencedError)
        elif ending[0] == "passed":
            assert isinstance(ending[1], tuple)
            good = call.error is None and call.result == ending[1][1]
        else:
            good = type(call.error) is ERROR[ending[0]]
            if good and ending[0] == "lost":
                assert isinstance(call.error, FdcommError)
                good = call.error.missing == ending[1]
            if good and ending[0] == "mismatch":
                good = all(f"rank {at[0]} at {at[1]}" in str(call.error) for at in ending[1])  # type: ignore[attr-defined]
        if not good:
            raise AssertionError(f"{label} ended with {call.error!r}, {call.result!r} instead of {ending}")
