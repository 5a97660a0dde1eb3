"""Level V3 on the gate channel of a host: the edges that it can take (``gate_moves``), each taken."""

from __future__ import annotations

import pickle
from collections import deque
from functools import partial
from typing import Any

from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    PeerLostError,
    StaleAnswerError,
)
from fdcomm.host.gate_channel import GateChannel
from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.transports.inproc import InprocTransport
from models.gate import Answer, Config, Gate, Round, State
from models.gate_state import AWAY, DEAD, LIVE, LOST
from models.graph import Edge
from models.kernel import Action
from tests.conformance.driving import Deviation, ServiceCoverage, difference, must_raise
from tests.conformance.gate_core import key_of
from tests.conformance.gate_moves import host_moves, must_wait
from tests.conformance.gated import GatedRuntime
from tests.conformance.recording import Memory
from tests.conformance.walks import Move, walks

__all__ = ("GATE", "ServiceDriver", "drive_service")

GATE = "send_cache"


class ServiceDriver:
    """A service with the model's ranks, each with a spare handle that was opened before it could be lost."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.recorder = Memory(GATE)
        words = memoryview(bytearray(8 * words_needed(HostConfig(config.ranks)))).cast("q")
        self.gone: set[int] = set()
        self.service = HostService(
            HostConfig(tp_size=config.ranks),
            GatedRuntime(),
            words,
            recorder=self.recorder,
            is_connected=lambda session: session not in self.gone,
            only=(GATE,),
        )
        core = self.core()
        core.capacity = config.capacity
        core.late = [deque(maxlen=config.max_late) for _ in range(config.ranks)]
        self.engine = self.open(-1, "producer")
        self.spare = {rank: [self.open(rank)] for rank in range(config.ranks)}
        self.holder: dict[int, InprocTransport] = {}
        self.closed: list[InprocTransport] = []
        self.dead: set[int] = set()
        self.issued: tuple[int, ...] = ()
        self.todo: list[frozenset[int]] = [frozenset()] * config.ranks
        self.collected: frozenset[int] = frozenset()
        self.ended: frozenset[int] = frozenset()

    def core(self) -> Any:
        """Return the core inside."""
        channel = self.service.channel(GATE)
        assert isinstance(channel, GateChannel)
        return channel._core

    def open(self, client_id: int, role: str | None = None) -> InprocTransport:
        """Open a session."""
        transport = InprocTransport(self.service)
        ranks = self.config.ranks
        hello = Hello(
            version=PROTOCOL_VERSION, kind="worker", num_client=ranks, client_id=client_id, dp_rank=0, role=role, pid=0
        )
        transport.open_session(hello)
        return transport

    def state(self) -> State:
        """Return the model's state that the service is in."""
        core = self.core()
        return State(
            issued=self.issued,
            todo=tuple(self.todo),
            status=tuple(
                (DEAD if rank in self.dead else LIVE) if rank in core.live else LOST if rank in core.lost else AWAY
                for rank in range(core.ranks)
            ),
            rounds=tuple(
                Round(_number(r.key), frozenset(_read(a) for a in r.answers.values()), frozenset(r.without))
                for r in core.rounds
            ),
            late=tuple(tuple(map(_number, owed)) for owed in core.late),
            collected=self.collected,
            ended=self.ended,
        )

    def take(self, move: Move[State]) -> None:
        """Make the call that does a move, and check what its caller is told."""
        before, action, _ = move[0]
        after = move[-1][2]
        rank = action.param("rank")
        if action.name == "Issue":
            self.issued = (*self.issued, action.param("key") or 0)
            lost = self.core().lost
            self.todo = [t if r in lost else t | {len(self.issued)} for r, t in enumerate(self.todo)]
        elif rank is None:
            self._collect(action.name, before, after)
        elif action.name in ("Join", "PutAnswer", "RefuseLate"):
            self._answer(rank, move)
        elif action.name == "Skip":
            self.todo[rank] -= {action.param("issue") or 0}
        else:
            self._life(action.name if len(move) == 1 else "Return", rank)

    def put(self, transport: InprocTransport, rank: int, issue: int) -> bool:
        """Put the answer of a rank to a request, without waiting."""
        payload = pickle.dumps((rank, issue))
        key = key_of(self.issued[issue - 1])
        result: bool = transport.call("act", GATE, "put_answer", key, payload, 0.0, "put", timeout=0.0)
        return result

    def _answer(self, rank: int, move: Move[State]) -> None:
        before, _, after = move[-1][0], move[-1][1], move[-1][2]
        last = move[-1][1]
        if move[0][1].name == "Join":
            self.holder[rank] = self.spare[rank].pop()
            self._refill(rank, before)
        issue = last.param("issue") or self._blocked(after, rank)
        transport = self.holder[rank]
        if last.name == "RefuseLate":
            error = must_raise(StaleAnswerError, lambda: self.put(transport, rank, issue))
            assert error.missing == (rank,)
            if issue in self.ended:
                self.todo[rank] -= {issue}
        elif last.name == "PutAnswer":
            key = self.issued[issue - 1]
            complete = next(len(r.answered) == self.config.ranks for r in after.rounds if r.key == key)
            if self.put(transport, rank, issue) != complete:
                raise Deviation(f"{last} told its caller that all_put is {not complete}")
            self.todo[rank] -= {issue}
        else:
            must_raise(CommTimeoutError, lambda: self.put(transport, rank, issue))

    def _blocked(self, state: State, rank: int) -> int:
        model = Gate(self.config)
        return next(issue for issue in model.next_of(state, rank) if must_wait(model, state, rank, issue))

    def _life(self, name: str, rank: int) -> None:
        if name == "Crash":
            self.dead.add(rank)
            self.gone.add(self.holder[rank]._session)
        elif name == "Reappear":
            self.spare[rank].append(self.open(rank))
        else:
            holder = self.holder.pop(rank)
            self.closed.append(holder)
            self.dead.discard(rank)
            if name != "Leave":
                self.todo[rank] = frozenset()
            if name == "Return":  # the host hears of the end of the old handle after the new one has opened
                self.spare[rank].append(self.open(rank))
            (holder.close if name == "Leave" else holder.abandon)()

    def _refill(self, rank: int, state: State) -> None:
        if not self.spare[rank]:
            self.spare[rank].append(self.open(rank))  # the rank is live now, so nobody reappears

    def _collect(self, name: str, before: State, after: State) -> None:
        (over,) = (r for r in before.rounds if r not in after.rounds)
        missing = tuple(rank for rank in range(self.config.ranks) if rank not in over.answered)
        limit = 0.0 if name == "EndTimeout" else None

        def call() -> Any:
            return self.engine.call("act", GATE, "collect", 0.0, limit, "get", timeout=0.0)

        if name == "Collect":
            answers = [_read(payload) for payload in call()]
            if answers != sorted(over.answers):
                raise Deviation(f"collected {answers} instead of {sorted(over.answers)}")
            self.collected |= over.issues
            return
        error = must_raise(PeerLostError if name == "EndLost" else CommTimeoutError, call)
        if (error.missing, error.request) != (missing, key_of(over.key)):
            raise Deviation(f"{error!r} names {error.missing} of {error.request} instead of {missing} of {over.key}")
        self.ended |= over.issues

    def refusals(self, state: State) -> int:
        """Make the calls that cannot succeed in ``state``; each must raise its error and change nothing."""
        model = Gate(self.config)
        tried = 0
        for rank, status in enumerate(state.status):
            for issue in model.next_of(state, rank):
                if status == LIVE:
                    must_raise(DuplicateRankError, partial(self.put, self.spare[rank][-1], rank, issue))
                    if must_wait(model, state, rank, issue):
                        must_raise(CommTimeoutError, partial(self.put, self.holder[rank], rank, issue))
                        tried += 1
                    tried += 1
        if state.issued:
            for transport in self.closed:
                must_raise(FencedError, partial(self.put, transport, 0, 1))
                tried += 1
        if model.settled(state) is None:
            if self.engine.call("act", GATE, "collect", 0.0, None, "get", timeout=0.0) is not None:
                raise Deviation("a poll returned answers that are not complete")
            tried += 1
        return tried


def _number(key: object) -> int:
    return int(str(key).removeprefix("request "))


def _read(payload: bytes) -> Answer:
    return Answer(*pickle.loads(payload))


def drive_service(config: Config) -> ServiceCoverage:
    """Take every move of a host through the service."""
    graph, moves = host_moves(config)
    coverage = ServiceCoverage(of=len(graph.edges))
    seen: set[Edge[State]] = set()
    visited: set[State] = set()
    for walk in walks(graph.initial[0], moves):
        coverage.walks += 1
        driver = ServiceDriver(config)
        done: list[str] = []
        for move in walk:
            before = move[0][0]
            done += [str(action) for _, action, _ in move]
            try:
                if before not in visited:
                    visited.add(before)
                    coverage.refusals += driver.refusals(before)
                    _check(driver, before, ())
                driver.take(move)
                _check(driver, move[-1][2], move)
            except Exception as error:
                raise Deviation(f"{error} in the behaviour {', '.join(done)}") from error
            seen.update(move)
    coverage.states = len(visited | {edge[2] for edge in seen})
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    return coverage


def _check(driver: ServiceDriver, wanted: State, move: Move[State]) -> None:
    found = driver.state()
    if found != wanted:
        raise Deviation(difference(wanted, found))
    edges = [edge for edge in move if edge[1].name not in ("Issue", "Skip", "Crash")]
    shown = [(event["action"], event["args"], event["post"]) for event in driver.recorder.take()]
    expected = [(action.name, _args(before, action), _post(after)) for before, action, after in edges]
    if shown != expected:
        raise Deviation(f"recorded {shown} instead of {expected}")


def _args(state: State, action: Action) -> dict[str, object]:
    args: dict[str, object] = dict(action.params)
    if "issue" in args:
        args["key"] = key_of(state.issued[(action.param("issue") or 0) - 1])
        del args["issue"]
    return args


def _post(state: State) -> dict[str, object]:
    return {
        "rounds": [[key_of(r.key), sorted(r.answered), sorted(r.without)] for r in state.rounds],
        "late": [len(owed) for owed in state.late],
    }
