"""RearrangeWords: what the host says of rearrangements, in FastDeploy's words, for those who only read them."""

from __future__ import annotations

import threading
from typing import Final, Protocol

from fdcomm.errors import ConfigError
from fdcomm.rearrange import RearrangeControl, RearrangeStatus
from fdcomm.runtime import SYSTEM, Runtime
from fdcomm.signals import IPCSignal

__all__ = ("RearrangeWords", "Signals")

_SEPARATOR: Final = ";"


class Signals(Protocol):
    """A set of signals, as :class:`fdcomm.signals.signal_set.SignalSet`."""

    def of(self, name: str, tp_rank: int | None = None) -> IPCSignal:
        """Return one signal."""


class RearrangeWords:
    """Writes the words of the catalogue that are about rearrangements. One writer per replica.

    What belongs together is written before what announces it: the addresses before their size, the ranks' results
    before the status. The words are a view: writing them asks for nothing, and they follow the host by a moment.

    Args:
        signals: ``rearrange_experts_status``, ``rearrange_experts_ips_size``, ``rearrange_experts_ips_list``,
            ``signal_update_weight_from_tensor``, and of each rank ``signal_update_weight_from_disk`` and
            ``result_update_weight_from_disk``.
        ranks: Number of ranks.
        runtime: For tests.
    """

    def __init__(self, signals: Signals, ranks: int, *, runtime: Runtime = SYSTEM) -> None:
        self._runtime = runtime
        self._status = signals.of("rearrange_experts_status").word()
        self._size = signals.of("rearrange_experts_ips_size").word()
        self._tensor = signals.of("signal_update_weight_from_tensor").word()
        self._disk = [signals.of("signal_update_weight_from_disk", rank).word() for rank in range(ranks)]
        self._result = [signals.of("result_update_weight_from_disk", rank).word() for rank in range(ranks)]
        self._list = signals.of("rearrange_experts_ips_list").shm

    def show(self, status: RearrangeStatus) -> None:
        """Write a snapshot.

        Raises:
            ConfigError: The addresses are longer than their signal. The other words are written.
        """
        waits = status.phase == "ASKED"
        text = _SEPARATOR.join(status.addresses).encode() if waits else b""
        fits = len(text) <= self._list.size
        if waits and fits:
            self._list.buf[: len(text)] = text
        self._runtime.point("rearrange.addresses")
        self._size.set(len(text) if fits else 0)
        for rank, (disk, result) in enumerate(zip(self._disk, self._result, strict=True)):
            disk.set(int(status.load[rank] in ("asked", "taken")))
            result.set(_result(status, rank))
        self._tensor.set(int(status.phase == "UPDATING" and not status.exchanging))
        self._runtime.point("rearrange.status")
        self._status.set(status.word)
        if not fits:
            raise ConfigError(
                f"the addresses of request {status.request} have {len(text)} bytes, and rearrange_experts_ips_list has "
                f"{self._list.size}: make it larger (ips_bytes)"
            )

    def follow(self, control: RearrangeControl, stop: threading.Event, every: float = 0.5) -> None:
        """Show every change until ``stop`` is set, looking at it every so many seconds. For a thread of its own.

        Raises:
            HostLostError: The host is gone; the words stay as they were.
            ConfigError: As :meth:`show`. Make the signals larger; call it again to go on with them as they are.
        """
        seen = -1
        while not stop.is_set():
            status = control.status(seen=seen, timeout=every)
            if status.version != seen:
                self.show(status)
                seen = status.version


def _result(status: RearrangeStatus, rank: int) -> int:
    """1: the rank has loaded; -1: it is to blame for the end; 0: nothing is known. It stays until the next request."""
    outcome = status.outcome
    if outcome is None:
        return int(status.load[rank] == "ok")
    if outcome.what != "done" and rank in outcome.missing:
        return -1
    return int(outcome.ranks[rank] == "ok")
