"""Long random runs of transfer tasks: the cores beside the model."""

from __future__ import annotations

from collections import Counter

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from models.kernel import Action
from models.transfer import Config, State, Transfer
from models.transfer_state import STARTED, numbers
from tests.conformance.transfer_core import PLAIN, Made, TransferDriver, step_of
from tests.conformance.transfer_probes import probes
from tests.stateful.beside import chosen, possible, run_machine, see_refused, step_to
from tests.stateful.core_beside import ClaimsHold

__all__ = ("run_core",)

_USUAL = (
    *("Issue", "Join", "Admit", "Accept", "Start", "Finish", "ReportOk", "ReportFailed", "Settle", "JobDone"),
    *("HandOut", "Order"),
)
_RARE = (
    *("Abandon", "Overdue", "BackOff", "Return", "Release", "Withdraw", "Acknowledge", "Still", "Vanish", "Reappear"),
    *("Settled", "Clear"),
)


class _CoreMachine(ClaimsHold):
    """The cores against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Made

    @initialize(ranks=st.sampled_from((1, 2, 1, 2, 3)), capacity=st.integers(1, 3), clients=st.integers(1, 2))
    def start(self, ranks: int, capacity: int, clients: int) -> None:
        everyone, all_clients = frozenset(range(ranks)), frozenset(range(1, clients + 1))
        self.config = Config(
            *(ranks, clients, 2, None, capacity, 3),
            *(everyone, everyone, everyone, everyone, everyone),
            frail=all_clients,
            impatient=all_clients,
        )
        self.model = Transfer(self.config)
        (self.state,) = self.model.initial()
        self.driver = TransferDriver(self.config, type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible."""
        names = possible(self.model, self.state)
        usual = 2 * [name for name in names if name in _USUAL]
        action, after = chosen(data, self.model, self.state, names + usual)
        self._step(action, after)

    def _step(self, action: Action, after: State) -> None:
        result = self.driver.step(action)
        assert result == step_of(action, self.state, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    def _go(self, name: str, **params: int) -> None:
        action = Action(name, tuple(params.items()))
        after = step_to(self.model, self.state, action)
        if after is not None:
            self._step(action, after)

    @rule(data=st.data())
    def rare(self, data: st.DataObject) -> None:
        """One of the actions that are seldom possible."""
        names = [name for name in _RARE if any(True for _ in self.model.actions[name](self.state))]
        if names:
            self._step(*chosen(data, self.model, self.state, names))

    @rule(kind=st.integers(1, 2), last=st.booleans())
    def begin(self, kind: int, last: bool) -> None:
        """A task is issued, and ranks are there and ready for it: all of them, or all but the last."""
        self._go("Resume")
        self._go("Issue", client=1, kind=kind)
        for rank in range(self.config.ranks - (not last)):
            self._go("Fence", rank=rank)
            self._go("Join", rank=rank)
            if not self.state.open[rank]:
                self._go("Order", rank=rank)
            self._go("Admit", rank=rank)
            self._go("Accept", rank=rank)
        self._go("Start")

    @precondition(lambda self: STARTED in self.state.state)
    @rule(fails=st.booleans())
    def end(self, fails: bool) -> None:
        """All ranks report the oldest task, and their jobs end."""
        number = numbers(self.state, STARTED)[0]
        for rank in range(self.config.ranks):
            self._go("Finish", rank=rank, number=number)
            self._go("ReportFailed" if fails and rank == 0 else "ReportOk", rank=rank, number=number)
            self._go("JobDone", rank=rank, number=number)

    @precondition(lambda self: STARTED in self.state.state)
    @rule(abandons=st.booleans(), takes=st.booleans())
    def late(self, abandons: bool, takes: bool) -> None:
        """A client has the oldest task's result while rank 0 is at it, and is told of its end."""
        number = numbers(self.state, STARTED)[0]
        client = self.state.owner[number - 1]
        if abandons:
            self._go("Abandon", number=number)
        self._go("Overdue", rank=0, number=number)
        for rank in range(1, self.config.ranks):
            self._end(rank, number)
        while takes and self.state.hand[client - 1] != number and self.state.results[client - 1]:
            self._go("HandOut", client=client)
        self._end(0, number)
        self._go("Settled", client=client, number=number)

    def _end(self, rank: int, number: int) -> None:
        for name in ("Finish", "ReportFailed", "Settle", "JobDone"):
            self._go(name, rank=rank, number=number)

    @rule()
    def pause(self) -> None:
        """A pause is ordered, and taken by the ranks that it finds."""
        self._go("Stop")
        if self.state.phase == "stop":
            for rank in range(self.config.ranks):
                if self.state.open[rank]:
                    self._go("Order", rank=rank)
                self._go("Refuse", rank=rank)

    @precondition(lambda self: self.state.phase == "stop")
    @rule()
    def unpause(self) -> None:
        """Jobs end, the pause is reached and ends, and every rank would be ready again."""
        for rank in range(self.config.ranks):
            for number in self.state.jobs[rank]:
                self._end(rank, number)
            self._go("BackOff", rank=rank)
            self._go("Release", rank=rank)
        self._go("Still")
        self._go("Resume")
        self._go("Withdraw", client=1)
        for rank in range(self.config.ranks):
            if self.state.phase == "run" and not self.state.open[rank]:
                self._go("Order", rank=rank)
            self._go("Admit", rank=rank)
            self._go("Return", rank=rank)

    @rule(number=st.integers(0, 200))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        see_refused(list(probes(self.driver.core, self.driver.inside, self.state, self.config)), number)


def run_core(options: settings, make: Made = PLAIN) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = make
    return run_machine(Machine, options)
