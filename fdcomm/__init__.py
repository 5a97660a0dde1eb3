"""fdcomm: verified inter-process communication for LLM inference engines."""

from __future__ import annotations

from fdcomm.cache_queue import EngineCacheQueue
from fdcomm.deadline import DEFAULT
from fdcomm.errors import (
    AddressInUseError,
    AuthError,
    BarrierBrokenError,
    BarrierMismatchError,
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
    InconsistentAnswersError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
    ReadOnlyError,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
    SignalNameError,
    SignalNotFoundError,
    SignalReplacedError,
    SignalSpaceError,
    StaleAnswerError,
    UnsafeConfigError,
)
from fdcomm.signals.ipc_signal import IPCSignal, shared_memory_exists
from fdcomm.stats import DispatchStatistics
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = (
    "DEFAULT",
    "AddressInUseError",
    "AuthError",
    "BarrierBrokenError",
    "BarrierMismatchError",
    "ClosedError",
    "CommTimeoutError",
    "ConfigError",
    "DispatchStatistics",
    "DuplicateRankError",
    "EngineCacheQueue",
    "EngineWorkerQueue",
    "FdcommError",
    "FencedError",
    "ForkedHandleError",
    "HostLostError",
    "HostNotFoundError",
    "HostStartError",
    "IPCSignal",
    "InconsistentAnswersError",
    "PayloadError",
    "PayloadTooLargeError",
    "PeerLostError",
    "ProtocolViolationError",
    "RankError",
    "ReadOnlyError",
    "SignalError",
    "SignalInUseError",
    "SignalMismatchError",
    "SignalNameError",
    "SignalNotFoundError",
    "SignalReplacedError",
    "SignalSpaceError",
    "StaleAnswerError",
    "UnsafeConfigError",
    "__version__",
    "shared_memory_exists",
)

__version__ = "0.1.0"
