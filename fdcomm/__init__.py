"""fdcomm: verified inter-process communication for LLM inference engines."""

from __future__ import annotations

from fdcomm.deadline import DEFAULT
from fdcomm.errors import (
    AddressInUseError,
    AuthError,
    ClosedError,
    CommTimeoutError,
    ConfigError,
    DuplicateRankError,
    FdcommError,
    FencedError,
    ForkedHandleError,
    HostLostError,
    HostNotFoundError,
    HostStartError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
    UnsafeConfigError,
)
from fdcomm.stats import DispatchStatistics
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = (
    "DEFAULT",
    "AddressInUseError",
    "AuthError",
    "ClosedError",
    "CommTimeoutError",
    "ConfigError",
    "DispatchStatistics",
    "DuplicateRankError",
    "EngineWorkerQueue",
    "FdcommError",
    "FencedError",
    "ForkedHandleError",
    "HostLostError",
    "HostNotFoundError",
    "HostStartError",
    "PayloadError",
    "PayloadTooLargeError",
    "PeerLostError",
    "ProtocolViolationError",
    "RankError",
    "UnsafeConfigError",
    "__version__",
)

__version__ = "0.1.0"
