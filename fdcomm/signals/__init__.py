"""Signals: arrays in shared memory that processes find by name."""

from __future__ import annotations

from fdcomm.signals.declaration import FEATURES, ROLES, Feature, Role
from fdcomm.signals.ipc_signal import IPCSignal, shared_memory_exists

__all__ = ("FEATURES", "ROLES", "Feature", "IPCSignal", "Role", "shared_memory_exists")
