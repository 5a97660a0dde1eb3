"""Items of queues as pickled bytes, and what is said of those that cannot be."""

from __future__ import annotations

import pickle
from typing import Any

from fdcomm.errors import PayloadError, PayloadTooLargeError

__all__ = ("not_pickled", "not_unpickled", "pickled", "require_size", "unpickled")


def pickled(item: Any, most: int, operation: str) -> bytes:
    """Return the bytes of an item.

    Raises:
        PayloadError: It cannot be pickled.
        PayloadTooLargeError: It has more than ``most`` bytes.
    """
    try:
        payload = pickle.dumps(item, protocol=5)
    except Exception as error:  # __reduce__ of the caller's objects may raise anything
        raise not_pickled(operation, error) from error
    require_size(len(payload), most, operation)
    return payload


def unpickled(payload: bytes, operation: str) -> Any:
    """Return the item of bytes.

    Raises:
        PayloadError: It cannot be made in this process.
    """
    try:
        return pickle.loads(payload)
    except Exception as error:  # so may unpickling
        raise not_unpickled(operation, error) from error


def require_size(nbytes: int, most: int, operation: str) -> None:
    """Raise PayloadTooLargeError for an item that is larger than the host allows."""
    if nbytes > most:
        raise PayloadTooLargeError(
            f"{operation}: the item has {nbytes} bytes when pickled and the host allows {most}; start its server "
            "with a larger max_batch_bytes",
            operation=operation,
        )


def not_pickled(operation: str, error: Exception) -> PayloadError:
    """Return the error of an item that cannot be pickled."""
    return PayloadError(f"{operation}: the item cannot be pickled: {error}", operation=operation)


def not_unpickled(operation: str, error: Exception) -> PayloadError:
    """Return the error of an item that cannot be made in this process."""
    return PayloadError(
        f"{operation}: the item was taken but cannot be unpickled in this process: {error}", operation=operation
    )
