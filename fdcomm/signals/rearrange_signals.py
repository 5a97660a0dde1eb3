"""The part of the catalogue that belongs to the rearrangement of a model's experts."""

from __future__ import annotations

from typing import Final

from fdcomm.signals.declaration import Declaration, Role, Suffix
from fdcomm.status_constants import RearrangeExpertStatus

__all__ = ("REARRANGE",)

_EPLB_ROLES: Final[tuple[Role, ...]] = ("engine_client", "experts_manager", "worker")


def _eplb(
    name: str,
    attribute: tuple[str, ...],
    suffix: Suffix,
    meaning: str,
    *,
    shape: tuple[int | str, ...] = (1,),
    writers: tuple[Role, ...] = _EPLB_ROLES,
    readers: tuple[Role, ...] = _EPLB_ROLES,
    dtype: str | None = "int32",
) -> Declaration:
    codes = RearrangeExpertStatus if name == "rearrange_experts_status" else None
    return Declaration(name, attribute, suffix, shape, "engine", writers, readers, meaning, "eplb", dtype, codes)


_EXPERTS: Final = ("num_layers", "num_experts")

REARRANGE: Final = (
    _eplb("rearrange_experts_status", ("rearrange_experts_signal",), Suffix.PORT_DP, "State of the rearrangement."),
    _eplb(
        "rearrange_experts_ips_size",
        ("rearrange_experts_ips_size_signal",),
        Suffix.PORT_DP,
        "Bytes of the address list that are valid; not 0 means: asked for.",
        writers=("engine_client", "experts_manager"),
        readers=("experts_manager",),
    ),
    _eplb(
        "rearrange_experts_ips_list",
        ("shm_rearrange_experts_ips_list",),
        Suffix.PORT_DP,
        "Addresses of the replicas, text.",
        shape=("ips_bytes",),
        writers=("engine_client",),
        readers=("experts_manager",),
        dtype=None,
    ),
    _eplb(
        "signal_update_weight_from_tensor",
        ("signal_update_weight_from_tensor_array",),
        Suffix.PORT_DP,
        "1: the workers are to take over the new weights.",
        writers=("engine_client", "experts_manager", "worker"),
        readers=("worker",),
    ),
    _eplb(
        "signal_update_weight_from_disk",
        ("signal_update_weight_from_disk_array",),
        Suffix.PORT_DP_TP,
        "1: the rank is to load the new weights.",
        writers=("engine_client", "experts_manager"),
        readers=("experts_manager",),
    ),
    _eplb(
        "result_update_weight_from_disk",
        ("update_weight_from_disk_result",),
        Suffix.PORT_DP_TP,
        "How the rank's load ended: 1 well, -1 badly, 0 not yet.",
        writers=("experts_manager",),
        readers=("engine_client", "experts_manager"),
    ),
    _eplb(
        "all_experts_token_stats",
        ("shm_all_experts_token_stats",),
        Suffix.PORT_DP_TP,
        "Tokens that each expert of each layer got, of all replicas.",
        shape=_EXPERTS,
        writers=("engine_client",),
        readers=("experts_manager",),
    ),
    _eplb(
        "local_experts_token_stats",
        ("local_experts_token_stats_array",),
        Suffix.PORT_DP_TP,
        "Tokens that each expert of each layer got, of this rank.",
        shape=_EXPERTS,
        writers=("worker",),
        readers=("engine_client",),
    ),
    _eplb(
        "signal_clear_experts_token_stats",
        ("signal_clear_experts_token_stats",),
        Suffix.PORT_DP_TP,
        "1: the rank is to set its statistics to 0.",
        writers=("engine_client", "worker"),
        readers=("worker",),
    ),
)
