"""Processes of other Python versions, and processes made by ``multiprocessing``, on one queue."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
from functools import cache
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import ROOT, Failed, Remote
from tests.multiproc.reader import END, batch
from tests.multiproc.running import LIMIT_S, readers

VERSIONS = ((3, 10), (3, 11), (3, 12), (3, 13))


@cache
def _installed() -> dict[tuple[int, int], str]:
    """Return the supported interpreters of this machine, this one apart."""
    found: dict[tuple[int, int], str] = {}
    folder = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in sorted(folder.glob("3.*/bin/python")) if folder.is_dir() else []:
        version = tuple(int(part) for part in python.parent.parent.name.split(".")[:2])
        if version in VERSIONS and version != sys.version_info[:2]:
            command = [str(python), "-c", "import fdcomm"]
            if subprocess.run(command, cwd=ROOT, timeout=LIMIT_S, capture_output=True).returncode == 0:
                found[version[0], version[1]] = str(python)
    return found


def _others() -> tuple[str, ...]:
    others = tuple(_installed().values())
    if not others:
        pytest.skip("no other supported Python is installed (looked in PYENV_ROOT/versions)")
    return others


def test_workers_of_other_versions(seed: int) -> None:
    others = _others()
    randomness = random.Random(seed)
    ranks = len(others) + 1
    names = [f"a-{number}" for number in range(60)]
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks) as engine:
        with readers(engine.get_server_port(), ranks, pythons=(*others, sys.executable)) as running:
            for name in names:
                engine.put_tasks(batch(name, randomness), timeout=LIMIT_S)
            engine.put_tasks({"name": END, "data": b"", "crc": 0}, timeout=LIMIT_S)
            assert [result["names"] for result in running.results()] == [[*names, END]] * ranks


@pytest.mark.parametrize(
    "version", [pytest.param(v, id=f"{v[0]}.{v[1]}") for v in VERSIONS if v != sys.version_info[:2]]
)
def test_host_of_another_version(version: tuple[int, int]) -> None:
    """The engine and its host are of the other version; errors cross between the versions too."""
    _others()
    if version not in _installed():
        pytest.skip(f"Python {version} is not installed")
    with Remote(_installed()[version]) as engine:
        assert tuple(engine.ask("version")) == version
        port = engine.open(0, is_server=True, num_client=2)
        with EngineWorkerQueue(("0.0.0.0", port), num_client=2, client_id=1, role="reader") as reader:
            engine.call("put_tasks", ["x" * 100_000], timeout=LIMIT_S)
            assert reader.get_tasks(timeout=LIMIT_S) == ([["x" * 100_000]], False)
            with pytest.raises(Failed, match="rank 0 is not connected") as caught:
                engine.call("put_tasks", "more", timeout=0)
            assert (caught.value.name, caught.value.missing) == ("CommTimeoutError", (0,))
            with pytest.raises(ValueError, match="num_client=3, but the host was started with num_client=2"):
                EngineWorkerQueue(("0.0.0.0", port), num_client=3, client_id=0)


def _read_one(port: int, rank: int, answer: Connection[Any, Any]) -> None:
    with EngineWorkerQueue(("0.0.0.0", port), num_client=2, client_id=rank) as queue:
        (taken,), _ = queue.get_tasks(timeout=LIMIT_S)
    answer.send(taken)


@pytest.fixture(scope="module")
def _tracker() -> None:
    """Start the helper process of ``multiprocessing`` that stays until this one ends."""
    resource_tracker.ensure_running()


@pytest.mark.usefixtures("_tracker")
def test_workers_of_multiprocessing() -> None:
    context: Any = multiprocessing.get_context("spawn")
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2) as engine:
        pipes = [context.Pipe(duplex=False) for _ in range(2)]
        workers = [
            context.Process(target=_read_one, args=(engine.get_server_port(), rank, pipes[rank][1]))
            for rank in range(2)
        ]
        for worker in workers:
            worker.start()
        engine.put_tasks({"for": "both"}, timeout=LIMIT_S)
        for (receive, send), worker in zip(pipes, workers, strict=True):
            assert receive.poll(LIMIT_S)
            assert receive.recv() == {"for": "both"}
            worker.join(LIMIT_S)
            assert worker.exitcode == 0
            worker.close()
            receive.close()
            send.close()
