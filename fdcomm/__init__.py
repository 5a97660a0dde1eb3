"""fdcomm: verified inter-process communication for LLM inference engines."""

from __future__ import annotations

from fdcomm.cache_queue import EngineCacheQueue
from fdcomm.deadline import DEFAULT
from fdcomm.errors import (
    AddressInUseError,
    AuthError,
    BarrierBrokenError,
    BarrierMismatchError,
    CacheInfoMissingError,
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
    LayerTimeoutError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
    ReadOnlyError,
    RearrangeBusyError,
    RearrangeEndedError,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
    SignalNameError,
    SignalNotFoundError,
    SignalReplacedError,
    SignalSpaceError,
    SignalTornError,
    StaleAnswerError,
    TaskEndedError,
    UnsafeConfigError,
)
from fdcomm.layerwise import LayerProgress, LayerSender
from fdcomm.rearrange import RearrangeControl, RearrangeOutcome, RearrangeStatus
from fdcomm.signals.ipc_signal import IPCSignal, shared_memory_exists
from fdcomm.signals.lock import IPCLock
from fdcomm.signals.sequenced import SequencedSignal
from fdcomm.signals.signal_set import SignalSet
from fdcomm.signals.word import Word
from fdcomm.stats import DispatchStatistics
from fdcomm.worker_queue import EngineWorkerQueue

__all__ = (
    "DEFAULT",
    "AddressInUseError",
    "AuthError",
    "BarrierBrokenError",
    "BarrierMismatchError",
    "CacheInfoMissingError",
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
    "IPCLock",
    "IPCSignal",
    "InconsistentAnswersError",
    "LayerProgress",
    "LayerSender",
    "LayerTimeoutError",
    "PayloadError",
    "PayloadTooLargeError",
    "PeerLostError",
    "ProtocolViolationError",
    "RankError",
    "ReadOnlyError",
    "RearrangeBusyError",
    "RearrangeControl",
    "RearrangeEndedError",
    "RearrangeOutcome",
    "RearrangeStatus",
    "SequencedSignal",
    "SignalError",
    "SignalInUseError",
    "SignalMismatchError",
    "SignalNameError",
    "SignalNotFoundError",
    "SignalReplacedError",
    "SignalSet",
    "SignalSpaceError",
    "SignalTornError",
    "StaleAnswerError",
    "TaskEndedError",
    "UnsafeConfigError",
    "Word",
    "__version__",
    "shared_memory_exists",
)

__version__ = "0.1.0"
