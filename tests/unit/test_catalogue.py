"""The catalogue of signals: complete, without contradiction, and its names never meet."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fdcomm import status_constants
from fdcomm.errors import ConfigError
from fdcomm.signals.catalogue import CATALOGUE, declared, held_by
from fdcomm.signals.declaration import FEATURES, ROLES, Declaration, Topology
from tests.parity.signals import PAGE, page

# The names of FastDeploy's overview of its signals, as it lists them by process, with the length that it gives.
NAMED = {
    "exist_task_signal": (1,),
    "exist_swapped_task_signal": (1,),
    "exist_prefill_task_signal": (1,),
    "engine_forward_signal": (1,),
    "worker_healthy_live_signal": (2,),
    "cache_ready_signal": (2,),
    "swap_space_ready_signal": (2,),
    "cache_transfer_inited_signal": (2,),
    "model_weights_status_signal": (1,),
    "prefix_tree_status_signal": (1,),
    "kv_cache_status_signal": (1,),
    "worker_ready_signal": (6,),
    "launched_cache_manager_signal": (1,),
    "launched_expert_service_signal": (3,),
    "loaded_model_signal": (1,),
    "get_profile_block_num_signal": (1,),
    "signal_update_weight_from_tensor_array": (1,),
    "rearrange_experts_signal": (1,),
    "local_experts_token_stats_array": (5, 7),
    "signal_clear_experts_token_stats": (1,),
    "shm_cache_task_flag_broadcast": (1,),
    "cache_task_is_paused_signal": (1,),
    "cache_task_inflight_signal": (2,),
    "cache_task_broadcast_signal": (1,),
    "rearrange_experts_ips_size_signal": (1,),
    "signal_update_weight_from_disk_array": (1,),
    "shm_all_experts_token_stats": (5, 7),
    "update_weight_from_disk_result": (1,),
    "need_block_num_signal": (9,),
    "step_shm_value": (1,),
    "layer_shm_value": (1,),
    "model_weights_status": (1,),
    "kv_cache_status": (1,),
}


def topology(**changes: object) -> Topology:
    facts: dict[str, object] = {
        "tp_size": 2,
        "dp_size": 3,
        "dp_rank": 0,
        "port": 9923,
        "engine": 9900,
        "device": 4,
        "max_num_seqs": 9,
        "num_layers": 5,
        "num_experts": 7,
    }
    return Topology(**{**facts, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMED)
def test_every_named_signal_is_declared_with_its_shape(name: str) -> None:
    template = declared(name).template(topology())
    assert template is not None
    assert (template.shape, template.dtype) == (NAMED[name], np.dtype(np.int32))
    # -1: FastDeploy's messager writes it into the device's words at first.
    assert set(template.flat) == {-1 if name in ("step_shm_value", "layer_shm_value") else 0}


def test_the_list_of_names_covers_the_catalogue() -> None:
    bytes_only = {"rearrange_experts_ips_list"}
    assert {declared(name).name for name in NAMED} == {decl.name for decl in CATALOGUE} - bytes_only


def test_raw_bytes_have_a_size_and_no_array() -> None:
    raw = declared("shm_rearrange_experts_ips_list")
    assert raw.template(topology(ips_bytes=321)) is None
    assert raw.size(topology(ips_bytes=321)) == 321
    assert declared("all_experts_token_stats").size(topology()) == 5 * 7 * 4


def test_no_name_stands_for_two_signals() -> None:
    names = [name for decl in CATALOGUE for name in {decl.name, *decl.attribute}]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("decl", CATALOGUE, ids=lambda decl: decl.name)
def test_every_signal_has_somebody_at_both_ends(decl: Declaration) -> None:
    assert decl.writers
    assert decl.readers
    assert set(decl.roles) <= set(ROLES)
    assert decl.feature in FEATURES
    assert decl.meaning.endswith(".")


def segments(one: Topology) -> set[str]:
    return {f"{d.block(one)}.{d.suffix_of(one, rank)}" for d in CATALOGUE for rank in d.ranks(one)}


def test_signals_of_one_replica_have_a_segment_each() -> None:
    one = topology()
    assert len(segments(one)) == sum(len(decl.ranks(one)) for decl in CATALOGUE)


def test_two_replicas_share_only_what_belongs_to_the_engine() -> None:
    zero, one = topology(), topology(dp_rank=1, port=9924, device=5)
    shared = segments(zero) & segments(one)
    assert shared == {f"{d.name}.9900" for d in CATALOGUE if d.suffix.value == "E"}


def test_two_engines_share_nothing() -> None:
    engines = [topology(port=port, engine=port, device=port, dp_rank=0) for port in (9923, 9933, "9923_1")]
    for first, second in itertools.combinations(engines, 2):
        assert not segments(first) & segments(second)


def test_every_role_holds_something() -> None:
    for role in ROLES:
        assert held_by(role)
    assert [decl.name for decl in held_by("async_llm")] == ["loaded_model_signal"]
    assert not held_by("experts_manager", ("core", "cache"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"tp_size": 0}, "tp_size=0"),
        ({"tp_size": True}, "tp_size=True"),
        ({"dp_rank": 3}, "dp_rank=3"),
        ({"nodes": 2}, "nodes=2"),
        ({"num_layers": -1}, "num_layers=-1"),
    ],
)
def test_wrong_numbers_are_refused(changes: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        topology(**changes)


def test_a_number_that_is_missing_is_asked_for() -> None:
    with pytest.raises(ConfigError, match="max_num_seqs is needed"):
        declared("need_block_num_signal").template(topology(max_num_seqs=None))
    with pytest.raises(ConfigError, match="device="):
        declared("step_shm_value").suffix_of(topology(device=None))
    with pytest.raises(ConfigError, match="no signal of the catalogue"):
        declared("exist_tasks")


def test_the_page_is_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.parity.signals"


@pytest.mark.parametrize("name", status_constants.__all__)
def test_codes_are_numbers(name: str) -> None:
    codes = getattr(status_constants, name)
    word = np.zeros(1, np.int32)
    for code in codes:
        word[0] = code
        assert word[0] == code == int(code) == code.value
        assert str(code) == f"{code}" == str(int(code))
