"""Long random runs of the FMQ queue: the cores beside the model, and real handles whose connections are cut."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fdcomm.core.fmq import Receiver, Sender
from fdcomm.errors import CommTimeoutError
from models.dispatch_trace import accept
from models.fmq import Config, Fmq, State
from models.kernel import Action
from tests.conformance.driving import Probe
from tests.conformance.fmq_core import FmqDriver, probes, step_of
from tests.stateful.beside import chosen, judged, possible, run_machine
from tests.stateful.core_beside import Stepped
from tests.traces.fmq_bed import Bed

__all__ = ("run_core", "run_handles")

_LARGE = frozenset({2, 3, 5, 8, 9, 11})
_SELDOM = {"End": 12, "EndConsumer": 6, "Cut": 4, "Sweep": 2}


class _CoreMachine(Stepped):
    """The cores against the model."""

    kinds: tuple[type[Sender[Any]], type[Receiver]]

    @initialize(keep=st.integers(0, 3), window=st.integers(1, 4), producers=st.integers(1, 2))
    def start(self, keep: int, window: int, producers: int) -> None:
        everybody = frozenset(range(producers))
        config = Config(producers, 12, window, _LARGE, 6, 6, everybody, keep > 0)
        self.model = Fmq(config)
        (self.state,) = self.model.initial()
        self.driver = FmqDriver(config, *type(self).kinds)

    @rule(data=st.data(), luck=st.integers(0, 59))
    def act(self, data: st.DataObject, luck: int) -> None:
        """One action that the model allows; what ends something is seldom."""
        names = [name for name in possible(self.model, self.state) if luck % _SELDOM.get(name, 1) == 0]
        if not names:
            return
        self.step(*chosen(data, self.model, self.state, names))

    def answer(self, action: Action, after: State) -> object:
        return step_of(action, self.state, after)

    def impossible(self) -> list[Probe]:
        return list(probes(self.driver, self.state))


def run_core(
    options: settings, sender: type[Sender[Any]] = Sender, receiver: type[Receiver] = Receiver
) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        kinds = (sender, receiver)

    return run_machine(Machine, options)


class _HandleMachine(RuleBasedStateMachine):
    """Real handles in one process over a network in memory, which breaks connections. What they record is judged.

    ``owed`` is what the machine knows to be neither given nor lost: it has to come, in order.
    """

    occurred: Counter[str]

    def __init__(self) -> None:
        super().__init__()
        self.bed = Bed(large=3)
        self.put: list[int] = []
        self.got: list[int] = []

    @rule(large=st.booleans())
    def put_one(self, large: bool) -> None:
        """Put, if there is room."""
        with contextlib.suppress(CommTimeoutError):
            self.bed.put(len(self.put) + 1, large=large)
            self.put.append(len(self.put) + 1)

    @precondition(lambda self: self.bed.consumer is None)
    @rule()
    def start(self) -> None:
        """A consumer comes."""
        self.bed.start()

    @precondition(lambda self: self.bed.consumer is not None)
    @rule(luck=st.integers(0, 4))
    def kill(self, luck: int) -> None:
        """The consumer goes, without a word."""
        if luck < 2:
            self.bed.kill(unheard=luck == 0)

    @rule()
    def link(self) -> None:
        """The keeper looks at its connection."""
        self.bed.look()

    @precondition(lambda self: self.bed.network.linked)
    @rule(keep=st.integers(0, 4), luck=st.integers(0, 2))
    def cut(self, keep: int, luck: int) -> None:
        """The connection breaks."""
        if luck == 0:
            self.bed.network.cut(keep)
            self.bed.look()

    @precondition(lambda self: self.bed.consumer is not None)
    @rule()
    def get(self) -> None:
        """Take what there is."""
        message = self.bed.get()
        if message is not None:
            self.got.append(message)

    @precondition(lambda self: self.bed.consumer is not None)
    @rule()
    def done(self) -> None:
        """What was given is done."""
        self.bed.done()

    def teardown(self) -> None:
        """Everything that was put comes, if a consumer stays."""
        try:
            if self.bed.consumer is None:
                self.bed.start()
            while (self.put and self.put[-1] not in self.got) or self.bed.unsettled():
                self.bed.look()
                message = self.bed.get()
                if message is not None:
                    self.got.append(message)
            assert set(self.got) == set(self.put)
            self.bed.end()
            assert self.bed.left() == []
            self.occurred.update(judged([accept(self.bed.lines())[0]]))
        finally:
            self.bed.close()


def run_handles(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the judgement."""

    class Machine(_HandleMachine):
        pass

    return run_machine(Machine, options)
