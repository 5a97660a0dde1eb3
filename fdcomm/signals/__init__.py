"""Signals: arrays in shared memory that processes find by name."""

from __future__ import annotations

from fdcomm.signals.ipc_signal import IPCSignal, shared_memory_exists

__all__ = ("IPCSignal", "shared_memory_exists")
