"""fdcomm: verified inter-process communication for LLM inference engines.

What is not an error is imported when it is first asked for: a host, which is a fresh interpreter and has this package
above its modules, starts without the clients' code, and a program pays for what it uses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

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
    HandlerTimeoutError,
    HostLostError,
    HostNotFoundError,
    HostStartError,
    InconsistentAnswersError,
    JobCancelledError,
    LayerTimeoutError,
    MemoryOrderError,
    NoBlocksError,
    NotPausedError,
    PauseEndedError,
    PayloadError,
    PayloadTooLargeError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
    ReadOnlyError,
    RearrangeBusyError,
    RearrangeEndedError,
    RequestCancelledError,
    SignalError,
    SignalInUseError,
    SignalMismatchError,
    SignalNameError,
    SignalNotFoundError,
    SignalReplacedError,
    SignalSpaceError,
    SignalTornError,
    StaleAnswerError,
    StaleLeaseError,
    StalePauseError,
    StaleReportError,
    StartFailedError,
    StatusBusyError,
    StatusCancelledError,
    TaskEndedError,
    TransferCancelledError,
    TransferFailedError,
    UndecodableError,
    UndeliverableError,
    UnsafeConfigError,
    WrongRoleError,
    WrongThreadError,
)

if TYPE_CHECKING:
    from fdcomm.blocks import BlockLists
    from fdcomm.cache_queue import EngineCacheQueue
    from fdcomm.control import ControlClient, ControlRequest, ControlResult, ControlServer
    from fdcomm.jobs import Job
    from fdcomm.layerwise import LayerProgress, LayerSender
    from fdcomm.link.options import ZmqLink
    from fdcomm.mailbox.zmq_client import ZmqIpcClient, ZmqTcpClient
    from fdcomm.mailbox.zmq_server import ZmqIpcServer, ZmqTcpServer
    from fdcomm.meeting import Meeting, MeetingStatistics
    from fdcomm.pause import PauseControl, PauseStatistics
    from fdcomm.readiness import PartHealth, Readiness
    from fdcomm.rearrange import RearrangeControl, RearrangeOutcome, RearrangeStatus
    from fdcomm.signals.ipc_signal import IPCSignal, shared_memory_exists
    from fdcomm.signals.lock import IPCLock
    from fdcomm.signals.sequenced import SequencedSignal
    from fdcomm.signals.signal_set import SignalSet
    from fdcomm.signals.word import Word
    from fdcomm.stats import DispatchStatistics
    from fdcomm.status import PartReport, StatusCoordinator, StatusResult, StatusWord, http_code
    from fdcomm.status_part import StatusOrder, StatusPart
    from fdcomm.swap import Swap, SwapResult
    from fdcomm.transfer import TransferLoop, TransferTask
    from fdcomm.transfer_client import TransferClient
    from fdcomm.transfer_port import TransferPort, TransferResult, TransferSettled
    from fdcomm.transfer_tasks import TransferTasks
    from fdcomm.worker_queue import EngineWorkerQueue
    from fdcomm.zsocket.curve import CurveKeys

__all__ = (
    "DEFAULT",
    "AddressInUseError",
    "AuthError",
    "BarrierBrokenError",
    "BarrierMismatchError",
    "BlockLists",
    "CacheInfoMissingError",
    "ClosedError",
    "CommTimeoutError",
    "ConfigError",
    "ControlClient",
    "ControlRequest",
    "ControlResult",
    "ControlServer",
    "CurveKeys",
    "DispatchStatistics",
    "DuplicateRankError",
    "EngineCacheQueue",
    "EngineWorkerQueue",
    "FdcommError",
    "FencedError",
    "ForkedHandleError",
    "HandlerTimeoutError",
    "HostLostError",
    "HostNotFoundError",
    "HostStartError",
    "IPCLock",
    "IPCSignal",
    "InconsistentAnswersError",
    "Job",
    "JobCancelledError",
    "LayerProgress",
    "LayerSender",
    "LayerTimeoutError",
    "Meeting",
    "MeetingStatistics",
    "MemoryOrderError",
    "NoBlocksError",
    "NotPausedError",
    "PartHealth",
    "PartReport",
    "PauseControl",
    "PauseEndedError",
    "PauseStatistics",
    "PayloadError",
    "PayloadTooLargeError",
    "PeerLostError",
    "ProtocolViolationError",
    "RankError",
    "ReadOnlyError",
    "Readiness",
    "RearrangeBusyError",
    "RearrangeControl",
    "RearrangeEndedError",
    "RearrangeOutcome",
    "RearrangeStatus",
    "RequestCancelledError",
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
    "StaleLeaseError",
    "StalePauseError",
    "StaleReportError",
    "StartFailedError",
    "StatusBusyError",
    "StatusCancelledError",
    "StatusCoordinator",
    "StatusOrder",
    "StatusPart",
    "StatusResult",
    "StatusWord",
    "Swap",
    "SwapResult",
    "TaskEndedError",
    "TransferCancelledError",
    "TransferClient",
    "TransferFailedError",
    "TransferLoop",
    "TransferPort",
    "TransferResult",
    "TransferSettled",
    "TransferTask",
    "TransferTasks",
    "UndecodableError",
    "UndeliverableError",
    "UnsafeConfigError",
    "Word",
    "WrongRoleError",
    "WrongThreadError",
    "ZmqIpcClient",
    "ZmqIpcServer",
    "ZmqLink",
    "ZmqTcpClient",
    "ZmqTcpServer",
    "__version__",
    "http_code",
    "shared_memory_exists",
)

__version__ = "0.1.0"

_HOME: Final = {
    "BlockLists": "fdcomm.blocks",
    "EngineCacheQueue": "fdcomm.cache_queue",
    "ControlClient": "fdcomm.control",
    "ControlRequest": "fdcomm.control",
    "ControlResult": "fdcomm.control",
    "ControlServer": "fdcomm.control",
    "Job": "fdcomm.jobs",
    "LayerProgress": "fdcomm.layerwise",
    "LayerSender": "fdcomm.layerwise",
    "Meeting": "fdcomm.meeting",
    "MeetingStatistics": "fdcomm.meeting",
    "PauseControl": "fdcomm.pause",
    "PauseStatistics": "fdcomm.pause",
    "PartHealth": "fdcomm.readiness",
    "Readiness": "fdcomm.readiness",
    "RearrangeControl": "fdcomm.rearrange",
    "RearrangeOutcome": "fdcomm.rearrange",
    "RearrangeStatus": "fdcomm.rearrange",
    "IPCSignal": "fdcomm.signals.ipc_signal",
    "shared_memory_exists": "fdcomm.signals.ipc_signal",
    "IPCLock": "fdcomm.signals.lock",
    "SequencedSignal": "fdcomm.signals.sequenced",
    "SignalSet": "fdcomm.signals.signal_set",
    "Word": "fdcomm.signals.word",
    "DispatchStatistics": "fdcomm.stats",
    "PartReport": "fdcomm.status",
    "StatusCoordinator": "fdcomm.status",
    "StatusResult": "fdcomm.status",
    "StatusWord": "fdcomm.status",
    "http_code": "fdcomm.status",
    "StatusOrder": "fdcomm.status_part",
    "StatusPart": "fdcomm.status_part",
    "Swap": "fdcomm.swap",
    "SwapResult": "fdcomm.swap",
    "TransferLoop": "fdcomm.transfer",
    "TransferTask": "fdcomm.transfer",
    "TransferClient": "fdcomm.transfer_client",
    "TransferPort": "fdcomm.transfer_port",
    "TransferResult": "fdcomm.transfer_port",
    "TransferSettled": "fdcomm.transfer_port",
    "TransferTasks": "fdcomm.transfer_tasks",
    "EngineWorkerQueue": "fdcomm.worker_queue",
    "ZmqIpcClient": "fdcomm.mailbox.zmq_client",
    "ZmqTcpClient": "fdcomm.mailbox.zmq_client",
    "ZmqIpcServer": "fdcomm.mailbox.zmq_server",
    "ZmqLink": "fdcomm.link.options",
    "ZmqTcpServer": "fdcomm.mailbox.zmq_server",
    "CurveKeys": "fdcomm.zsocket.curve",
}
"""Name -> the module that has it, for all that is imported late."""

if not TYPE_CHECKING:  # else every name would count as one of this package's

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used."""
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module(home), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
