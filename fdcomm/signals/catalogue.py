"""The signals of an engine: FastDeploy's, under its block names, each declared once.

``python -m tests.parity.signals`` writes ``docs/signals.md`` from this table. The exact facts (names, suffixes, dtypes,
shapes) are those of FastDeploy's engine, worker, cache and expert processes, release 2.x.
"""

from __future__ import annotations

from typing import Final

from fdcomm.errors import ConfigError
from fdcomm.signals.declaration import FEATURES, Declaration, Feature, Role, Suffix
from fdcomm.signals.rearrange_signals import REARRANGE
from fdcomm.status_constants import (
    ExistTaskStatus,
    KVCacheStatus,
    ModelWeightsStatus,
    PrefixTreeStatus,
)

__all__ = ("CATALOGUE", "declared", "held_by")

_CORE: Final = (
    Declaration(
        "exist_task_signal",
        ("exist_task_signal",),
        Suffix.PORT,
        (1,),
        "engine",
        ("worker",),
        ("worker",),
        "A batch waits: rank 0 raises it, the last reader lowers it.",
        codes=ExistTaskStatus,
    ),
    Declaration(
        "exist_swapped_task_signal",
        ("exist_swapped_task_signal",),
        Suffix.PORT,
        (1,),
        "engine",
        ("worker",),
        ("engine",),
        "The worker holds requests that were swapped out.",
    ),
    Declaration(
        "exist_prefill_task_signal",
        ("exist_prefill_task_signal",),
        Suffix.PORT,
        (1,),
        "engine",
        ("worker",),
        ("engine", "worker"),
        "The worker runs a prefill.",
    ),
    Declaration(
        "engine_forward_signal",
        ("engine_forward_signal",),
        Suffix.PORT,
        (1,),
        "engine",
        ("worker",),
        ("engine",),
        "1 while the worker is in a forward pass.",
    ),
    Declaration(
        "worker_healthy_live_signal",
        ("worker_healthy_live_signal",),
        Suffix.PORT,
        ("tp_size",),
        "engine",
        ("worker",),
        ("engine", "engine_client", "cache_transfer"),
        "Heartbeat of each rank, its own slot: unix time in seconds.",
    ),
    Declaration(
        "model_weights_status",
        ("model_weights_status_signal", "model_weights_status"),
        Suffix.PORT,
        (1,),
        "engine",
        ("engine_client", "worker"),
        ("engine_client", "worker"),
        "State of the model's weights.",
        codes=ModelWeightsStatus,
    ),
    Declaration(
        "worker_ready_signal",
        ("worker_ready_signal",),
        Suffix.ENGINE,
        ("workers_per_node",),
        "engine",
        ("worker",),
        ("engine",),
        "1 in the slot of each worker process that has started.",
    ),
    Declaration(
        "loaded_model_signal",
        ("loaded_model_signal",),
        Suffix.ENGINE,
        (1,),
        "engine",
        ("worker",),
        ("engine", "async_llm"),
        "1 when the model is loaded.",
    ),
)

_CACHE: Final = (
    Declaration(
        "cache_ready_signal",
        ("cache_ready_signal",),
        Suffix.PORT,
        ("tp_size",),
        "engine",
        ("worker", "cache_transfer", "cache_messager"),
        ("worker", "prefix_cache", "cache_transfer", "cache_messager"),
        "1 in the slot of each rank whose cache is allocated.",
        "cache",
    ),
    Declaration(
        "swap_space_ready_signal",
        ("swap_space_ready_signal",),
        Suffix.PORT,
        ("tp_size",),
        "engine",
        ("cache_transfer",),
        ("prefix_cache", "cache_transfer"),
        "1 in the slot of each rank whose host memory for swapping is allocated.",
        "cache",
    ),
    Declaration(
        "cache_transfer_inited_signal",
        ("cache_transfer_inited_signal",),
        Suffix.PORT,
        ("tp_size",),
        "engine",
        ("cache_transfer",),
        ("prefix_cache",),
        "1 in the slot of each transfer process that has started.",
        "cache",
    ),
    Declaration(
        "prefix_tree_status",
        ("prefix_tree_status_signal",),
        Suffix.PORT,
        (1,),
        "engine",
        ("engine_client", "prefix_cache"),
        ("engine_client", "prefix_cache"),
        "State of the prefix tree.",
        "cache",
        codes=PrefixTreeStatus,
    ),
    Declaration(
        "kv_cache_status",
        ("kv_cache_status_signal", "kv_cache_status"),
        Suffix.PORT,
        (1,),
        "engine",
        ("worker", "cache_transfer"),
        ("engine_client", "worker", "cache_transfer"),
        "State of the key/value cache.",
        "cache",
        codes=KVCacheStatus,
    ),
    Declaration(
        "cache_task_broadcast_signal",
        ("shm_cache_task_flag_broadcast", "cache_task_broadcast_signal"),
        Suffix.PORT,
        (1,),
        "prefix_cache",
        ("cache_transfer",),
        ("cache_transfer",),
        "A transfer task waits: rank 0 raises it, the last reader lowers it.",
        "cache",
    ),
    Declaration(
        "cache_task_is_paused",
        ("cache_task_is_paused_signal",),
        Suffix.PORT,
        (1,),
        "prefix_cache",
        ("cache_transfer",),
        ("cache_transfer",),
        "1 while transfers are paused.",
        "cache",
    ),
    Declaration(
        "cache_task_inflight",
        ("cache_task_inflight_signal",),
        Suffix.PORT,
        ("tp_size",),
        "prefix_cache",
        ("cache_transfer",),
        ("prefix_cache", "cache_transfer"),
        "Number of transfers that each rank runs, its own slot.",
        "cache",
    ),
    Declaration(
        "launched_cache_manager_signal",
        ("launched_cache_manager_signal",),
        Suffix.ENGINE,
        (1,),
        "engine",
        ("engine",),
        ("engine",),
        "1 when the cache processes run.",
        "cache",
    ),
)

_OPTIONAL: Final = (
    Declaration(
        "launched_expert_service_signal",
        ("launched_expert_service_signal",),
        Suffix.ENGINE,
        ("dp_per_node",),
        "engine",
        ("engine",),
        ("engine", "worker"),
        "1 in the slot of each replica whose expert service runs.",
        "expert",
    ),
    Declaration(
        "get_profile_block_num",
        ("get_profile_block_num_signal",),
        Suffix.ENGINE,
        (1,),
        "engine",
        ("worker",),
        ("engine",),
        "Number of cache blocks that fit, measured by the worker.",
        "profile",
    ),
    Declaration(
        "need_block_num_signal",
        ("need_block_num_signal",),
        Suffix.PORT,
        ("max_num_seqs",),
        "engine",
        ("engine",),
        ("engine",),
        "Cache blocks that the request in each batch slot still needs.",
        "scheduler",
    ),
    Declaration(
        "splitwise_complete_prefilled_step_{dp_rank}",
        ("step_shm_value",),
        Suffix.DEVICE,
        (1,),
        None,
        ("worker",),
        ("cache_messager",),
        "Prefill step that the device has reached; -1 before the first.",
        "layerwise",
        initial=-1,
    ),
    Declaration(
        "splitwise_complete_prefilled_layer_{dp_rank}",
        ("layer_shm_value",),
        Suffix.DEVICE,
        (1,),
        None,
        ("worker",),
        ("cache_messager",),
        "Layer of that step that the device has computed; -1 before the first.",
        "layerwise",
        initial=-1,
    ),
)

CATALOGUE: Final[tuple[Declaration, ...]] = _CORE + _CACHE + _OPTIONAL + REARRANGE
"""Every signal. ``exist_tasks_intra_signal`` is not among them: the worker queue makes and keeps it itself."""


def declared(name: str) -> Declaration:
    """Return the signal of that block name, or that a FastDeploy class holds under that attribute name.

    Raises:
        ConfigError: There is none.
    """
    for field in ("name", "attribute"):
        for found in CATALOGUE:
            if name == found.name or (field == "attribute" and name in found.attribute):
                return found
    raise ConfigError(f"{name!r} is no signal of the catalogue: {', '.join(found.name for found in CATALOGUE)}")


def held_by(role: Role, features: tuple[Feature, ...] = FEATURES) -> list[Declaration]:
    """Return the signals that a role holds, of these groups, in the order of the catalogue."""
    return [found for found in CATALOGUE if role in found.roles and found.feature in features]
