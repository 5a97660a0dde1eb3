"""SGLang's shared-memory broadcast: ``BENCH_PEERS=tests/bench/peers/sglang_queue.py python -m tests.bench.path``.

Its own files run, unmodified. Not run are the ``__init__.py`` of the packages ``sglang``, ``sglang.srt.distributed``
and ``sglang.srt.utils``, which import the engine; nothing stands in for anything.
"""

from __future__ import annotations

import importlib
from typing import Any

from tests.bench.peers.message_queue import MessageQueueSubject
from tests.bench.peers.packages import hollow, needs, version

__all__ = ("SUBJECTS", "Sglang")

_HOW = "pip install --no-deps sglang; pip install torch pyzmq psutil"
_CHUNK, _CHUNKS = 1 << 22, 6


class Sglang(MessageQueueSubject):
    """As a group of SGLang's ranks makes it: six slots of 4 MiB; what is larger goes through a socket on loopback."""

    name = "SGLang shm broadcast"

    def check(self) -> None:
        needs(_HOW, "sglang", "torch", "zmq", "psutil")

    def about(self) -> str:
        return (
            f"sglang {version('sglang')} on torch {version('torch')}, without its dependencies; its own files, except "
            "that sglang, sglang.srt.distributed and sglang.srt.utils are packages without their __init__.py. Slots as "
            "its groups of ranks make them: six of 4 MiB, so that a batch of 4 MiB does not fit and takes its socket"
        )

    def load(self) -> None:
        hollow("sglang")
        importlib.import_module("sglang.srt")
        for package in ("sglang.srt.distributed", "sglang.srt.utils"):
            hollow(package)
        self._module = importlib.import_module("sglang.srt.distributed.device_communicators.shm_broadcast")

    def _made(self) -> Any:
        return self._module.MessageQueue(self.ranks, self.ranks, max_chunk_bytes=_CHUNK, max_chunks=_CHUNKS)


SUBJECTS = [Sglang()]
