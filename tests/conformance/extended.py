"""Level V3 for what extends dispatch: the graph of its own model, driven through the core and the host's service."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fdcomm.errors import ProtocolViolationError
from fdcomm.host.layout import WITHOUT
from fdcomm.host.service import HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from models import bitmask, dispatch, done, item_channel
from models.bitmask import Bitmask, as_dispatch
from models.cache_info import CacheInfo
from models.connect import Connect
from models.dispatch_state import State
from models.graph import Graph, build
from tests.conformance.core_edges import Coverage, Deviation, drive_core
from tests.conformance.driving import ServiceCoverage
from tests.conformance.recording import Memory
from tests.conformance.service_driver import hello
from tests.conformance.service_edges import drive_service
from tests.refine.bitmask_graphs import dispatch_config

__all__ = ("CORE", "SERVICE", "DoneCoverage", "drive_done", "drive_extended_core", "drive_extended_service", "graph_of")

R = frozenset[int]
Config = bitmask.Config | item_channel.Config

CORE: dict[str, Config] = {
    "bitmask": bitmask.Config(per_producer=2, mortal=R({0}), mortal_producers=R({0})),
    "cache_info": item_channel.Config(leavers=R({0}), mortal=R({1}), mortal_producers=R({0}), quitters=R({0})),
    "connect": item_channel.Config(producers=2, mortal=R({1}), max_calls=3),
}
SERVICE: dict[str, Config] = {
    "bitmask": bitmask.Config(ranks=2, depth=1, max_calls=2, mortal=R({1})),
    "cache_info": item_channel.Config(ranks=2, max_calls=2, mortal=R({1}), leavers=R({0})),
    "connect": item_channel.Config(ranks=1, producers=2, max_calls=3, mortal=R({0}), mortal_producers=R({1})),
}


def graph_of(protocol: str, config: Config) -> Graph[State]:
    """Return the graph of the protocol's own model, in dispatch's states."""
    if isinstance(config, item_channel.Config):
        return build({"cache_info": CacheInfo, "connect": Connect}[protocol](config))
    own = build(Bitmask(config))
    graph: Graph[State] = Graph(own.name)
    graph.initial = [as_dispatch(state) for state in own.initial]
    graph.states = [as_dispatch(state) for state in own.states]
    graph.edges = [(as_dispatch(before), action, as_dispatch(after)) for before, action, after in own.edges]
    for state, link in own._parents.items():
        graph._parents[as_dispatch(state)] = link and (link[0], as_dispatch(link[1]))
    return graph


def drive_extended_core(protocol: str) -> Coverage:
    """Take every edge of the protocol's model through the core."""
    config = CORE[protocol]
    return drive_core(dispatch_config(config), graph=graph_of(protocol, config))


def drive_extended_service(protocol: str) -> ServiceCoverage:
    """Take every edge that a host can through the channel; then try what the contract does not have."""
    config = SERVICE[protocol]
    if {*graph_of(protocol, config).edges} != {*build(dispatch.Dispatch(dispatch_config(config))).edges}:
        raise Deviation(f"{protocol} has other steps than dispatch under {config}")
    coverage = drive_service(dispatch_config(config), protocol)
    coverage.refusals += _without(protocol)
    return coverage


def _without(protocol: str) -> int:
    kind = "cache" if protocol == "bitmask" else "worker"
    host = HostConfig(1, kind=kind)
    words = memoryview(bytearray(8 * words_needed(host))).cast("q")
    service = HostService(host, SYSTEM, words, only=(protocol,))
    session = service.open_session(hello(1, 0, None, kind=kind))["session"]
    refused = sorted(WITHOUT[protocol])
    for action in refused:
        try:
            service.act(session, protocol, action)
        except ProtocolViolationError:
            continue
        raise Deviation(f"{protocol} has {action}, and its contract has not")
    return len(refused)


@dataclass
class DoneCoverage:
    """What was driven through the done queue."""

    states: int = 0
    edges: int = 0
    actions: Counter[str] = field(default_factory=Counter)


def drive_done(config: done.Config, protocol: str = "done") -> DoneCoverage:
    """Take every edge of the done queue's graph through the host's channel: results, state and events agree."""
    graph = build(done.Done(config))
    coverage = DoneCoverage(states=len(graph.states))
    for path, (before, action, after) in graph.paths():
        driver = _DoneDriver(config.takers, protocol)
        for step, state in path.steps:
            driver.step(step.name, dict(step.params), state)
        _agree(driver, before, f"before {action}")
        driver.step(action.name, dict(action.params), after)
        _agree(driver, after, f"after {', '.join(map(str, (*path.actions, action)))}")
        coverage.edges += 1
        coverage.actions[action.name] += 1
    return coverage


class _DoneDriver:
    def __init__(self, takers: int, protocol: str) -> None:
        self.protocol = protocol
        kind = "cache" if protocol == "done" else "worker"
        self._hello = hello(1, 0, "producer", kind=kind)
        host = HostConfig(1, kind=kind)
        words = memoryview(bytearray(8 * words_needed(host))).cast("q")
        self.recorder = Memory(protocol)
        self.service = HostService(host, SYSTEM, words, recorder=self.recorder, only=(protocol,))
        self.sessions = [self.open() for _ in range(takers)]
        self.posted = 0

    def open(self) -> int:
        return self.service.open_session(self._hello)["session"]

    def step(self, name: str, args: dict[str, int], after: done.State) -> None:
        if name == "Post":
            self.posted += 1
            self.service.act(self.sessions[0], self.protocol, "put", b"%d" % self.posted, "post")
        elif name == "Take":
            session = self.sessions[args["taker"]]
            taken = self.service.act(session, self.protocol, "take", args["most"], "take")
            if taken != [b"%d" % number for number in after.inHand[args["taker"]]]:
                raise Deviation(f"{name} {args} answered {taken}, and the model has {after}")
        else:
            self.service.lose_session(self.sessions[args["taker"]])
            self.sessions[args["taker"]] = self.open()
        last = self.recorder.events[-1]
        if last["action"] != name or last["args"].get("most") != args.get("most"):
            raise Deviation(f"{name} {args} was recorded as {last}")

    def seen(self) -> tuple[int, int, bool, list[bytes]]:
        view = self.service.act(self.sessions[0], self.protocol, "view")
        return view["length"], view["in_hand"], view["empty"], view["items"]


def _agree(driver: _DoneDriver, state: done.State, where: str) -> None:
    items = [b"%d" % number for number in state.results]
    wanted = (len(items), sum(map(len, state.inHand)), done.empty(state), items)
    if driver.seen() != wanted:
        raise Deviation(f"the queue says {driver.seen()}, and the model {wanted}, {where}")
