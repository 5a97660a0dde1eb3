"""Long random runs over a real host: handles, connections and putting threads, beside the model."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from models.dispatch_state import LOST, UP, Config
from models.kernel import Action
from tests.conformance.host_driver import Channels, HostDriver
from tests.conformance.plans import unbounded
from tests.stateful.beside import run_machine
from tests.stateful.rules import MOST_PRODUCERS, ActionRules, producers

__all__ = ("HostMachine", "Hosts", "run_host")

RANKS = 2
_CHANNELS = 1000


class Hosts:
    """The hosts of a run, one per depth; each example has a fresh channel."""

    def __init__(self) -> None:
        self._open: dict[int, Channels] = {}
        self.occurred: Counter[str] = Counter()

    def channels(self, depth: int) -> Channels:
        """Return the host of a depth with at least one unused channel."""
        if depth not in self._open:
            self._open[depth] = Channels(RANKS, depth, _CHANNELS)
        return self._open[depth]

    def judge(self) -> None:
        """Have the model judge all that was recorded, and count the actions."""
        for channels in self._open.values():
            self.occurred.update(channels.judge())

    def __enter__(self) -> Hosts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for channels in self._open.values():
            channels.close()


class HostMachine(ActionRules):
    """A channel of a real host against the unbounded model. What follows by itself (a fence, an answer) is awaited."""

    hosts: Hosts
    driver: HostDriver | None = None

    @initialize(depth=st.integers(1, 2), readers=st.sampled_from([RANKS, 1, 0]))
    def start(self, depth: int, readers: int) -> None:
        config = unbounded(Config(ranks=RANKS, producers=MOST_PRODUCERS, depth=depth)).config
        self.driver = HostDriver(self.hosts.channels(depth), config)
        for rank in range(readers):
            self.join(rank)

    def _driver(self) -> HostDriver:
        assert self.driver is not None
        return self.driver

    def possible(self, name: str) -> bool:
        driver = self._driver()
        return any(True for _ in driver.model.actions[name](driver.state))

    def act(self, action: Action) -> None:
        driver = self._driver()
        if driver.can(action):
            driver.take(action)
            self.count(action)

    def _is_up(self, producer: int) -> bool:
        return self._driver().state.producer[producer] == UP

    def _has_room(self) -> bool:
        driver = self._driver()
        return not driver.state.waiting and len(driver.state.log) < driver.model.config.depth

    @precondition(lambda self: LOST not in self._driver().state.status and self._has_room())
    @rule(producer=producers)
    def put_tasks(self, producer: int) -> None:
        """A put that is served at its arrival."""
        self.act(Action("CallPut", (("producer", producer), ("id", self._driver().state.calls + 1))))

    @precondition(lambda self: LOST not in self._driver().state.status and not self._has_room())
    @rule(producer=producers)
    def call_put(self, producer: int) -> None:
        """A put that has to wait, in a thread."""
        self.act(Action("CallPut", (("producer", producer), ("id", self._driver().state.calls + 1))))

    @precondition(lambda self: LOST not in self._driver().state.status and not self._has_room())
    @rule(producer=producers)
    def put_timeout(self, producer: int) -> None:
        """A put that has no time to wait."""
        if self._is_up(producer):
            self._driver().put_in_vain(producer, lost=False)

    @precondition(lambda self: LOST in self._driver().state.status)
    @rule(producer=producers)
    def put_lost(self, producer: int) -> None:
        """A put while a rank is lost."""
        if self._is_up(producer):
            self._driver().put_in_vain(producer, lost=True)

    def put(self, producer: int) -> None:
        if LOST not in self._driver().state.status and self._has_room():
            self.put_tasks(producer)

    def teardown(self) -> None:
        if self.driver is not None:
            self.driver.close()


def run_host(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement of the whole record."""
    with Hosts() as hosts:

        class Machine(HostMachine):
            pass

        Machine.hosts = hosts
        run_machine(Machine, options)
        hosts.judge()
    return hosts.occurred
