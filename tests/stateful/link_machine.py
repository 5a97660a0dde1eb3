"""Long random runs of a link: the core beside the model, and a host's book of links over a lossy network, judged."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fdcomm.core.link import Link as Core
from models.dispatch_trace import accept
from models.link import Config, Link
from tests.conformance.link_core import LinkDriver, difference, probes, step_of
from tests.stateful.beside import judged, possible, run_machine, see_refused
from tests.traces.link_runs import World, lines_of

__all__ = ("run_core", "run_links")

_WEIGHTS = {"Die": 0.05, "HostDies": 0.01, "GiveUp": 0.02, "Fence": 0.05, "Close": 0.2, "Lose": 0.2, "LoseAnswer": 0.2}


class _CoreMachine(RuleBasedStateMachine):
    """The core against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Callable[[int], Core]

    @initialize(window=st.integers(1, 3), seed=st.integers(0, 2**32))
    def start(self, window: int, seed: int) -> None:
        self.rng = random.Random(seed)
        config = Config(8, window, 20, True, True, True, True, True)
        self.model = Link(config)
        (self.state,) = self.model.initial()
        self.driver = LinkDriver(config, type(self).make)

    @rule(count=st.integers(4, 16))
    def act(self, count: int) -> None:
        """Some actions that the model allows. Ends are seldom, as little happens after them."""
        for _ in range(count):
            names = possible(self.model, self.state)
            if not names:
                return
            (name,) = self.rng.choices(names, [_WEIGHTS.get(name, 1.0) for name in names])
            action, after = self.rng.choice(list(self.model.actions[name](self.state)))
            result, expected = self.driver.step(action), step_of(action, self.state, after)
            assert result == expected, f"{action} returned {result!r} instead of {expected!r}"
            self.state = after
            event(action.name)
            self.occurred[action.name] += 1

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        see_refused(list(probes(self.driver, self.state)), number)

    @invariant()
    def same_state(self) -> None:
        if hasattr(self, "driver"):
            found = self.driver.state()
            assert found == self.state, difference(self.state, found)
            for name, holds in self.model.invariants.items():
                assert holds(self.state), name


def run_core(options: settings, make: Callable[[int], Core] = Core) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _LinksMachine(RuleBasedStateMachine):
    """A host's book of links, handles and a network in memory, which loses, copies and delays."""

    occurred: Counter[str]

    @initialize(seed=st.integers(0, 2**32), window=st.integers(1, 5))
    def start(self, seed: int, window: int) -> None:
        self.world = World(random.Random(seed), window)

    @rule(count=st.integers(1, 12))
    def act(self, count: int) -> None:
        """Something happens."""
        for _ in range(count):
            self.world.act()
        self.world.check()

    def teardown(self) -> None:
        if hasattr(self, "world") and self.world.memory.events:
            self.occurred.update(judged(accept(lines_of(self.world.memory.events))))


def run_links(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the judgement."""

    class Machine(_LinksMachine):
        pass

    return run_machine(Machine, options)
