"""State codes of FastDeploy's signals, under its names and values.

Members are ints (they are stored in shared words and compared with what is read there) and print as numbers on every
supported Python; ``.name`` is the word for people.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ("ExistTaskStatus", "KVCacheStatus", "ModelWeightsStatus", "PrefixTreeStatus", "RearrangeExpertStatus")


class _Code(IntEnum):
    def __str__(self) -> str:
        return int.__repr__(self.value)

    def __format__(self, spec: str) -> str:
        return int.__format__(self.value, spec)


class ModelWeightsStatus(_Code):
    """Of ``model_weights_status``."""

    NORMAL = 0
    UPDATING = 1
    CLEARING = -1
    CLEARED = -2


class PrefixTreeStatus(_Code):
    """Of ``prefix_tree_status``."""

    NORMAL = 0
    UPDATING = 1
    CLEARING = -1
    CLEARED = -2


class KVCacheStatus(_Code):
    """Of ``kv_cache_status``."""

    NORMAL = 0
    UPDATING = 1
    CLEARING = -1
    CLEARED = -2


class ExistTaskStatus(_Code):
    """Of ``exist_task_signal``."""

    EMPTY = 0
    EXIST = 1
    REFUSE = 2


class RearrangeExpertStatus(_Code):
    """Of ``rearrange_experts_status``."""

    FREE = 0
    DOING = 1
    LOAD_SUCC = 2
    DONE = 3
