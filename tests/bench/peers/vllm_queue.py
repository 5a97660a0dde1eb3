"""vLLM's MessageQueue as a subject: ``BENCH_PEERS=tests/bench/peers/vllm_queue.py python -m tests.bench.path``.

Its own files run, unmodified. Not run are the ``__init__.py`` of the packages ``vllm``, ``vllm.distributed`` and
``vllm.platforms``, which import the engine; ``current_platform``, which the queue's file asks for and local readers
never use, is None.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from tests.bench.path.subject import Get
from tests.bench.peers.message_queue import MessageQueueSubject
from tests.bench.peers.packages import hollow, needs, version

__all__ = ("SUBJECTS", "Vllm")

_HOW = "pip install --no-deps vllm; pip install torch pyzmq psutil regex urllib3"


class Vllm(MessageQueueSubject):
    """As the executor of vLLM makes it: N readers of one machine, ten slots, ``VLLM_MQ_MAX_CHUNK_BYTES_MB`` each.

    A reader that has waited for a second sleeps until the writer's next notification; until then it looks and yields.
    """

    name = "vLLM MessageQueue"

    def check(self) -> None:
        needs(_HOW, "vllm", "torch", "zmq", "psutil", "regex", "urllib3")

    def about(self) -> str:
        return (
            f"vllm {version('vllm')} on torch {version('torch')}, without its dependencies; its own files, except that "
            "vllm, vllm.distributed and vllm.platforms are packages without their __init__.py. Slots as its executor's:"
            " ten, VLLM_MQ_MAX_CHUNK_BYTES_MB (16 MiB) each. A reader sleeps after a second without a batch"
        )

    def start(self, ranks: int, largest: int) -> None:
        os.environ["VLLM_RPC_BASE_PATH"] = self.folder  # for its sockets
        os.environ.setdefault("VLLM_CONFIGURE_LOGGING", "0")
        super().start(ranks, largest)

    def load(self) -> None:
        for package in ("vllm", "vllm.distributed"):
            hollow(package)
        hollow("vllm.platforms").current_platform = None  # type: ignore[attr-defined]
        self._module = importlib.import_module("vllm.distributed.device_communicators.shm_broadcast")

    def _made(self) -> Any:
        chunk = self._module.envs.VLLM_MQ_MAX_CHUNK_BYTES_MB * 1024 * 1024
        return self._module.MessageQueue(self.ranks, self.ranks, max_chunk_bytes=chunk)

    def _take(self) -> Get:
        dequeue = self._queue.dequeue
        return lambda: dequeue(indefinite=True)  # as its workers do

    def _let_go(self, queue: Any) -> None:
        condition = queue._spin_condition
        for name in ("local_notify_socket", "read_cancel_socket", "write_cancel_socket"):
            if (socket := getattr(condition, name)) is not None:
                socket.close(0)


SUBJECTS = [Vllm()]
