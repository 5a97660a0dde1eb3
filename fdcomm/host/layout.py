"""Which protocols a host runs for each kind of queue, and in which groups the named barriers stand."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

__all__ = ("BARRIER_GROUPS", "BROADCASTS", "CONTROLS", "FIFOS", "GATES", "NOTES", "WITHOUT", "Kind", "barrier_channel")

Kind: TypeAlias = Literal["worker", "cache"]

# Channels that hand each item to every rank. The first is the queue's main one: `depth` and `role` are about it.
BROADCASTS: Final[dict[str, tuple[str, ...]]] = {
    "worker": ("dispatch", "cache_info", "connect"),
    "cache": ("bitmask",),
}

# What a channel of dispatch's steps does not have: ``without_actions`` of its contract.
WITHOUT: Final[dict[str, frozenset[str]]] = {
    "bitmask": frozenset({"set_exist_tasks"}),
    "cache_info": frozenset({"set_exist_tasks", "clear_data"}),
    "connect": frozenset({"set_exist_tasks", "clear_data"}),
}

# Channels in which every rank answers and the engine collects.
GATES: Final[dict[str, tuple[str, ...]]] = {
    "worker": ("connect_response", "add_cache", "send_cache"),
    "cache": (),
}

# Plain queues.
FIFOS: Final[dict[str, tuple[str, ...]]] = {"worker": ("disaggregate",), "cache": ("done",)}

# Numbers that the callers own.
NOTES: Final[dict[str, tuple[str, ...]]] = {"worker": ("read_finish_flag",), "cache": ()}

# Control protocols.
CONTROLS: Final[dict[str, tuple[str, ...]]] = {
    "worker": ("control", "status", "rearrange", "readiness"),
    "cache": ("control", "pause", "readiness", "transfer"),
}

# A group holds barriers that one thread of each rank uses in turn: a rank has one wait in a group at a time, and when
# all ranks wait at different barriers of a group they are told that none of them can go on. Barriers that different
# threads of a rank may use are in different groups, so that neither can disturb the other.
BARRIER_GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "worker": {
        "tp": ("worker_process_tp_barrier",),
        "request": ("finish_request_barrier",),
        "connect_task": ("connect_task_barrier", "connect_task_response_barrier"),
        "send_cache": ("begin_send_cache_barrier", "finish_send_cache_barrier"),
        "cache_info": ("cache_info_barrier",),
        "add_cache": ("finish_add_cache_task_barrier",),
    },
    "cache": {
        "common": ("barrier",),
        "loop": ("barrier0", "barrier1", "barrier2", "barrier3"),
        "pause": ("pause_barrier",),
        "resume": ("resume_barrier",),
        "to_cpu": ("swap_to_cpu_barrier1", "swap_to_cpu_barrier2"),
        "to_gpu": ("swap_to_gpu_barrier1", "swap_to_gpu_barrier2"),
        "from_storage": ("swap_storage_to_gpu_barrier",),
        "to_storage": ("swap_to_storage_barrier",),
    },
}


def barrier_channel(kind: str, barrier: str) -> tuple[str, int]:
    """Return the channel of a named barrier's group, and its place in the group."""
    group, names = next(found for found in BARRIER_GROUPS[kind].items() if barrier in found[1])
    return f"barriers.{group}", names.index(barrier)
