"""Level V3 on signals: every edge of the model's graph is taken by the shipping programs, in a real folder."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from models.graph import Edge, build
from models.signal import Config, Signal, State
from tests.conformance.driving import Deviation, difference, where
from tests.conformance.signal_driver import Driver, ended_with
from tests.conformance.signal_world import SHIPPING, Programs
from tests.conformance.walks import edge_walks

__all__ = ("LARGE", "SMALL", "Coverage", "Deviation", "bounds", "drive_signal")

R = frozenset[int]

# Together they have every action.
SMALL: dict[str, Config] = {
    "2 creators, one insists, a full disk": Config(insisters=R({1}), full=True),
    "a mortal creator and other software": Config(
        processes=1, creators=R({0}), insisters=R({0}), mortal=R({0}), foreign=True
    ),
    "a mortal creator and an attacher": Config(files=1, creators=R({0}), attachers=R({1}), mortal=R({0})),
}
LARGE: dict[str, Config] = {
    "a creator and its successor, an attacher": Config(creators=R({0}), attachers=R({1}), mortal=R({0})),
    "2 creators, one mortal, one insists": Config(insisters=R({1}), mortal=R({0})),
    "2 creators, 3 files": Config(files=3, insisters=R({1})),
    "a mortal creator, 3 files": Config(processes=1, files=3, creators=R({0}), mortal=R({0})),
    "an attacher and other software": Config(creators=R({0}), attachers=R({1}), foreign=True),
    "everything": Config(creators=R({0}), attachers=R({1}), mortal=R({0, 1}), foreign=True, full=True),
}


@dataclass
class Coverage:
    """What was driven."""

    states: int = 0
    edges: int = 0
    steps: int = 0
    walks: int = 0
    actions: Counter[str] = field(default_factory=Counter)


def bounds(config: Config) -> str:
    """Return the bounds in one line."""
    parts = [f"P={config.processes} I={config.files}"]
    parts += [
        f"{name}={sorted(who)}" for name, who in (("Insisters", config.insisters), ("Mortal", config.mortal)) if who
    ]
    return " ".join(parts)


def drive_signal(config: Config, programs: Programs = SHIPPING) -> Coverage:
    """Take every edge of the model's graph."""
    graph = build(Signal(config))
    coverage = Coverage(states=len(graph.states))
    seen: set[Edge[State]] = set()
    with tempfile.TemporaryDirectory(prefix="fdcomm-signal-", dir=_memory()) as folder:
        for walk in edge_walks(graph.initial[0], graph.successors()):
            coverage.walks += 1
            driver = Driver(Path(folder), config, programs)
            try:
                for number, edge in enumerate(walk):
                    _take(driver, walk[:number], edge, new=edge not in seen)
                    seen.add(edge)
                    coverage.steps += 1
            finally:
                driver.end()
    coverage.edges = len(seen)
    coverage.actions.update(action.name for _, action, _ in seen)
    if seen != set(graph.edges):
        raise AssertionError("the walks do not take every edge")
    return coverage


def _take(driver: Driver, path: list[Edge[State]], edge: Edge[State], *, new: bool) -> None:
    before, action, after = edge
    process = action.param("process")
    try:
        driver.take(action, after)
        found = driver.state(after) if new else after
    except Exception as error:
        raise Deviation(f"{action}: {error!r} {_where(path)}") from error
    if found != after:
        raise Deviation(f"{action}: {difference(after, found)} {_where(path)}")
    if process is not None and after.pc[process] == "idle" and before.pc[process] not in ("idle", "dead"):
        ended, wanted = driver.processes[process].error, ended_with(action, before, after)
        if type(ended) is not (wanted or type(None)):
            raise Deviation(f"{action}: the call ended with {ended!r} instead of {wanted} {_where(path)}")


def _where(path: list[Edge[State]]) -> str:
    return where(action for _, action, _ in path)


def _memory() -> str | None:
    """A folder in memory, where there is one: a walk makes many files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
