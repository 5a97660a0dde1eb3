"""Long random runs of readiness on a real host beside the model: handles, connections, shared words, waits in threads.

Parts have a limit of a minute, so none is stuck because a machine is slow: a loop stands still when its stamp is taken
out of the words.
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from fdcomm import EngineWorkerQueue, FdcommError, ProtocolViolationError, Readiness
from fdcomm.errors import CommTimeoutError, PeerLostError, RequestCancelledError, StartFailedError
from fdcomm.host import beats
from models.readiness_state import AWAY, LIVE, LOST
from tests.conformance.backends import lose
from tests.conformance.host_driver import Channels
from tests.conformance.waiting import Background, until
from tests.stateful.beside import TakesSteps, run_over_channels
from tests.stateful.readiness_machine import DECLARED, unbounded

__all__ = ("run_host",)

_LONG_S = 60.0
_PARTS = (0, 1, 2)
_PARTIES = (("component 0", 0), ("component 0", 1), ("component 1", 0))
parts = st.sampled_from(_PARTS)


class _HostMachine(TakesSteps):
    """The components of one replica against the unbounded model. A crash brings its fence."""

    channels: Channels
    occurred: Counter[str]

    @initialize()
    def start(self) -> None:
        self.model = unbounded()
        (self.state,) = self.model.initial()
        self.replica = self.channels.take()
        self.engine = self.channels.client(self.replica, 0, "producer")
        self.readiness = Readiness(self.engine)
        self.readiness.declare(DECLARED)
        self.handles: dict[int, EngineWorkerQueue] = {}
        self.clients: list[EngineWorkerQueue] = []
        self.parts: dict[int, Readiness] = {}
        self.ghosts: dict[int, tuple[int, int, Readiness]] = {}
        self.waits: dict[int, tuple[Readiness, int, Background]] = {}

    def _took(self, name: str, **params: int) -> bool:
        """Take a step of the model, if it is enabled, and count it."""
        taken = self.take(name, **params)
        if taken:
            event(name)
            self.occurred[name] += 1
        return taken

    def _settle(self) -> None:
        """The host looks, and what is due has happened."""
        self._follow()
        view = self.readiness.statistics()
        for told, (p, (component, rank)) in zip(view["parts"], enumerate(_PARTIES), strict=True):
            said, status = self.state.said[p], self.state.status[p]
            wanted = "stuck" if self.state.stuck[p] else said
            if said == "nothing":
                wanted = "lost" if status == LOST else "away"
            assert (told["component"], told["rank"], told["health"]) == (component, rank, wanted), f"{told}"
            assert told["incarnation"] == self.state.inc[p]
        for w in [w for w in self.waits if self.state.waits[w - 1].outcome != "open"]:
            self._told(w, self.state.waits[w - 1].outcome)

    def _follow(self) -> None:
        while True:
            due = [
                (rank, step, after)
                for rank, names in enumerate((("Stall", "Recover"), ("Complete", "GiveUp")))
                for name in names
                for step, after in self.model.actions[name](self.state)
            ]
            if not due:
                return
            _, step, _ = min(due, key=lambda one: (one[0], one[1].params))
            assert self._took(step.name, **dict(step.params))

    def _told(self, w: int, outcome: str) -> None:
        _, _, call = self.waits.pop(w)
        error = call.error()
        if outcome == "done":
            assert error is None, f"wait {w} is done, and raised {error!r}"
        elif outcome == "failed":
            assert isinstance(error, (StartFailedError, PeerLostError)), f"wait {w} has failed, and raised {error!r}"
        elif outcome == "late":
            assert isinstance(error, (CommTimeoutError, RequestCancelledError, FdcommError)), f"{error!r}"
        else:
            assert error is not None, f"wait {w} is {outcome}, and has returned"

    # -- parts ---------------------------------------------------------------------------------------------------

    @rule(part=parts, word=st.sampled_from(("starting", "ready", "ready", "fail")))
    def speak(self, part: int, word: str) -> None:
        """A part comes, or says what it can say now."""
        joins = self.state.status[part] in (AWAY, LOST)
        if joins:
            self.handles[part] = self.channels.client(self.replica, 0, None)
            self.parts[part] = Readiness(self.handles[part], limit=_LONG_S)
            assert self._took("Join", p=part)
        elif self.state.status[part] != LIVE:
            return
        there, party = self.parts[part], _PARTIES[part]
        if word == "ready":
            if self.state.said[part] == "failed":
                with pytest.raises(ProtocolViolationError):
                    there.ready(*party)
                return
            there.ready(*party)
            if not self._took("Ready", p=part) and self.state.inc[part] not in self.state.stamps[part]:
                assert self._took("Beat", p=part)
        else:
            there.starting(*party, stage="loading")
            self._took("Withdraw", p=part)
            if word == "fail":
                there.failed("on purpose")
                assert self._took("Fail", p=part)
        self._settle()

    @precondition(lambda self: "ready" in self.state.said)
    @rule(part=parts, goes_on=st.booleans())
    def hang(self, part: int, goes_on: bool) -> None:
        """The loop of a ready part stands still, and goes on."""
        if self.state.status[part] == LIVE and self._took("Age", p=part):
            for inc in (0, 1):
                self._store(part, inc, 0)
            self._settle()
        if goes_on and self.state.said[part] == "ready" and self.state.status[part] == LIVE:
            self.parts[part].beat()
            self._took("Beat", p=part)
            self._settle()

    def _store(self, part: int, inc: int, value: int) -> None:
        page = self.engine._page
        assert page is not None
        page.words[self.engine._welcome["words_base"]["readiness"] + beats.slot_of(part, inc)] = value

    @rule(part=parts, runs_on=st.booleans(), comes_back=st.booleans())
    def die(self, part: int, runs_on: bool, comes_back: bool) -> None:
        """The connection of a part is lost; its process may run on; its successor may come before that is noticed."""
        if self.state.status[part] != LIVE:
            return
        runs_on = runs_on and not self.state.ghost[part]
        inc, there = self.state.inc[part], self.parts.pop(part)
        lose(self.handles.pop(part))
        if runs_on:
            self.ghosts[part] = inc, part, there
        assert self._took("Cut" if runs_on else "Crash", p=part)
        assert self._took("Fence", p=part)
        self._follow()
        if not comes_back:
            party = _PARTIES[part]
            until(lambda: self._health(party) == "lost", "the fence")
            self._settle()
            return
        self.speak(part, "ready")

    def _health(self, party: tuple[str, int]) -> str:
        return next(p.health for p in self.readiness.health() if (p.component, p.rank) == party)

    @precondition(lambda self: self.ghosts)
    @rule(speaks=st.booleans())
    def haunt(self, speaks: bool) -> None:
        """A process that was fenced goes on with its loop, or says that it is ready."""
        part, (inc, _, there) = next(iter(self.ghosts.items()))
        if not speaks:
            if self._took("GhostBeat", p=part):
                self._store(part, inc, beats.stamp(inc, there._queue._runtime.monotonic()))
                self._settle()
            return
        if self._took("LateWord", p=part):
            with pytest.raises(FdcommError):
                there.ready()
            del self.ghosts[part]
            self._settle()

    @rule(part=parts, closes=st.booleans())
    def leave(self, part: int, closes: bool) -> None:
        """A part leaves in peace."""
        if self.state.status[part] != LIVE:
            return
        there = self.parts.pop(part)
        if not closes:
            there.leave()
        self.handles.pop(part).close()
        assert self._took("Leave", p=part)
        self._settle()

    # -- waits ---------------------------------------------------------------------------------------------------

    @rule(by=st.sampled_from((0, 0, 0, 3)), mask=st.sampled_from((1, 2, 3)), patient=st.sampled_from((0, 0, 1)))
    def wait(self, by: int, mask: int, patient: int) -> None:
        """A client waits, or a part that is not ready, for what it needs."""
        if by and (self.state.status[by - 1] != LIVE or self.state.said[by - 1] == "ready" or len(self.waits) > 3):
            return
        names = [name for k, (name, _, _) in enumerate(DECLARED) if mask >> k & 1]
        if not by:
            self.clients.append(self.channels.client(self.replica, 0, "producer"))
        waiting = self.parts[by - 1] if by else Readiness(self.clients[-1])
        token, number = 1000 + len(self.state.waits), len(self.state.waits) + 1
        call = Background(lambda: waiting._wait(token, names, _LONG_S, restarts=bool(patient)))
        if not self._took("Wait", by=by, mask=mask, patient=patient):
            assert isinstance(call.error(), ProtocolViolationError)
            return
        until(lambda: self.readiness.statistics()["waits"] == number, "the wait")
        self.waits[number] = waiting, token, call
        self._settle()

    @rule(part=parts, trouble=st.sampled_from(("", "hangs", "fails", "dies")))
    def launch(self, part: int, trouble: str) -> None:
        """What waits are for: without it, random steps seldom get so far."""
        self.wait(0, 3, 0)
        if trouble in ("fails", "dies"):
            self.speak(part, "fail" if trouble == "fails" else "starting")
            if trouble == "dies":
                self.die(part, runs_on=True, comes_back=False)
            return
        for one in _PARTS:
            if self.state.said[one] == "failed":
                self.speak(one, "starting")
            self.speak(one, "ready")
        if trouble == "hangs":
            self.hang(part, goes_on=False)
            self.wait(0, 3, 1)
            self.hang(part, goes_on=True)

    @precondition(lambda self: self.waits)
    @rule(which=st.integers(0, 3), closes=st.booleans())
    def expire(self, which: int, closes: bool) -> None:
        """A wait is cancelled, or its client closes its handle."""
        w = sorted(self.waits)[which % len(self.waits)]
        waiting, token, _ = self.waits[w]
        if closes and not self.state.waits[w - 1].by:
            waiting._queue.close()
        else:
            assert waiting._give_up(token)
        until(lambda: not self.waits[w][2].is_running(), "the end of the wait")
        assert self._took("Expire", w=w)
        self._settle()

    def teardown(self) -> None:
        if hasattr(self, "engine"):
            for handle in (*self.handles.values(), *self.clients, self.engine):
                handle.close()
            for _, _, call in self.waits.values():
                call.error()


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record."""

    class Machine(_HostMachine):
        pass

    return run_over_channels(Machine, options, "readiness")
