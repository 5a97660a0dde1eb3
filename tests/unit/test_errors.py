"""Every error class: pickling, the builtin beside it, its fields."""

from __future__ import annotations

import copy
import errno
import multiprocessing
import pickle
import threading

import pytest

import fdcomm
from fdcomm import errors
from fdcomm.errors import FdcommError

CLASSES: list[type[FdcommError]] = [getattr(errors, name) for name in errors.__all__]

BUILTINS: dict[str, tuple[type[BaseException], ...]] = {
    "AddressInUseError": (OSError,),
    "AuthError": (multiprocessing.AuthenticationError, PermissionError),
    "BarrierBrokenError": (threading.BrokenBarrierError,),
    "BarrierMismatchError": (threading.BrokenBarrierError,),
    "CacheInfoMissingError": (TimeoutError,),
    "ClosedError": (ValueError,),
    "CommTimeoutError": (TimeoutError,),
    "ConfigError": (ValueError,),
    "DuplicateRankError": (RuntimeError,),
    "FencedError": (ConnectionError,),
    "ForkedHandleError": (RuntimeError,),
    "HandlerTimeoutError": (TimeoutError,),
    "HostLostError": (ConnectionError,),
    "HostNotFoundError": (ConnectionRefusedError,),
    "HostStartError": (RuntimeError,),
    "InconsistentAnswersError": (ValueError,),
    "JobCancelledError": (RuntimeError,),
    "LayerTimeoutError": (TimeoutError,),
    "MemoryOrderError": (NotImplementedError,),
    "NoBlocksError": (RuntimeError,),
    "NotPausedError": (RuntimeError,),
    "PauseEndedError": (RuntimeError,),
    "PayloadError": (pickle.PicklingError, TypeError),
    "PayloadTooLargeError": (ValueError,),
    "PeerLostError": (ConnectionError,),
    "ProtocolViolationError": (RuntimeError,),
    "RankError": (ValueError,),
    "ReadOnlyError": (TypeError,),
    "RearrangeBusyError": (RuntimeError,),
    "RearrangeEndedError": (RuntimeError,),
    "RequestCancelledError": (RuntimeError,),
    "SignalError": (),
    "SignalInUseError": (FileExistsError,),
    "SignalMismatchError": (ValueError,),
    "SignalNameError": (ValueError,),
    "SignalNotFoundError": (FileNotFoundError,),
    "SignalReplacedError": (),
    "SignalSpaceError": (OSError,),
    "SignalTornError": (),
    "StaleAnswerError": (RuntimeError,),
    "StaleLeaseError": (RuntimeError,),
    "TaskEndedError": (RuntimeError,),
    "StalePauseError": (RuntimeError,),
    "StaleReportError": (RuntimeError,),
    "StartFailedError": (RuntimeError,),
    "StatusBusyError": (RuntimeError,),
    "StatusCancelledError": (RuntimeError,),
    "TransferCancelledError": (RuntimeError,),
    "TransferFailedError": (RuntimeError,),
    "UndecodableError": (ValueError,),
    "UndeliverableError": (ConnectionError,),
    "UnsafeConfigError": (ValueError,),
    "WrongRoleError": (PermissionError,),
    "WrongThreadError": (RuntimeError,),
}


def test_every_error_has_its_builtin() -> None:
    assert {cls.__name__ for cls in CLASSES} == {*BUILTINS, "FdcommError"}
    assert {
        cls.__name__ for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, FdcommError)
    } == {cls.__name__ for cls in CLASSES}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_class(cls: type[FdcommError]) -> None:
    assert issubclass(cls, (FdcommError, *BUILTINS.get(cls.__name__, ())))
    for builtin in BUILTINS.get(cls.__name__, ()):
        assert issubclass(cls, builtin)
    assert getattr(fdcomm, cls.__name__) is cls
    assert cls.__doc__


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_pickling(cls: type[FdcommError], protocol: int) -> None:
    error = cls("what to do: ünïcode, 'quotes'", operation="put_tasks", missing=(1, 3), epoch=7, waited_s=0.25)
    for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is cls
        assert str(again) == str(error) == "what to do: ünïcode, 'quotes'"
        assert (again.operation, again.missing, again.epoch, again.waited_s) == ("put_tasks", (1, 3), 7, 0.25)
        assert getattr(again, "errno", None) == getattr(error, "errno", None)


def test_fields_have_defaults() -> None:
    error = FdcommError("text")
    assert (error.operation, error.missing, error.epoch, error.waited_s) == ("", (), None, 0.0)


def test_address_in_use_says_so_in_errno() -> None:
    assert errors.AddressInUseError("taken").errno == errno.EADDRINUSE
