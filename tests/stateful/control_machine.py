"""Long random runs of control requests: the core, and a real host, beside the model."""

from __future__ import annotations

from collections import Counter

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    precondition,
    rule,
)

from fdcomm import EngineWorkerQueue
from fdcomm.control import ControlClient, ControlRequest, ControlResult, ControlServer
from fdcomm.core.control import Control as Core
from fdcomm.errors import (
    CommTimeoutError,
    PeerLostError,
    ProtocolViolationError,
    RequestCancelledError,
    StaleAnswerError,
)
from models.control import Config, Control, State, answered
from models.control_state import AWAY, LIVE, LOST, initial_state
from tests.conformance.backends import lose
from tests.conformance.control_core import ControlDriver, Make, Payload, probes, step_of
from tests.conformance.host_driver import Channels
from tests.conformance.waiting import Background, until
from tests.stateful.beside import TakesSteps, chosen, possible, run_machine, run_over_channels, see_refused
from tests.stateful.core_beside import SameState

__all__ = ("run_core", "run_host")

_LONG_S = 60.0
_USUAL = ("Ask", "Take", "Answer", "RefuseLate", "Join", "Collect", "EndLost")


class _CoreMachine(SameState):
    """The core against the model: same label, same state, same answer; or refused and unchanged."""

    occurred: Counter[str]
    make: Make

    @initialize(ranks=st.sampled_from((1, 2, 1, 2, 3)), capacity=st.integers(1, 3))
    def start(self, ranks: int, capacity: int) -> None:
        everyone = frozenset(range(ranks))
        self.config = Config(ranks, None, capacity, everyone, everyone, everyone)
        self.model = Control(self.config)
        (self.state,) = self.model.initial()
        self.driver = ControlDriver(self.config, type(self).make)

    @rule(data=st.data())
    def act(self, data: st.DataObject) -> None:
        """One of the actions that are possible."""
        names = possible(self.model, self.state)
        usual = 2 * [name for name in names if name in _USUAL]
        action, after = chosen(data, self.model, self.state, names + usual)
        result = self.driver.step(action)
        assert result == step_of(action, self.state, after), f"{action} returned {result!r}"
        self.state = after
        event(action.name)
        self.occurred[action.name] += 1

    @rule(number=st.integers(0, 60))
    def refused_call(self, number: int) -> None:
        """One of the calls that are not possible now."""
        calls = list(probes(self.driver.core, self.state, self.config))
        see_refused(calls, number)


def run_core(options: settings, make: Make = Core[Payload]) -> Counter[str]:
    """Run the machine; return how often each action took place."""

    class Machine(_CoreMachine):
        pass

    Machine.make = staticmethod(make)
    return run_machine(Machine, options)


class _HostMachine(TakesSteps):
    """Control requests of a real host against the model, through handles; asking calls wait in threads."""

    channels: Channels

    def __init__(self) -> None:
        super().__init__()
        self.replica = self.channels.take()
        self.observer = ControlClient(self.channels.client(self.replica, 0, "producer"))
        both = frozenset({0, 1})
        self.model = Control(Config(2, None, 64, both, both, both))
        self.state: State = initial_state(self.model.config)
        self.handles: dict[int, EngineWorkerQueue] = {}
        self.taken: dict[int, ControlRequest] = {}
        self.asking: dict[int, tuple[ControlClient, Background]] = {}

    @rule(rank=st.integers(0, 1))
    def come(self, rank: int) -> None:
        """A handle of a rank opens."""
        if rank not in self.handles:
            self.handles[rank] = self.channels.client(self.replica, rank, None)
            self.take("Reappear", rank=rank)

    @rule(hurry=st.sampled_from((False, False, True)))
    def ask(self, hurry: bool) -> None:
        """A client asks; in a hurry it gives up at once."""
        number = self.state.asked + 1
        client = ControlClient(self.channels.client(self.replica, 0, "producer"))
        limit = 0.0 if hurry else _LONG_S
        call = Background(lambda: client.ask(("request", number), timeout=limit))
        until(lambda: self.observer.statistics().asked == number, "the request")
        assert self.take("Ask")
        self.asking[number] = client, call
        if hurry and not self.take("EndLost", number=number):
            assert self.take("EndTimeout", number=number)
        self.settle()

    @rule(rank=st.integers(0, 1))
    def take_one(self, rank: int) -> None:
        """A rank takes, without waiting."""
        self.come(rank)
        if self.state.status[rank] in (AWAY, LOST):
            assert self.take("Join", rank=rank)
        server = ControlServer(self.handles[rank])
        if self.state.doing[rank]:
            try:
                server.take()
            except ProtocolViolationError:
                return
            raise AssertionError("a rank that has not answered was given another request")
        request = server.take()
        if self.take("Take", rank=rank):
            assert request is not None
            assert (request.number, request.payload) == (self.state.doing[rank], ("request", request.number))
            self.taken[rank] = request
        else:
            assert request is None

    @precondition(lambda self: any(self.state.doing))
    @rule(rank=st.integers(0, 1), good=st.booleans())
    def answer_one(self, rank: int, good: bool) -> None:
        """A rank answers."""
        self.answer(rank, good=good)

    def answer(self, rank: int, *, good: bool) -> None:
        """Answer what the rank does, if it does something."""
        if not self.state.doing[rank]:
            return
        request = self.taken.pop(rank)
        refused: object = None
        try:
            if good:
                request.answer((rank, request.number))
            else:
                request.fail(f"{rank}/{request.number}")
        except StaleAnswerError as error:
            refused = error.request
        assert refused in (None, request.number)
        assert self.take("Answer" if refused is None else "RefuseLate", rank=rank)
        self.settle()

    @rule()
    def both_serve(self) -> None:
        """Both ranks take what is there, and answer."""
        for rank in (0, 1):
            if not self.state.doing[rank]:
                self.take_one(rank)
            self.answer(rank, good=True)

    @precondition(lambda self: self.asking)
    @rule(rank=st.integers(0, 1))
    def too_late(self, rank: int) -> None:
        """A request is cancelled while a rank does it."""
        if not self.state.doing[rank]:
            self.take_one(rank)
        if self.state.doing[rank] in self.asking:
            self._withdraw(self.state.doing[rank], closes=False)
        self.answer(rank, good=True)

    def _withdraw(self, number: int, *, closes: bool) -> None:
        client, call = self.asking.pop(number)
        if not closes:
            assert client.cancel() == (number,)
            assert type(call.error()) is RequestCancelledError
        client._queue.close()
        call.error()
        assert self.take("Withdraw", number=number)

    @precondition(lambda self: self.asking)
    @rule(which=st.integers(0, 3), closes=st.booleans())
    def cancel(self, which: int, closes: bool) -> None:
        """A client cancels, or closes its handle."""
        self._withdraw(sorted(self.asking)[which % len(self.asking)], closes=closes)

    def _live(self) -> list[int]:
        return [rank for rank, status in enumerate(self.state.status) if status == LIVE]

    @precondition(lambda self: self._live())
    @rule(which=st.integers(0, 1))
    def leave(self, which: int) -> None:
        """A rank closes its handle."""
        rank = self._live()[which % len(self._live())]
        self.handles.pop(rank).close()
        self.taken.pop(rank, None)
        assert self.take("Leave", rank=rank)
        self.settle()

    @precondition(lambda self: self._live())
    @rule(which=st.integers(0, 1), restarts=st.booleans())
    def crash(self, which: int, restarts: bool) -> None:
        """The connection of a rank is lost; its successor may open before the host has noticed."""
        rank = self._live()[which % len(self._live())]
        lose(self.handles.pop(rank))
        self.taken.pop(rank, None)
        assert self.take("Crash", rank=rank)
        assert self.take("Fence", rank=rank)
        if restarts:
            self.come(rank)
        else:
            until(lambda: rank in self.observer.statistics().lost, "the fence")
        self.settle()

    @rule(rank=st.integers(0, 1), rarely=st.sampled_from((False, False, True)))
    def vanish(self, rank: int, rarely: bool) -> None:
        """The connection of a rank is lost that has taken no request, and has read another channel."""
        if rarely and self.state.status[rank] == AWAY:
            self.come(rank)
            self.handles[rank].get_cache_info()
            lose(self.handles.pop(rank))
            until(lambda: rank in self.observer.statistics().lost, "the loss")
            assert self.take("Vanish", rank=rank)
            self.settle()

    def settle(self) -> None:
        """Every asking call that can end has ended: with what the model says."""
        for number, (client, call) in list(self.asking.items()):
            ended = self.state.state[number - 1] != "open" or self.take("Collect", number=number)
            if not ended and not self.take("EndLost", number=number):
                continue
            del self.asking[number]
            given = answered(self.state, number)
            missing = tuple(rank for rank in (0, 1) if rank not in given)
            end, error = self.state.state[number - 1], call.error()
            if end == "done":
                result: ControlResult = call.value()
                assert result.number == number
                for answer in result.answers:
                    assert answer.value in ((answer.rank, number), f"{answer.rank}/{number}")
                    assert answer.ok == isinstance(answer.value, tuple)
            else:
                assert type(error) is (PeerLostError if end == "lost" else CommTimeoutError)
                assert (error.missing, error.request) == (missing, number)
            client._queue.close()

    @invariant()
    def same_state(self) -> None:
        said, s = self.observer.statistics(), self.state
        assert (said.asked, said.doing) == (s.asked, s.doing)
        assert [number for number, _ in said.waiting_for] == [n for n, end in enumerate(s.state, 1) if end == "open"]
        for number, ranks in said.waiting_for:
            assert set(ranks) == {0, 1} - answered(s, number) - s.without[number - 1]
        for ranks, status in ((said.live, LIVE), (said.lost, LOST), (said.away, AWAY)):
            assert list(ranks) == [rank for rank, found in enumerate(s.status) if found == status]

    def teardown(self) -> None:
        for client, call in self.asking.values():
            client.cancel()
            call.error()
            client._queue.close()
        for handle in (self.observer._queue, *self.handles.values()):
            handle.close()


def run_host(options: settings) -> Counter[str]:
    """Run the machine over one host; return how often each action was recorded, after the model's judgement."""

    class Machine(_HostMachine):
        pass

    return run_over_channels(Machine, options, "control")
