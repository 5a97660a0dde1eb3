"""Long random runs of a mailbox: the core beside the model, and the server's bookkeeping, judged by it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from fdcomm.core.mailbox import Mailbox as Core
from models.dispatch_trace import accept
from models.kernel import Action
from models.mailbox import Config, Mailbox, State
from tests.conformance.driving import Probe
from tests.conformance.mailbox_core import MailboxDriver, probes, step_of
from tests.stateful.beside import chosen, judged, possible, run_machine
from tests.stateful.core_beside import Stepped
from tests.traces.mailbox_runs import World, lines_of

__all__ = ("run_core", "run_server")


class _CoreMachine(Stepped):
    """The core against the model."""

    make: Callable[[int], Core]

    @initialize(requests=st.integers(1, 3), clients=st.integers(1, 2), capacity=st.integers(0, 4))
    def start(self, requests: int, clients: int, capacity: int) -> None:
        mortal = frozenset(range(1, clients + 1))
        config = Config(requests, clients, 6, capacity, mortal, True, True, True)
        self.model = Mailbox(config)
        (self.state,) = self.model.initial()
        self.driver = MailboxDriver(config, type(self).make)

    @rule(data=st.data(), luck=st.integers(1, 40))
    def act(self, data: st.DataObject, luck: int) -> None:
        """One action that the model allows. Ends are seldom, as little happens after them."""
        seldom = {"Close": luck == 40, "Expire": luck % 3 == 0, "Late": luck % 4 == 1, "Die": luck % 8 == 2}
        names = [name for name in possible(self.model, self.state) if seldom.get(name, True)]
        if not names:
            return
        self.step(*chosen(data, self.model, self.state, names))

    def answer(self, action: Action, after: State) -> object:
        return step_of(action, self.state, after)

    def impossible(self) -> list[Probe]:
        return list(probes(self.driver, self.state))


def run_core(options: settings, make: Callable[[int], Core] = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _ServerMachine(RuleBasedStateMachine):
    """The server's bookkeeping, with clients in memory, and others that act while a message is sent."""

    occurred: Counter[str]

    @initialize(seed=st.integers(0, 2**32), capacity=st.integers(0, 8), requests=st.integers(1, 12))
    def start(self, seed: int, capacity: int, requests: int) -> None:
        self.world = World(random.Random(seed), capacity=capacity, requests=requests)

    @rule(count=st.integers(1, 6))
    def act(self, count: int) -> None:
        """Somebody does something."""
        for _ in range(count):
            self.world.act()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.close()
            self.occurred.update(judged(accept(lines_of(self.world.memory.events))))


def run_server(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the judgement."""

    class Machine(_ServerMachine):
        pass

    return run_machine(Machine, options)
