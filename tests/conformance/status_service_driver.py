"""Drives the host's status channel by the labels of its model: sessions in process, waits in threads of their own.

A move is what a host does in one critical section.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fdcomm.core.status import Status
from fdcomm.errors import (
    ConfigError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    HostLostError,
    ProtocolViolationError,
    StaleReportError,
    StatusBusyError,
)
from fdcomm.host.members import Place
from fdcomm.host.status_channel import StatusChannel
from models.kernel import Action
from models.status import Config, Reported, State
from models.status_state import AWAY, DEAD, LIVE, LOST
from tests.conformance.gated import GatedCall, GatedRuntime
from tests.conformance.recording import Memory
from tests.conformance.status_core import GOALS, components_of, name_of
from tests.conformance.walks import Move

__all__ = ("StatusServiceDriver",)

Party = tuple[int, int]
_LONG_S = 1.0


class StatusServiceDriver:
    """A channel under test. A part that found nothing at its first take sleeps in that call."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.runtime = GatedRuntime()
        self.recorder = Memory()
        self.gone: set[int] = set()
        place = Place("status", 0, self.runtime, self.recorder, lambda session: session not in self.gone)
        self.channel = StatusChannel(place, config.parts)
        self.declared = components_of(config)
        self.session: dict[Party, int] = {}
        self.dead: set[Party] = set()
        self.asleep: dict[Party, GatedCall] = {}
        self.asking: GatedCall | None = None
        self._sessions = 0
        self.client = self.open()
        self.channel.declare(self.client, [list(one) for one in self.declared])  # type: ignore[misc]

    @property
    def core(self) -> Status:
        """The core inside."""
        core = self.channel._core
        assert core is not None
        return core

    def open(self) -> int:
        """Open a session."""
        self._sessions += 1
        self.channel.open(self._sessions, -1, None, f"session {self._sessions}")
        return self._sessions

    def state(self, wanted: State) -> State:
        """Return the model's state that the channel is in. What is history is taken from ``wanted``."""
        there = [self.core.components[name_of(k)] for k in range(self.config.components)]
        request, parts = self.core.request, range(self.config.parts)

        def status(k: int, p: int) -> str:
            if p in there[k].live:
                return DEAD if (k, p) in self.dead else LIVE
            return LOST if p in there[k].lost else AWAY

        return wanted._replace(
            asked=self.core.asked,
            goals=(*wanted.goals[:-1], *([request.goal] if request else [])),
            outcome=(*wanted.outcome[:-1], *([request.outcome] if request else [])),
            word=tuple(c.word for c in there),
            partial=tuple(c.partial for c in there),
            changing=frozenset(k for k, c in enumerate(there) if c.name in self.core.changing),
            reports=tuple(frozenset(Reported(p, report.ok) for p, report in c.reports.items()) for c in there),
            status=tuple(tuple(status(k, p) for p in parts) for k in range(self.config.components)),
            doing=tuple(tuple(c.doing.get(p, 0) for p in parts) for c in there),
        )

    def shown(self, state: State) -> dict[str, Any]:
        """Return what an event must show of a state."""
        return {
            "asked": state.asked,
            "outcome": state.outcome[-1] if state.outcome else "",
            "word": list(state.word),
            "partial": list(state.partial),
            "changing": [name_of(k) for k in sorted(state.changing)],
            "reports": [sorted([r.part, r.ok] for r in reports) for reports in state.reports],
            "lost": [[p for p, status in enumerate(row) if status == LOST] for row in state.status],
        }

    def take(self, move: Move[State]) -> None:
        """Do what the actions of the move are, in one call."""
        first, before, last = move[0][1], move[0][0], move[-1][2]
        names = [action.name for _, action, _ in move]
        k, p = first.param("component") or 0, first.param("part") or 0
        party = (k, p)
        if "Join" in names:
            self._join(party, "Take" in names, last)
        elif first.name == "Crash":
            self.gone.add(self.session[party])
            self.dead.add(party)
        elif first.name == "Fence":
            self.dead.discard(party)
            self.channel.close_session(self.session.pop(party), lost=True)
            self._fenced(party)
        elif first.name == "Take":
            self._take(party, last)
        elif first.name == "Report":
            self._report(party, before, move[0][2], ok=bool(first.param("ok")))
        elif first.name == "Ask":
            goal = GOALS[first.param("goal") or 0]
            self.asking = self.runtime.start(lambda: self.channel.ask(self.client, goal, _LONG_S))
        elif first.name == "Expire":
            assert self.asking is not None
            self.asking.expired = True
            self.asking.wake()
        self._answered(move)

    def finish(self) -> None:
        """End the host: whoever waits is told."""
        self.channel.shut_down()
        for call in (*self.asleep.values(), *([self.asking] if self.asking else [])):
            call.wake()
            if not isinstance(call.error, HostLostError):
                raise AssertionError(f"a call ended with {call.error!r}, {call.result!r} when the host ended")

    def refusals(self, state: State) -> int:
        """Make calls that cannot succeed in ``state``: each must raise its error and change nothing."""
        channel, other = self.channel, self.open()
        calls: list[tuple[type[FdcommError], Callable[[], object]]] = [
            (FencedError, lambda: channel.view(-7)),
            (ConfigError, lambda: channel.declare(other, [("something else", 0, 1)])),
            (ConfigError, lambda: channel.take(other, "nothing", 0, 0.0)),
        ]
        if self.asking is not None:
            calls += [(StatusBusyError, partial(channel.ask, other, goal, 0.0)) for goal in GOALS]
        for k, p in self.session:
            name, number = name_of(k), state.doing[k][p]
            if state.status[k][p] == LIVE:
                calls.append((DuplicateRankError, partial(channel.take, other, name, p, 0.0)))
            if number:
                mine = self.session[k, p]
                calls += [
                    (ProtocolViolationError, partial(channel.take, mine, name, p, 0.0)),
                    (ProtocolViolationError, partial(channel.report, other, name, p, number, True, "")),
                    (ProtocolViolationError, partial(channel.report, mine, name, p, 99, True, "")),
                ]
        for kind, call in calls:
            _refused(kind, call)
        channel.declare(other, [list(one) for one in self.declared])  # type: ignore[misc]
        if channel.cancel(other):
            raise AssertionError("a session has cancelled what another one asks")
        view = channel.watch(other, -1, 0.0)
        there = [view["components"][name_of(k)] for k in range(self.config.components)]
        assert [c["word"] for c in there] == list(state.word)
        assert [c["partial"] for c in there] == list(state.partial)
        assert view["open"] == (state.goals[-1] if self.asking else None)
        channel.close_session(other, lost=True)
        return len(calls) + 1

    def events(self) -> list[tuple[Action, Mapping[str, Any]]]:
        """Return the events since the last look, in the model's terms."""
        found = []
        for event in self.recorder.take():
            if event["action"] == "Declare":
                continue
            args = dict(event["args"])
            if "component" in args:
                args["component"] = int(args["component"].split()[1])
            found.append((Action(event["action"], tuple(args.items())), event["post"]))
        return found

    # -- helpers -------------------------------------------------------------------------------------------------

    def _start(self, party: Party) -> GatedCall:
        session, name, part = self.session[party], name_of(party[0]), party[1]
        return self.runtime.start(lambda: self.channel.take(session, name, part, _LONG_S))

    def _join(self, party: Party, takes: bool, state: State) -> None:
        old = self.session.get(party)
        self.dead.discard(party)
        self.session[party] = self.open()
        call = self._start(party)
        if old is not None:
            self._fenced(party)
        if takes:
            self._took(call, state)
        elif call.done:
            raise AssertionError(f"the first take of {party} ended with {call.result!r}, {call.error!r}")
        else:
            self.asleep[party] = call

    def _take(self, party: Party, state: State) -> None:
        call = self.asleep.pop(party, None)
        if call is None:
            call = self._start(party)
        else:
            if not call.notified:
                raise AssertionError(f"{party} sleeps without being notified that something is asked of it")
            call.wake()
        self._took(call, state)

    @staticmethod
    def _took(call: GatedCall, state: State) -> None:
        if not call.done or call.result != (state.asked, state.goals[-1]):
            raise AssertionError(f"a take returned {call.result!r}, {call.error!r} for {state.goals[-1]} {state.asked}")

    def _report(self, party: Party, before: State, after: State, *, ok: bool) -> None:
        (k, p), session = party, self.session[party]
        number = before.doing[k][p]
        counts = before.reports != after.reports
        call = self.runtime.start(
            lambda: self.channel.report(session, name_of(k), p, number, ok, "" if ok else f"why {party}")
        )
        stale = isinstance(call.error, StaleReportError)
        if not call.done or stale == counts or (call.error is not None and not stale):
            raise AssertionError(f"a report that {'counts' if counts else 'is late'} ended with {call.error!r}")

    def _fenced(self, party: Party) -> None:
        call = self.asleep.pop(party, None)
        if call is None:
            return
        if not call.notified:
            raise AssertionError(f"{party} sleeps on in a take of a session that has ended")
        call.wake()
        if not isinstance(call.error, FencedError):
            raise AssertionError(f"a take of a session that has ended returned {call.result!r}, {call.error!r}")

    def _answered(self, move: Move[State]) -> None:
        """The asking call has been told of the end, if the move has one; else it sleeps."""
        ends = next((edge for edge in move if edge[1].name in ("Finish", "Fail", "Expire")), None)
        if ends is None and move[0][1].name == "Ask" and move[-1][2].outcome[-1] == "done":
            ends = move[0]
        if ends is None:
            if self.asking is not None and self.asking.done:
                raise AssertionError(f"the asking call ended early: {self.asking.result!r}, {self.asking.error!r}")
            return
        call, self.asking = self.asking, None
        assert call is not None
        if not call.done:
            if not call.notified:
                raise AssertionError("the asking call sleeps on after the end")
            call.wake()
        state, before = ends[2], ends[0]
        if not call.done or call.error is not None:
            raise AssertionError(f"the asking call ended with {call.error!r}")
        answer = call.result
        assert (answer["number"], answer["goal"], answer["outcome"]) == (
            state.asked,
            state.goals[-1],
            state.outcome[-1],
        ), f"answered {answer}"
        if state.outcome[-1] == "late":
            waits = {
                name_of(k): tuple(p for p in self.config.parts_of(k) if p not in {r.part for r in before.reports[k]})
                for k in sorted(before.changing)
            }
            assert answer["missing"] == {name: parts for name, parts in waits.items() if parts}, f"{answer}"
        if state.outcome[-1] == "failed":
            for k in before.changing:
                told = {Reported(p, ok) for p, (ok, _) in answer["reports"][name_of(k)].items()}
                assert told == before.reports[k], f"{answer['reports']} instead of {before.reports[k]}"
                assert all(why for ok, why in answer["reports"][name_of(k)].values() if not ok)


def _refused(kind: type[FdcommError], call: Callable[[], object]) -> None:
    try:
        answer = call()
    except kind:
        return
    raise AssertionError(f"a call that must raise {kind.__name__} returned {answer}")
