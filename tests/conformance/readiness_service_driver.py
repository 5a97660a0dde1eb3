"""Drives the host's readiness channel by the labels of its model: sessions in process, waits in threads of their own.

The words are those that the loops of parts stamp. A move is what a host does in one critical section.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fdcomm.errors import (
    ConfigError,
    DuplicateRankError,
    FencedError,
    HostLostError,
    ProtocolViolationError,
)
from fdcomm.host import beats
from fdcomm.host.members import Place
from fdcomm.host.readiness_channel import ReadinessChannel
from models.kernel import Action
from models.readiness import Config, Readiness, State
from models.readiness_state import DEAD, LIVE
from tests.conformance.driving import Deviation, must_raise
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.readiness_core import History, components_of, names_of, party_of, state_of
from tests.conformance.readiness_moves import LOOKS
from tests.conformance.recording import Memory
from tests.conformance.walks import Move

__all__ = ("ReadinessServiceDriver",)

_LONG_S = 1.0
_LIMIT_S = 2e9
"""Longer than what a call sees whose time limit counts as reached: here a loop stands still when its stamp is gone."""


class ReadinessServiceDriver:
    """A channel under test. A session of its own for each process, and one for each client that waits."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.model = Readiness(config)
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone: set[int] = set()
        ranks = config.parts * config.components
        self.words = memoryview(bytearray(8 * beats.words_for(ranks))).cast("q")
        place = Place(
            "readiness", 0, self.runtime, self.recorder, lambda session: session not in self.gone, words=self.words
        )
        self.channel = ReadinessChannel(place, ranks)
        self.history = History(config)
        self.session: dict[int, int] = {}
        self.ghosts: dict[int, int] = {}
        self.closed: list[int] = []
        self.calls: dict[int, tuple[int, GatedCall]] = {}
        self._sessions = 0
        self.client = self.open()
        self.channel.declare(self.client, components_of(config))
        self.recorder.take()

    def open(self) -> int:
        """Open a session."""
        self._sessions += 1
        self.channel.open(self._sessions, -1, None, f"session {self._sessions}")
        return self._sessions

    def state(self) -> State:
        """Return the model's state that the channel, its words and what nobody can see are in."""
        core = self.channel._core
        assert core is not None
        number = 0
        for name, size, _ in components_of(self.config):
            for rank in range(size):
                part = int(name.split()[1]) * self.config.parts + rank
                words = (self.words[beats.slot_of(number, inc)] for inc in (0, 1))
                self.history.stamps[part] = frozenset(word >> 43 for word in words if word)
                number += 1
        return state_of(core, self.config, self.history)

    def _word(self, part: int, inc: int) -> int:
        parts = [party_of(self.config, p) for p in self.config.there]
        return beats.slot_of(parts.index(party_of(self.config, part)), inc)

    # -- moves ---------------------------------------------------------------------------------------------------

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one call."""
        before, action, _ = move[0]
        last, names = move[-1][1], [action.name for _, action, _ in move]
        if last.name == "Expire":
            self._expire(before, last.params[0][1], alone=len(move) == 1)
        elif names[0] == "Wait":
            self._wait(action)
        elif names[0] in LOOKS:
            self.channel.view(self.client)
        else:
            self._of_part(names, action.params[0][1], before)
        self._ended(move)

    def _of_part(self, names: list[str], p: int, before: State) -> None:
        party, name = party_of(self.config, p), names[0]
        if name in ("Age", "Beat", "GhostBeat"):
            for inc in (0, 1) if name == "Age" else ():
                self.words[self._word(p, inc)] = 0
            if name != "Age":
                inc = before.inc[p] if name == "Beat" else before.ghost[p]
                self.words[self._word(p, inc)] = beats.stamp(inc, 0.0)
            return
        if "Join" in names:
            if name == "Fence":
                self._fenced(p, before)
            said = names[names.index("Join") + 1 :][:1]
            self.history.note("Join", p, before.inc[p])
            self.session[p] = self.open()
            self._say(p, said[0] if said and said[0] in ("Ready", "Fail") else "Begin", before.inc[p] + 1)
        elif name in ("Ready", "Fail", "Withdraw"):
            self._say(p, name if name != "Withdraw" else "Begin", before.inc[p])
            if name == "Withdraw":
                self.history.note(name, p, before.inc[p])
        elif name == "LateWord":
            ghost = self.ghosts.pop(p)
            must_raise(FencedError, partial(self.channel.ready, ghost, *party, 0.0, _LIMIT_S))
            self.history.note(name, p, before.inc[p])
        elif name in ("Crash", "Cut"):
            self.history.note(name, p, before.inc[p])
            self.gone.add(self.session[p])
            if name == "Cut":
                self.ghosts[p] = self.session[p]
        elif name == "Fence":
            self.channel.close_session(self._fenced(p, before), lost=True)
        else:
            self._leave(p, before)

    def _fenced(self, p: int, before: State) -> int:
        self.history.note("Fence", p, before.inc[p])
        session = self.session.pop(p)
        self.closed.append(session)
        return session

    def _leave(self, p: int, before: State) -> None:
        self.history.note("Leave", p, before.inc[p])
        session = self.session.pop(p)
        if len(self.closed) % 2:
            self.channel.leave(session, *party_of(self.config, p))
        self.channel.close_session(session, lost=False)
        self.closed.append(session)

    def _say(self, p: int, what: str, inc: int) -> None:
        session, party = self.session[p], party_of(self.config, p)
        if what == "Fail":
            self.channel.fail(session, *party, "no memory")
        elif what == "Ready":
            told = self.channel.ready(session, *party, 0.0, _LIMIT_S)
        else:
            told = self.channel.begin(session, *party, 0.0, "loading", 0.5)
        if what != "Begin":
            self.history.note(what, p, inc)
        if what != "Fail" and told != (inc, self._word(p, inc)):
            raise Deviation(f"part {p} of incarnation {inc} was told {told}")

    def _wait(self, action: Action) -> None:
        by, mask, patient = (value for _, value in action.params)
        session = self.session[by - 1] if by else self.open()
        core: Any = self.channel._core
        names, token = names_of(self.config, mask), len(self.history.waits) + 1
        begun: list[Any] = []
        wait = core.wait

        def noted(*args: Any, **named: Any) -> Any:
            begun.append(wait(*args, **named))
            return begun[-1]

        core.wait = noted  # a wait may have ended when the call sleeps or returns
        try:
            call = self.runtime.start(lambda: self.channel.wait(session, token, names, _LONG_S, bool(patient), None))
        finally:
            del core.wait
        if len(begun) != 1:
            raise Deviation(f"{action} began {begun}")
        self.history.waits.append(begun[0])
        self.calls[begun[0].number] = session, call

    def _expire(self, before: State, w: int, *, alone: bool) -> None:
        """At its time limit or by a cancel, after a look at the words; or its client's session ends, without one."""
        session, call = self.calls[w]
        looks = any(action.name in LOOKS for action, _ in self.model.steps(before))
        ways = 3 if before.waits[w - 1].by == 0 and not looks else 2
        way = 2 if looks and alone else (w + len(self.closed)) % ways
        if way == 2:
            self.channel.close_session(session, lost=True)
            self.closed.append(session)
        elif way == 1:
            if not self.channel.cancel(session, w):
                raise Deviation(f"the cancel found no wait {w}")
            if not call.notified:
                raise Deviation(f"wait {w} was cancelled, and its call sleeps without being notified")
            call.wake()
        else:
            call.expired = True
            call.wake()

    def _ended(self, move: Move[State]) -> None:
        """Who waits has been told of the end, if the move has one; else it sleeps."""
        after = move[-1][2]
        for w, (session, call) in list(self.calls.items()):
            outcome = after.waits[w - 1].outcome
            if outcome == "open":
                if call.done:
                    raise Deviation(f"wait {w} ended early: {call.result!r}, {call.error!r}")
                continue
            if not call.done:
                if not call.notified:
                    raise Deviation(f"wait {w} is {outcome}, and its call sleeps without being notified")
                call.wake()
            del self.calls[w]
            if session in self.closed:
                if not isinstance(call.error, FencedError):
                    raise Deviation(f"wait {w} of a session that has ended: {call.result!r}, {call.error!r}")
                continue
            if call.error is not None or call.result["outcome"] != outcome or call.result["number"] != w:
                raise Deviation(f"wait {w} is {outcome}, and was told {call.result!r}, {call.error!r}")
            at = next(t for _, _, t in move if t.waits[w - 1 : w] and t.waits[w - 1].outcome == outcome)
            told = {(part["component"], part["rank"]) for part in call.result["parts"]}
            lacks = [p for p in self.config.awaited(after.waits[w - 1].mask) if at.said[p] != "ready" or at.stuck[p]]
            if told != {party_of(self.config, p) for p in lacks} or bool(told) == (outcome == "done"):
                raise Deviation(f"wait {w} is {outcome}, and was told of {told}")
            if session not in self.session.values():
                self.channel.close_session(session, lost=False)
                self.closed.append(session)

    # -- refusals ------------------------------------------------------------------------------------------------

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``, where nothing is to be seen: each must change nothing."""
        if any(action.name in LOOKS for action, _ in self.model.steps(state)):
            return 0  # any call would look
        channel, other = self.channel, self.open()
        calls: list[tuple[type[Any], Callable[[], object]]] = [
            (ConfigError, partial(channel.declare, other, [("other", 1, [])])),
            (ConfigError, partial(channel.begin, other, "nothing", 0, 0.0, "", None)),
            (ConfigError, partial(channel.wait, other, 1, ["nothing"], 0.0, False, None)),
        ]
        for p in self.config.there:
            party = party_of(self.config, p)
            if state.status[p] == LIVE:
                calls.append((DuplicateRankError, partial(channel.begin, other, *party, 0.0, "", None)))
            if state.status[p] in (LIVE, DEAD):
                calls.append((ProtocolViolationError, partial(channel.leave, other, *party)))
                calls.append((ProtocolViolationError, partial(channel.beat, other, *party)))
            if state.status[p] == LIVE and state.said[p] == "failed":
                calls.append((ProtocolViolationError, partial(channel.ready, self.session[p], *party, 0.0, 1.0)))
            if state.status[p] == LIVE and state.said[p] != "ready":
                own = names_of(self.config, 1 << self.config.component_of(p))
                calls.append((ProtocolViolationError, partial(channel.wait, self.session[p], 9, own, 0.0, False, None)))
        calls += [
            (FencedError, partial(channel.ready, session, *party_of(self.config, 0), 0.0, 1.0))
            for session in self.closed[-2:]
        ]
        for kind, call in calls:
            must_raise(kind, call)
        for w, (_, waiting) in self.calls.items():
            waiting.wake()  # without reason
            if waiting.done:
                raise Deviation(f"wait {w} ended with {waiting.result!r}, {waiting.error!r}")
        if channel.cancel(other, 1):
            raise Deviation("a session has cancelled what another one waits for")
        self._see(channel.view(other), state)
        channel.close_session(other, lost=True)
        return len(calls) + len(self.calls) + 1

    def _see(self, view: dict[str, Any], state: State) -> None:
        for told, p in zip(view["parts"], self.config.there, strict=True):
            said, status = state.said[p], state.status[p]
            health = "stuck" if state.stuck[p] else said
            if said == "nothing":
                health = "lost" if status == "lost" else "away"
            if (told["health"], told["incarnation"]) != (health, state.inc[p]):
                raise Deviation(f"part {p} is shown as {told}, and is {health}")

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.channel.shut_down()
        for w, (_, call) in self.calls.items():
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise Deviation(f"wait {w} ended with {call.error!r} when the host ended")
