"""The signals of an engine's processes, made and attached by role: in one process, and in several."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from fdcomm.errors import ClosedError, ConfigError, SignalMismatchError, SignalNotFoundError
from fdcomm.signals.catalogue import held_by
from fdcomm.signals.declaration import FEATURES, ROLES, Role
from fdcomm.signals.signal_set import SignalSet

EVERYTHING = {
    "features": FEATURES,
    "device": 3,
    "max_num_seqs": 4,
    "num_layers": 2,
    "num_experts": 6,
}
LIMIT_S = 60


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path)
    assert not os.listdir(tmp_path), "signals are left"


def test_all_roles_of_an_engine_find_each_other(directory: str) -> None:
    with SignalSet.create("engine", 2, suffix=9923, directory=directory, **EVERYTHING) as engine:  # type: ignore[arg-type]
        others: list[SignalSet] = []
        for role in ("prefix_cache", *(role for role in ROLES if role not in ("engine", "prefix_cache"))):
            others.append(SignalSet.create(role, 2, suffix=9923, directory=directory, timeout=0, **EVERYTHING))  # type: ignore[arg-type]
            assert len(others[-1]) == sum(2 if "tp<r>" in d.suffix.value else 1 for d in held_by(role))
        for one in others:
            for name, rank in one:
                for other in [engine, *others]:
                    if (name, rank) in set(other) and one.of(name, rank).value is not None:
                        one.of(name, rank).value.flat[-1] = 77  # type: ignore[union-attr]
                        assert other.of(name, rank).value.flat[-1] == 77  # type: ignore[union-attr]
        for one in reversed(others):
            one.close()
        assert len(os.listdir(directory)) == len(engine)


def test_names_of_attributes_are_found_too(directory: str) -> None:
    with SignalSet.create("engine", 1, suffix=7, directory=directory) as engine:
        assert engine["kv_cache_status_signal"] is engine["kv_cache_status"]
        with pytest.raises(ConfigError, match="does not hold result_update_weight_from_disk"):
            engine["update_weight_from_disk_result"]
    with pytest.raises(ClosedError):
        engine["kv_cache_status"]


def test_a_signal_of_each_rank_is_asked_for_with_its_rank(directory: str) -> None:
    with SignalSet.create("engine", 2, suffix=7, directory=directory, **EVERYTHING) as engine:  # type: ignore[arg-type]
        assert engine.of("all_experts_token_stats", 0) is not engine.of("all_experts_token_stats", 1)
        with pytest.raises(ConfigError, match=r"tp_rank=0, 1; tp_rank=None"):
            engine["all_experts_token_stats"]
        with pytest.raises(ConfigError, match=r"tp_rank=None; tp_rank=1"):
            engine.of("kv_cache_status", 1)


def test_processes_that_do_not_agree_on_a_size_are_told(directory: str) -> None:
    with (
        SignalSet.create("engine", 4, suffix=9923, directory=directory),
        pytest.raises(SignalMismatchError, match="worker_healthy_live_signal"),
    ):
        SignalSet.create("worker", 2, suffix=9923, directory=directory)


def test_what_nobody_has_made_is_named(directory: str) -> None:
    with pytest.raises(SignalNotFoundError, match=r"loaded_model_signal\.9923 \(made by engine\)"):
        SignalSet.create("async_llm", 2, suffix=9923, directory=directory, timeout=0)


def test_a_set_that_cannot_be_completed_leaves_nothing(directory: str) -> None:
    with pytest.raises(SignalNotFoundError, match=r"cache_ready_signal"):
        SignalSet.create("prefix_cache", 2, suffix=9923, directory=directory, timeout=0)


@pytest.mark.parametrize(
    ("role", "changes", "text"),
    [
        ("driver", {}, "role='driver'"),
        ("worker", {"features": ("core", "gpu")}, "'gpu'"),
        ("worker", {"suffix": [1, 2]}, "2 ports for dp_size=1"),
        ("worker", {"dp_size": 2, "suffix": 1}, "ports of all replicas"),
        ("worker", {"dp_size": 2, "suffix": [1, 2], "dp_rank": 2}, "dp_rank=2"),
        ("engine", {"features": ("eplb",)}, "num_layers"),
        ("worker", {"features": ("layerwise",)}, "device"),
    ],
)
def test_wrong_arguments(directory: str, role: Role, changes: dict[str, object], text: str) -> None:
    arguments: dict[str, object] = {"suffix": 9923, "timeout": 0, "directory": directory, **changes}
    with pytest.raises(ConfigError, match=text):
        SignalSet.create(role, 2, **arguments)  # type: ignore[arg-type]


def test_replicas_share_what_belongs_to_the_engine(directory: str) -> None:
    def one(role: Role, dp_rank: int) -> SignalSet:
        return SignalSet.create(role, 2, 2, [9923, 9924], dp_rank=dp_rank, directory=directory, timeout=LIMIT_S)

    with one("engine", 0) as first, one("engine", 1) as second, one("worker", 1) as worker:
        worker["worker_ready_signal"].value[3] = 1  # type: ignore[index]
        assert first["worker_ready_signal"].value[3] == 1  # type: ignore[index]
        worker["exist_task_signal"].value[0] = 1  # type: ignore[index]
        assert second["exist_task_signal"].value[0] == 1  # type: ignore[index]
        assert first["exist_task_signal"].value[0] == 0  # type: ignore[index]


WORKER = """
import sys
from fdcomm.signals.signal_set import SignalSet
directory, rank = sys.argv[1], int(sys.argv[2])
with SignalSet.create("worker", 2, suffix=9923, directory=directory, timeout=60) as signals:
    signals["worker_ready_signal"].value[rank] = 1
    print("ready", flush=True)
    sys.stdin.readline()
"""


def test_workers_that_start_first_wait_for_the_engine(directory: str) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WORKER, directory, str(rank)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with SignalSet.create("engine", 2, suffix=9923, directory=directory) as engine:
                for worker in workers:
                    assert worker.stdout is not None
                    assert worker.stdout.readline() == "ready\n"
                assert list(engine["worker_ready_signal"].value) == [1, 1]  # type: ignore[arg-type]
                made = sorted(os.listdir(directory))
                for worker in workers:
                    worker.communicate("\n", timeout=LIMIT_S)
                    assert worker.returncode == 0
                assert sorted(os.listdir(directory)) == made
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
