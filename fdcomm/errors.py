"""Every error that fdcomm raises on purpose.

Each class is an :class:`FdcommError` and, where Python has a builtin for the same situation, that builtin too, so
``except TimeoutError`` keeps working. Errors carry fields instead of prose only, survive pickling (they cross from
the host process to the caller), and their text says what to do next.
"""

from __future__ import annotations

import errno
import multiprocessing
import pickle
import threading
from typing import Any

__all__ = (
    "AddressInUseError",
    "AuthError",
    "BarrierBrokenError",
    "BarrierMismatchError",
    "CacheInfoMissingError",
    "ClosedError",
    "CommTimeoutError",
    "ConfigError",
    "DuplicateRankError",
    "FdcommError",
    "FencedError",
    "ForkedHandleError",
    "HandlerTimeoutError",
    "HostLostError",
    "HostNotFoundError",
    "HostStartError",
    "InconsistentAnswersError",
    "JobCancelledError",
    "LayerTimeoutError",
    "MemoryOrderError",
    "NoBlocksError",
    "NotPausedError",
    "PauseEndedError",
    "PayloadError",
    "PayloadTooLargeError",
    "PeerLostError",
    "ProtocolViolationError",
    "RankError",
    "ReadOnlyError",
    "RearrangeBusyError",
    "RearrangeEndedError",
    "RequestCancelledError",
    "SignalError",
    "SignalInUseError",
    "SignalMismatchError",
    "SignalNameError",
    "SignalNotFoundError",
    "SignalReplacedError",
    "SignalSpaceError",
    "SignalTornError",
    "StaleAnswerError",
    "StaleLeaseError",
    "StalePauseError",
    "StaleReportError",
    "StartFailedError",
    "StatusBusyError",
    "StatusCancelledError",
    "TaskEndedError",
    "TransferCancelledError",
    "TransferFailedError",
    "UndecodableError",
    "UndeliverableError",
    "UnsafeConfigError",
    "WrongRoleError",
    "WrongThreadError",
)


class FdcommError(Exception):
    """Base of all fdcomm errors.

    Attributes:
        operation: The public call that failed, for example ``"put_tasks"``.
        missing: Ranks that the call waited for, in order; empty when the call did not wait for ranks.
        epoch: The host's clear epoch when the error was made, or None when it is not known.
        waited_s: Seconds that the call had waited.
        request: For rounds of answers: the id of the request that the round was about.
    """

    def __init__(
        self,
        message: str,
        *,
        operation: str = "",
        missing: tuple[int, ...] = (),
        epoch: int | None = None,
        waited_s: float = 0.0,
        request: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.operation = operation
        self.missing = tuple(missing)
        self.epoch = epoch
        self.waited_s = waited_s
        self.request = request

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {
            "operation": self.operation,
            "missing": self.missing,
            "epoch": self.epoch,
            "waited_s": self.waited_s,
            "request": self.request,
        }
        return (_rebuild, (type(self), self.message, fields))


def _rebuild(cls: type[FdcommError], message: str, fields: dict[str, Any]) -> FdcommError:
    return cls(message, **fields)


class ConfigError(FdcommError, ValueError):
    """An argument that can never work: a bad timeout, a ``num_client`` that the host does not have, ..."""


class RankError(ConfigError):
    """``client_id`` is outside ``0 <= client_id < num_client``, or the call needs a rank and the handle has none."""


class UnsafeConfigError(ConfigError):
    """Refused to start: the configuration would let strangers run code (see docs/limits.md)."""


class CommTimeoutError(FdcommError, TimeoutError):
    """The call's ``timeout`` ended. ``missing`` names the ranks that it waited for. Nothing was changed."""


class PeerLostError(FdcommError, ConnectionError):
    """A rank that the call needs is gone. ``missing`` names it. A restarted rank re-joins by itself."""


class HostLostError(FdcommError, ConnectionError):
    """The host process is gone or does not answer. Handles to it cannot be used again; the outcome of the call
    that was under way is not known."""


class HostNotFoundError(FdcommError, ConnectionRefusedError):
    """Nobody serves the address."""


class HostStartError(FdcommError, RuntimeError):
    """The host process ended before it was ready. The message has what it printed."""


class AuthError(FdcommError, multiprocessing.AuthenticationError, PermissionError):
    """The host does not accept the key."""


class AddressInUseError(FdcommError, OSError):
    """Another live host, or another program, has the port."""

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.errno = errno.EADDRINUSE


class DuplicateRankError(FdcommError, RuntimeError):
    """Another live reader holds the rank. It keeps it; this handle reads nothing."""


class FencedError(FdcommError, ConnectionError):
    """The host has given this handle up: its connection was lost, or one of its calls was interrupted before the answer
    came (Ctrl-C, a signal handler that raises), so that nobody knows what it did. Open a new handle."""


class BarrierBrokenError(FdcommError, threading.BrokenBarrierError):
    """The barrier was aborted while the rank waited, or before."""


class BarrierMismatchError(BarrierBrokenError):
    """The ranks wait at different barriers, or for rounds of different labels or numbers: none of them could ever go
    on. The message says where each rank is."""


class ReadOnlyError(FdcommError, TypeError):
    """A view of the host's state was written to. The message names the method that does it."""


class InconsistentAnswersError(FdcommError, ValueError):
    """The ranks' answers to one request cannot be combined. The round is over, and the gate is open for the next."""


class StaleAnswerError(FdcommError, RuntimeError):
    """A round of this request had ended without this rank, so its answer was dropped and counts for no later round.

    Only if it is known to answer a newer request with the same id, put it again.
    """


class RearrangeBusyError(FdcommError, RuntimeError):
    """A rearrangement was asked for while another one is running. ``request`` is the number of that one."""


class RearrangeEndedError(FdcommError, RuntimeError):
    """The call is about a rearrangement that is over; the message says how it ended. The call changed nothing, and
    counts for no other rearrangement. ``request`` is the number that the call was about."""


class RequestCancelledError(FdcommError, RuntimeError):
    """A control request, or a wait for a pause or a resume: another thread has cancelled it through its own handle."""


class ClosedError(FdcommError, ValueError):
    """The handle was closed."""


class ForkedHandleError(FdcommError, RuntimeError):
    """The handle was made in another process and came here by fork. Open a new one in this process."""


class PayloadError(FdcommError, pickle.PicklingError, TypeError):
    """The batch cannot be pickled. Nothing was put."""


class PayloadTooLargeError(FdcommError, ValueError):
    """The pickled batch is larger than ``max_batch_bytes``. Nothing was put."""


class ProtocolViolationError(FdcommError, RuntimeError):
    """A call that contradicts the protocol's state, or an invariant that does not hold (then it is our bug)."""


class PauseEndedError(FdcommError, RuntimeError):
    """A pause was cancelled, or had ended before the waiting call saw it reached: jobs may run."""


class StalePauseError(FdcommError, RuntimeError):
    """The pause that is meant is over; another one is in force."""


class NotPausedError(FdcommError, RuntimeError):
    """The operation needs a pause that has been reached."""


class JobCancelledError(FdcommError, RuntimeError):
    """A pause told the job to end."""


class StartFailedError(FdcommError, RuntimeError):
    """A part that the call waits for says that it cannot serve. ``request`` is (component, rank, health) of each."""


class StatusBusyError(FdcommError, RuntimeError):
    """Another clear or update is under way. ``request`` is its number and goal."""


class StatusCancelledError(FdcommError, RuntimeError):
    """A clear or update was cancelled before it was done. ``request`` is its number."""


class StaleReportError(FdcommError, RuntimeError):
    """A part reported about a request that has ended. Nothing was changed by it."""


class SignalError(FdcommError):
    """Base of the errors of signals."""


class SignalNotFoundError(SignalError, FileNotFoundError):
    """No segment has the name."""


class SignalInUseError(SignalError, FileExistsError):
    """A live process owns the segment, or something that fdcomm did not make has the name. Nothing was changed."""


class SignalMismatchError(SignalError, ValueError):
    """The segment holds another dtype, shape or size than the caller expects, or has no trailer to tell."""


class SignalNameError(SignalError, ValueError):
    """No segment can have this name. The message says why, and the limit."""


class SignalReplacedError(SignalError):
    """Another segment has the name now, or none: what is read here is what was left behind. Attach again."""


class SignalTornError(SignalError):
    """A process was killed in the middle of a write to a sequenced signal. The next write makes it whole."""


class SignalSpaceError(SignalError, OSError):
    """The memory file system has no room for the segment. Nothing was made."""


class MemoryOrderError(FdcommError, NotImplementedError):
    """This processor, or system, keeps memory accesses in another order than the code was proved for."""


class CacheInfoMissingError(CommTimeoutError):
    """The device has computed layers of a task whose cache info did not come. That task is not sent; others are."""


class LayerTimeoutError(CommTimeoutError):
    """The next layer of a task was not computed in time. That task has failed; others are sent."""


class TaskEndedError(FdcommError, RuntimeError):
    """The task was given up: its request was aborted, for example. Its other layers are not sent."""


class NoBlocksError(FdcommError, RuntimeError):
    """Fewer blocks are free than were asked for. None was taken."""


class StaleLeaseError(FdcommError, RuntimeError):
    """A reset has taken the blocks of this lease back: they are free, or somebody else's. Nothing was changed."""


class TransferCancelledError(FdcommError, RuntimeError):
    """A transfer was given up: by a reset, by its issuer, or it was withdrawn before a rank had started it. Also what
    the lists raise while a reset is under way. ``request`` is the task's number."""


class TransferFailedError(FdcommError, RuntimeError):
    """A transfer was not done by every rank. ``missing`` has the ranks that failed, ``request`` is the task's number.
    The source is its issuer's again, and the target is free; while a rank may still be at it, what it may write to,
    the target or the source of one without a target, is nobody's, and it is free when that has ended."""


class HandlerTimeoutError(FdcommError, TimeoutError):
    """A handler of transfer tasks runs longer than its limit. Its task has failed; its job counts until it ends."""


class UndecodableError(FdcommError, ValueError):
    """A message is in a format that the receiver does not accept, or is damaged. It is lost, and nothing else is."""


class UndeliverableError(FdcommError, ConnectionError):
    """The process that the message is for is gone, or has asked for nothing. ``request`` is the id of the request."""


class WrongRoleError(FdcommError, PermissionError):
    """A producer's call on a consumer, or the other way round."""


class WrongThreadError(FdcommError, RuntimeError):
    """Another thread uses the handle, and only one may. Nothing was changed."""
