"""The adapters for other engines' queues: refused clearly where the package is missing, and all that runs without it.

Where a package is there (BENCH_PEERS names it), ``test_path_subjects`` runs the queue itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench.goals import GOALS
from tests.bench.path.catalogue import SHIPPED, peers
from tests.bench.path.measure import Plan, measure
from tests.bench.path.stage import Stage
from tests.bench.path.subject import Missing, Subject
from tests.bench.peers import all as every
from tests.bench.peers import fastdeploy_queue, message_queue, sglang_queue, vllm_queue
from tests.bench.peers.packages import hollow, needs, version

ADAPTERS: dict[str, Any] = {"vllm": vllm_queue, "sglang": sglang_queue, "fastdeploy": fastdeploy_queue}


def test_the_goals_know_the_names() -> None:
    found = {each.name for each in peers(every.__file__)}
    assert len(found) == len(ADAPTERS)
    assert found <= {goal.peer for goal in GOALS}
    assert fastdeploy_queue.FastDeploy.name in SHIPPED


@pytest.mark.parametrize("name", ADAPTERS)
def test_what_is_missing_is_told(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda each: None if each == name else there(each))
    monkeypatch.setenv("FASTDEPLOY_PATH", str(tmp_path))
    (subject,) = ADAPTERS[name].SUBJECTS
    with pytest.raises(Missing) as told:
        subject.check()
    assert ("FASTDEPLOY_PATH" if name == "fastdeploy" else f"pip install --no-deps {name}") in str(told.value)


@pytest.mark.multiproc
def test_a_missing_peer_is_left_out_and_the_others_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_PEERS", fastdeploy_queue.__file__)
    monkeypatch.delenv("FASTDEPLOY_PATH", raising=False)
    told: list[str] = []
    plan = Plan((1,), (64,), turns=1, share=0.02, idle_s=0.01, limit_s=60)
    name = fastdeploy_queue.FastDeploy.name
    found = measure(plan, [name, "Pipe per reader, pickled once"], told.append)
    assert "FASTDEPLOY_PATH" in found.skipped[name]
    assert {row["subject"] for row in found.cells.values()} == {"Pipe per reader, pickled once"}


def _package(folder: Path, name: str, files: dict[str, str]) -> None:
    for file, text in {"__init__.py": "raise RuntimeError('the whole engine')\n", **files}.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_module_is_imported_without_its_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    name = f"bench_hollow_{os.getpid()}"
    _package(tmp_path, name, {"inner/__init__.py": "raise RuntimeError\n", "inner/queue.py": "from . import at\n"})
    _package(tmp_path / name, "inner", {"at.py": "HERE = __name__\n"})
    monkeypatch.syspath_prepend(str(tmp_path))
    needs("", name)
    try:
        with pytest.raises(RuntimeError, match="whole engine"):
            importlib.import_module(f"{name}.inner.queue")
        assert hollow(name) is hollow(name)
        hollow(f"{name}.inner")
        queue, inner = importlib.import_module(f"{name}.inner.queue"), f"{name}.inner"
        assert queue.at.HERE.removeprefix(inner) == ".at"
        with pytest.raises(ImportError, match="no package"):
            hollow(f"{name}.other")
    finally:
        for each in [each for each in sys.modules if each.startswith(name)]:
            del sys.modules[each]
    assert version(name) == "?"


class _Socket:
    """As far as an adapter uses a socket of pyzmq."""

    def __init__(self, closed: list[str]) -> None:
        self.context, self._closed = self, closed

    def close(self, linger: int) -> None:
        self._closed.append(f"close {linger}")

    def term(self) -> None:
        self._closed.append("term")


def test_a_reader_meets_the_writer_at_its_first_get() -> None:
    """``open_reader`` must not wait for the writer, which waits for all to be open."""
    done: list[str] = []

    class Queue:
        local_socket = _Socket(done)

        def wait_until_ready(self) -> None:
            done.append("ready")

        def export_handle(self) -> list[int]:
            return [7]

        def enqueue(self, batch: Any) -> None:
            done.append(f"put {batch}")

        def dequeue(self) -> Any:
            done.append("get")
            return []

    class Peer(message_queue.MessageQueueSubject):
        def _made(self) -> Queue:
            return Queue()

        def _opened(self, handle: Any, rank: int) -> Queue:
            done.append(f"open {handle} {rank}")
            return Queue()

    writer, reader = Peer(), Peer()
    orders = writer.open_writer()
    get = reader.open_reader(1, orders)
    assert done == ["open [7] 1"]
    writer.settle()
    writer.put([3])
    assert get() == get() == []
    assert done[1:] == ["ready", "put [3]", "ready", "get", "get"]
    for each in (writer, reader, Peer()):
        each.close()
    assert done[6:] == ["close 0", "term"] * 2


_SIGNAL = """
from multiprocessing.shared_memory import SharedMemory


class IPCSignal:
    def __init__(self, port, create):
        self.shm = SharedMemory(f"bench_exist_tasks.{port}", create, 8)

    def clear(self):
        self.shm.close()
        self.shm.unlink()
"""

_QUEUE = """
from multiprocessing.managers import BaseManager

from fastdeploy import envs
from fastdeploy.inter_communicator.ipc_signal import IPCSignal
from fastdeploy.utils import llm_logger, to_tensor

assert not envs.FD_ENABLE_MAX_PREFILL and not envs.FD_ENABLE_E2W_TENSOR_CONVERT and to_tensor is None


class Held:
    def __init__(self):
        self.tasks, self.left = [], set()

    def put(self, tasks, ranks):
        if self.left:
            return False
        self.tasks, self.left = [tasks], set(range(ranks))
        return True

    def get(self, rank):
        self.left.discard(rank)
        return self.tasks if self.tasks else [], not self.left


class EngineWorkerQueue:
    def __init__(self, address, is_server=False, num_client=1, client_id=-1):
        class Manager(BaseManager):
            pass

        held = Held()
        Manager.register("held", lambda: held)
        self.manager, self.number, self.rank = Manager(("127.0.0.1", address[1]), b"key"), num_client, client_id
        self.manager.start() if is_server else self.manager.connect()
        self.exist_tasks_intra_signal = IPCSignal(self.get_server_port(), is_server)
        self.held = self.manager.held()

    def get_server_port(self):
        return self.manager.address[1]

    def exist_tasks(self):
        return self.exist_tasks_intra_signal.shm.buf[0] == 1

    def put_tasks(self, tasks):
        while not self.held.put(tasks, self.number):
            pass
        self.exist_tasks_intra_signal.shm.buf[0] = 1
        llm_logger.debug("put")

    def get_tasks(self):
        return self.held.get(self.rank)

    def cleanup(self):
        self.manager.shutdown()
"""


@pytest.mark.multiproc
def test_a_checkout_of_fastdeploy_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """With files of the same names and methods that we wrote, which leave a batch readable until the next one."""
    _package(tmp_path, "fastdeploy", {"utils.py": "raise RuntimeError('paddle')\n"})
    files = {"engine_worker_queue.py": _QUEUE, "ipc_signal.py": _SIGNAL}
    _package(tmp_path / "fastdeploy", "inter_communicator", files)
    monkeypatch.setenv("BENCH_PEERS", every.__file__)
    monkeypatch.setenv("FASTDEPLOY_PATH", str(tmp_path))
    with Stage(fastdeploy_queue.FastDeploy.name, 2, 4096) as stage:
        assert "FASTDEPLOY_PATH" in stage.about
        for load in ("back", "flow"):
            found = stage.run(load, 4096, 5)
            assert (found["wrong"], found["faults"], found["checked"]) == (0, [], 10)
        assert stage.idle(0.02)["helpers"] >= 0
    assert not list(Path("/dev/shm").glob("bench_exist_tasks.*"))
    assert "leaked" not in capfd.readouterr().err


def test_every_subject_says_what_it_is() -> None:
    for subject in every.SUBJECTS:
        assert isinstance(subject, Subject)
        assert len(subject.about()) > 80
        assert not subject.about().endswith(".")
