"""All adapters of this folder: ``BENCH_PEERS=tests/bench/peers/all.py``. What is not installed is left out."""

from __future__ import annotations

from tests.bench.path.subject import Subject
from tests.bench.peers.fastdeploy_queue import FastDeploy
from tests.bench.peers.sglang_queue import Sglang
from tests.bench.peers.vllm_queue import Vllm

__all__ = ("SUBJECTS",)

SUBJECTS: list[Subject] = [FastDeploy(), Vllm(), Sglang()]
