"""State codes of FastDeploy's signals, under its names and values. Plain ints: they are stored in shared words."""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ("ExistTaskStatus", "KVCacheStatus", "ModelWeightsStatus", "PrefixTreeStatus", "RearrangeExpertStatus")


class ModelWeightsStatus:
    """Of ``model_weights_status``."""

    NORMAL: Final = 0
    UPDATING: Final = 1
    CLEARING: Final = -1
    CLEARED: Final = -2


class PrefixTreeStatus:
    """Of ``prefix_tree_status``."""

    NORMAL: Final = 0
    UPDATING: Final = 1
    CLEARING: Final = -1
    CLEARED: Final = -2


class KVCacheStatus:
    """Of ``kv_cache_status``."""

    NORMAL: Final = 0
    UPDATING: Final = 1
    CLEARING: Final = -1
    CLEARED: Final = -2


class ExistTaskStatus:
    """Of ``exist_task_signal``."""

    EMPTY: Final = 0
    EXIST: Final = 1
    REFUSE: Final = 2


class RearrangeExpertStatus(Enum):
    """Of ``rearrange_experts_status``. An enum, as in FastDeploy: callers take ``.value``."""

    FREE = 0
    DOING = 1
    LOAD_SUCC = 2
    DONE = 3
