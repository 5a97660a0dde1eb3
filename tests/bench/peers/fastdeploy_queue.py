"""FastDeploy's own EngineWorkerQueue: ``BENCH_PEERS=tests/bench/peers/fastdeploy_queue.py``, ``FASTDEPLOY_PATH`` set.

``FASTDEPLOY_PATH`` is the folder of a checkout of FastDeploy: no package index has it. Of it run, unmodified,
``fastdeploy/inter_communicator/engine_worker_queue.py`` and ``ipc_signal.py``. Stand-ins: ``fastdeploy.envs`` has the
two switches that the queue reads, with their defaults; ``fastdeploy.utils``, which imports paddle, has a logger and no
``to_tensor``. The ``__init__.py`` of both packages do not run.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import time
from multiprocessing import get_context, resource_tracker
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.bench.path.board import die_with_parent
from tests.bench.path.subject import Batch, Get, Missing, Subject
from tests.bench.peers.packages import hollow

__all__ = ("POLL_S", "SUBJECTS", "FastDeploy")

POLL_S = 0.001
"""Between two looks of a worker that has nothing to do."""

_FILES = ("engine_worker_queue.py", "ipc_signal.py")


class FastDeploy(Subject):
    """One machine, TCP on loopback, the exist flag in shared memory, as by default.

    A worker's loop has a barrier of its ranks, so that none reads a batch twice. Here the number of puts keeps a
    reader from looking too early, and a batch that it has had already is taken again later: that favours FastDeploy,
    which pays for no barrier.
    """

    name = "FastDeploy EngineWorkerQueue"
    _server: Any = None
    _queue: Any = None

    def check(self) -> None:
        folder = os.environ.get("FASTDEPLOY_PATH", "")
        here = Path(folder, "fastdeploy", "inter_communicator")
        if not folder or not all((here / file).is_file() for file in _FILES):
            raise Missing(f"FASTDEPLOY_PATH={folder!r} is no checkout of FastDeploy with {' and '.join(_FILES)}")

    def about(self) -> str:
        return (
            "engine_worker_queue.py and ipc_signal.py of FASTDEPLOY_PATH; stand-ins for fastdeploy.envs (defaults) and "
            f"fastdeploy.utils (a logger). Readers look each {1e3 * POLL_S:g} ms, as its workers; the barrier of a "
            "worker's loop is left out. It formats each batch for its log, whether that is written or not"
        )

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        self._puts = get_context("fork").RawValue("q", 0)

    def load(self) -> None:
        hollow("fastdeploy", path=os.environ["FASTDEPLOY_PATH"])
        hollow("fastdeploy.inter_communicator")
        envs, utils = ModuleType("fastdeploy.envs"), ModuleType("fastdeploy.utils")
        envs.FD_ENABLE_MAX_PREFILL = envs.FD_ENABLE_E2W_TENSOR_CONVERT = 0  # type: ignore[attr-defined]
        utils.llm_logger, utils.to_tensor = logging.getLogger("fastdeploy"), None  # type: ignore[attr-defined]
        for module in (envs, utils):
            sys.modules[module.__name__] = module
            setattr(sys.modules["fastdeploy"], module.__name__.rpartition(".")[2], module)
        self._module = importlib.import_module("fastdeploy.inter_communicator.engine_worker_queue")

    def open_writer(self) -> int:
        os.register_at_fork(after_in_child=die_with_parent)  # its manager must not outlive a writer that is killed
        make = self._module.EngineWorkerQueue
        self._server = make(("0.0.0.0", 0), is_server=True, num_client=self.ranks)
        port: int = self._server.get_server_port()
        self._queue = make(("0.0.0.0", port), num_client=self.ranks, client_id=0)
        return port

    def open_reader(self, rank: int, orders: Any) -> Get:
        make = self._module.EngineWorkerQueue
        self._queue = queue = make(("0.0.0.0", orders), num_client=self.ranks, client_id=rank)
        # Whoever attaches is made its owner, too, who unlinks it in the end and complains: that is the server's.
        resource_tracker.unregister(queue.exist_tasks_intra_signal.shm._name, "shared_memory")
        puts, taken, last = self._puts, 0, -1

        def get() -> Batch:
            nonlocal taken, last
            while True:
                while puts.value <= taken or not queue.exist_tasks():
                    time.sleep(POLL_S)
                tasks = queue.get_tasks()[0]
                if tasks and tasks[0][1] != last:
                    taken, last = taken + 1, tasks[0][1]
                    return tasks[0][0][0]  # type: ignore[no-any-return]
                time.sleep(POLL_S)

        return get

    def put(self, batch: Batch) -> None:
        self._puts.value += 1
        self._queue.put_tasks(([batch], batch[0]["number"]))

    def helpers(self) -> list[int]:
        return [self._server.manager._process.pid]

    def close(self) -> None:
        if self._server is not None:
            self._server.exist_tasks_intra_signal.clear()
            self._server.cleanup()


SUBJECTS = [FastDeploy()]
