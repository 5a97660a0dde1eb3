"""The signals of an engine's processes, made and attached by role: in one process, and in several."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fdcomm.signals
from fdcomm.errors import ClosedError, CommTimeoutError, ConfigError, SignalMismatchError, SignalNotFoundError
from fdcomm.layer_progress import NOTHING, LayerProgress
from fdcomm.runtime import SystemRuntime
from fdcomm.signals.catalogue import held_by
from fdcomm.signals.declaration import FEATURES, ROLES, Role
from fdcomm.signals.files import Files
from fdcomm.signals.signal_set import SignalSet
from tests.unit.signal_folder import descriptors

EVERYTHING = {
    "features": FEATURES,
    "device": 3,
    "max_num_seqs": 4,
    "num_layers": 2,
    "num_experts": 6,
}
LIMIT_S = 60
ROOT = Path(__file__).resolve().parents[2]


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
        with pytest.raises(ConfigError, match=r"ranks 0, 1 .* write of\('all_experts_token_stats', tp_rank\)"):
            engine["all_experts_token_stats"]
        with pytest.raises(ConfigError, match=r"one for all ranks, not one of tp_rank=1"):
            engine.of("kv_cache_status", 1)
        with pytest.raises(ConfigError, match=r"tp_rank=\[\] must be an integer"):
            engine.of("kv_cache_status", [])  # type: ignore[arg-type]


def test_features_may_come_from_an_iterator(directory: str) -> None:
    features: Any = iter(["core", "cache"])
    with SignalSet.create("engine", 1, suffix=7, directory=directory, features=features) as engine:
        assert len(engine) == len(held_by("engine", ("core", "cache")))


def test_the_warning_of_a_second_set_points_at_its_maker(directory: str) -> None:
    with (
        SignalSet.create("engine", 1, suffix=7, directory=directory),
        pytest.warns(RuntimeWarning, match="already") as caught,
        SignalSet.create("engine", 1, suffix=7, directory=directory),
    ):
        pass
    assert {warning.filename for warning in caught} == {__file__}


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
        ("worker", {"suffix": None}, "suffix=None is no port"),
        ("worker", {"dp_size": 2, "suffix": 1}, "ports of all replicas"),
        ("worker", {"dp_size": 2, "suffix": [1, 2], "dp_rank": 2}, "dp_rank=2"),
        ("worker", {"dp_size": 2, "suffix": [1, 2], "dp_rank": "0"}, "dp_rank='0'"),
        ("worker", {"dp_size": 2, "suffix": [1, 2], "dp_rank": None}, "dp_rank=None"),
        ("worker", {"dp_size": 2, "suffix": [7, "7"]}, "has a port twice"),
        ("worker", {"suffix": [None]}, "no list of ports"),
        ("worker", {"suffix": b"a"}, "no list of ports"),
        ("worker", {"suffix": True}, "suffix=True is no port"),
        ("worker", {"engine_suffix": [1]}, r"engine=\[1\]"),
        ("worker", {"features": None}, "features=None must be a list"),
        ("worker", {"features": "core"}, "features='core' must be a list"),
        ("worker", {"features": [["core"]]}, r"features has \['core'\]"),
        ("worker", {"features": ("layerwise",), "device": 1.5}, "device=1.5"),
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


def test_what_the_device_has_made_is_attached(directory: str) -> None:
    made = [f"splitwise_complete_prefilled_{what}_0.3" for what in ("step", "layer")]
    for name in made:
        Path(directory, name).write_bytes((41).to_bytes(4, sys.byteorder))
    with SignalSet.create(
        "cache_messager", 1, suffix=7, features=("layerwise",), device=3, directory=directory
    ) as signals:
        assert signals["step_shm_value"].value[0] == signals["layer_shm_value"].value[0] == 41  # type: ignore[index]
    for name in made:  # not ours to remove
        Path(directory, name).unlink()


def test_of_two_that_may_make_a_signal_the_first_does(directory: str) -> None:
    def one(role: Role) -> SignalSet:
        return SignalSet.create(role, 1, suffix=7, features=("layerwise",), device=3, directory=directory)

    with one("worker") as worker, one("cache_messager") as messager:
        worker["step_shm_value"].value[0] = 5  # type: ignore[index]
        assert messager["step_shm_value"].value[0] == 5  # type: ignore[index]


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


def test_the_words_of_a_device_say_at_first_that_nothing_is_computed(directory: str) -> None:
    options = {"features": ("layerwise",), "device": 3, "directory": directory}
    with (
        SignalSet.create("worker", 1, suffix=7, **options),  # type: ignore[arg-type]
        LayerProgress(0, 3, foreign=True, timeout=0, directory=directory) as progress,
    ):
        assert progress.read() == NOTHING


def test_the_time_limit_is_also_for_names_that_are_being_changed(directory: str) -> None:
    class Simulated(SystemRuntime):
        now = 0.0

        def monotonic(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    busy, runtime = Files(directory), Simulated()
    assert busy.lock(busy.open_directory())
    with pytest.raises(CommTimeoutError, match="changing a signal's name"):
        SignalSet.create("engine", 1, suffix=7, directory=directory, timeout=5.0, runtime=runtime)
    assert 5.0 <= runtime.now < 7.0
    busy.abandon()
    signals = SignalSet.create("engine", 1, suffix=7, directory=directory, runtime=runtime)
    busy = Files(directory)
    assert busy.lock(busy.open_directory())
    before = runtime.now
    with pytest.raises(CommTimeoutError, match="changing a signal's name"):
        signals.close(timeout=5.0)
    assert 5.0 <= runtime.now - before < 7.0, "the limit is for all signals together"
    busy.abandon()
    signals.close()


def test_roles_and_features_are_where_the_page_says() -> None:
    assert (fdcomm.signals.ROLES, fdcomm.signals.FEATURES) == (ROLES, FEATURES)


@pytest.mark.parametrize("ranks", [2, 4])
def test_what_a_killed_engine_has_left_is_waited_for_anew(directory: str, ranks: int) -> None:
    program = (
        "import os, sys; from fdcomm import SignalSet; "
        f"kept = SignalSet.create('engine', {ranks}, suffix=7, directory=sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", program, directory], cwd=ROOT, timeout=LIMIT_S, check=False)
    assert done.returncode == -9
    before = descriptors()
    with pytest.raises(SignalNotFoundError, match=r"no live process has made exist_task_signal\.7 \(made by engine\)"):
        SignalSet.create("worker", 2, suffix=7, directory=directory, timeout=0)
    assert descriptors() == before
    with (
        SignalSet.create("engine", 2, suffix=7, directory=directory) as engine,
        SignalSet.create("worker", 2, suffix=7, directory=directory, timeout=0) as worker,
    ):
        engine["worker_ready_signal"].value[1] = 1  # type: ignore[index]
        assert worker["worker_ready_signal"].value.tolist() == [0, 1]  # type: ignore[union-attr]
