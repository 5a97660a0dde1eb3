"""What a put says that ends without its item in the ring."""

from __future__ import annotations

from fdcomm.errors import CommTimeoutError, FdcommError, PeerLostError
from fdcomm.host import refusals
from fdcomm.ring.queue_end import QueueEnd

__all__ = ("put_ended",)


def put_ended(error: PeerLostError | CommTimeoutError, operation: str, end: QueueEnd, waited_s: float) -> FdcommError:
    """Return the error of a queue for one of its ring."""
    if isinstance(error, PeerLostError):
        return refusals.put_lost(operation, error.missing, end.epoch, waited_s)
    look = end.look
    return refusals.put_timeout(operation, look.missing(), look.read_for(), end.epoch, waited_s)
