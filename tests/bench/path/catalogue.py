"""All subjects: ours, what the standard library and packages have, and those plugged in through BENCH_PEERS."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

from tests.bench.path.ours import LOOKS, EngineQueue, Ring
from tests.bench.path.shared import FasterFifo, Iceoryx
from tests.bench.path.shipped import Shipped
from tests.bench.path.standard import Pipes, Queues
from tests.bench.path.subject import Subject
from tests.bench.path.zeromq import PubSub, Push

__all__ = ("OURS", "SHIPPED", "names", "peers", "subject_of")

_MAKERS: tuple[Callable[[], Subject], ...] = (
    lambda: Ring(1),
    lambda: Ring(8),
    EngineQueue,
    lambda: Ring(1, looks=True),
    lambda: EngineQueue(looks=True),
    lambda: Shipped(tcp=True),
    lambda: Shipped(tcp=False),
    Pipes,
    Queues,
    Push,
    PubSub,
    FasterFifo,
    lambda: Iceoryx(event=False),
    lambda: Iceoryx(event=True),
)

OURS = ("ring, depth 1", "ring, depth 8", "EngineWorkerQueue", f"ring, depth 1{LOOKS}", f"EngineWorkerQueue{LOOKS}")
SHIPPED = ("shipped, TCP", "shipped, Unix socket", "FastDeploy EngineWorkerQueue")
"""Slow and many: they get fewer batches."""


def peers(files: str | None = None) -> list[Subject]:
    """Return the subjects of the adapters that ``files`` name (default: the environment's BENCH_PEERS), by ``:``.

    Raises:
        ValueError: A file is no adapter.
    """
    found: list[Subject] = []
    for number, file in enumerate(filter(None, (files or os.environ.get("BENCH_PEERS", "")).split(os.pathsep))):
        spec = importlib.util.spec_from_file_location(f"bench_peers_{number}", Path(file))
        if spec is None or spec.loader is None or not Path(file).exists():
            raise ValueError(f"BENCH_PEERS: {file} is no Python file")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        offered = getattr(module, "SUBJECTS", None)
        if not offered or not all(isinstance(each, Subject) and each.name for each in offered):
            raise ValueError(f"BENCH_PEERS: {file} needs SUBJECTS, a list of Subject objects with names")
        found += offered
    return found


def _all() -> dict[str, Subject]:
    made = [make() for make in _MAKERS] + peers()
    if len({each.name for each in made}) != len(made):
        raise ValueError("two subjects have one name")
    return {each.name: each for each in made}


def names() -> list[str]:
    """Return the names of all, in the order of the tables."""
    return list(_all())


def subject_of(name: str) -> Subject:
    """Return a new subject."""
    return _all()[name]
