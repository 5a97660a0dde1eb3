"""Long random runs of layer-wise sending: the tables beside the model, and the shipping sender judged by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fdcomm.core.layerwise import ProgressTable
from fdcomm.errors import CommTimeoutError
from fdcomm.layerwise import LayerSender
from models.dispatch_trace import accept
from models.kernel import Action
from models.layerwise import Config, Layerwise, State
from tests.conformance.layerwise_core import TableDriver, agrees, probes, step_of
from tests.stateful.beside import judged, run_machine, see_refused
from tests.stateful.core_beside import ClaimsHold
from tests.traces.layerwise_runs import Memory, Simulated, lines_of

__all__ = ("run_core", "run_sender")

_TASKS = 6


class _CoreMachine(ClaimsHold):
    """The tables against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Callable[..., ProgressTable]

    @initialize(
        ranks=st.integers(1, 2),
        slots=st.integers(1, 3),
        layers=st.integers(1, 3),
        capacity=st.integers(1, 4),
        first=st.integers(0, 15),
        lost=st.sets(st.integers(1, _TASKS), max_size=2),
    )
    def start(self, ranks: int, slots: int, layers: int, capacity: int, first: int, lost: set[int]) -> None:
        everything = frozenset(range(1, _TASKS + 1))
        config = Config(ranks, _TASKS, slots, layers, capacity, 16, first, frozenset(lost), everything, expiry=True)
        self.model = Layerwise(config)
        (self.state,) = self.model.initial()
        self.driver = TableDriver(config, type(self).make)

    def take(self, name: str, number: int) -> None:
        """Take one of the steps of this name, if there is one."""
        choices = list(self.model.actions[name](self.state))
        if not choices:
            return
        action, after = choices[number % len(choices)]
        self.step(action, after)

    def step(self, action: Action, after: State) -> None:
        """Take this step."""
        result = self.driver.step(action)
        expected = step_of(self.driver.config, action, self.state, after)
        assert agrees(result, expected), f"{action} returned {result!r} instead of {expected!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 1000))
    def on_progress(self, number: int) -> None:
        """A report, of whatever task."""
        self.take("OnProgress", number)

    @rule(rank=st.integers(0, 1), more=st.integers(1, 3))
    def on_next_progress(self, rank: int, more: int) -> None:
        """A report that is news: the first task that is not computed goes on."""
        rank %= self.driver.config.ranks
        row = self.state.computed[rank]
        task = next((n for n, layers in enumerate(row, 1) if layers < self.driver.config.layers), _TASKS)
        layer = min(self.driver.config.layers - 1, row[task - 1] + more - 1)
        wanted = Action("OnProgress", (("rank", rank), ("task", task), ("layer", layer)))
        self.step(*next(step for step in self.model.on_progress(self.state) if step[0] == wanted))

    @rule(number=st.integers(0, 1))
    def on_cache_info(self, number: int) -> None:
        """The next info."""
        self.take("OnCacheInfo", number)

    @rule(number=st.integers(0, 1))
    def next_ready(self, number: int) -> None:
        """Layers to send."""
        self.take("NextReady", number)

    @rule(number=st.integers(0, 1))
    def next_done(self, number: int) -> None:
        """A task to finish."""
        self.take("NextDone", number)

    @rule(number=st.integers(0, 100), which=st.sampled_from(("OnEnd", "ExpireTask", "ExpireEarly")))
    def on_end_or_expire(self, number: int, which: str) -> None:
        """Something is given up."""
        self.take(which, number)

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver, self.state))
        if not calls:
            return
        see_refused(calls, number)


def run_core(options: settings, make: Callable[..., ProgressTable] = ProgressTable) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _SenderMachine(RuleBasedStateMachine):
    """The shipping sender on simulated time. What it records is judged at the end; what it calls is looked at here."""

    occurred: Counter[str]
    limit_s = 10.0

    def __init__(self) -> None:
        super().__init__()
        self.clock = Simulated()
        self.memory = Memory()
        self.layers = 3
        self.computed: dict[int, int] = {}
        self.given: list[int] = []
        self.sent: dict[Any, int] = {}
        self.finished: list[Any] = []
        self.next_info = 0
        self.sender = LayerSender(
            2,
            self.layers,
            self.send,
            self.finish,
            capacity=3,
            info_timeout=self.limit_s,
            layer_timeout=self.limit_s,
            recorder=self.memory,
            runtime=self.clock,
        )
        self.fails = False
        self.wrong = ""

    def send(self, request: Any, first: int, last: int) -> None:
        """Look at what is to be sent: computed, in order, once."""
        if self.sent.get(request, 0) != first or last >= self.computed.get(request, 0):
            self.wrong = f"layers {first} to {last} of {request}: computed {self.computed}, sent {self.sent}"
        self.sent[request] = last + 1
        if self.fails:
            raise OSError("the network is down")

    def finish(self, request: Any, error: Exception | None) -> None:
        """Look at what is finished: in the order of the infos, and whole if there is no error."""
        self.finished.append(request)
        if error is None and self.sent.get(request, 0) != self.layers:
            self.wrong = f"{request} is finished without an error, and sent is {self.sent}"

    def where(self, task: int) -> tuple[int, int]:
        """Return slot and step of a task; the steps wrap soon."""
        return task % 2, 2**32 - 4 + task

    @rule(ahead=st.integers(0, 3), layer=st.integers(0, 2))
    def on_progress(self, ahead: int, layer: int) -> None:
        """A report of a task around those whose infos are next."""
        task = max(0, self.next_info - 2 + ahead)
        for other in range(task % 2, task, 2):
            self.computed[other] = self.layers
        self.computed[task] = max(self.computed.get(task, 0), layer + 1)
        self.sender.on_progress(*self.where(task), layer)

    @rule(skip=st.sampled_from((0, 0, 0, 0, 1)))
    def on_cache_info(self, skip: int) -> None:
        """The next info, or the one after it."""
        task = self.next_info + skip
        try:
            self.sender.on_cache_info(task, *self.where(task), timeout=0)
        except CommTimeoutError:
            assert self.sender.in_flight() == 3
        else:
            self.given.append(task)
            self.next_info = task + 1

    @rule(fails=st.sampled_from((False, False, False, True)))
    def run_once(self, fails: bool) -> None:
        """The sending thread does the next thing."""
        self.fails = fails
        self.sender.run_once(0.0)

    @rule(seconds=st.sampled_from((1.0, 4.0, 10.0)))
    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.clock.now += seconds

    @rule(back=st.integers(0, 3))
    def on_end(self, back: int) -> None:
        """A task is given up; before its slot goes on, as the contract wants it."""
        task = max(0, self.next_info - back)
        if not any(other > task and other % 2 == task % 2 for other in self.computed):
            self.sender.on_end(*self.where(task))

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert not self.wrong, self.wrong
        assert self.finished == self.given[: len(self.finished)], f"{self.finished} of {self.given}"

    def teardown(self) -> None:
        self.occurred.update(judged(accept(lines_of(self.memory.events))))


def run_sender(options: settings) -> Counter[str]:
    """Run the machine; return how often each action was recorded, after the model's judgement."""

    class Machine(_SenderMachine):
        pass

    return run_machine(Machine, options)
