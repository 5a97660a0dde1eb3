"""RankBarrier: one of a queue's named barriers. Protocol: ``spec/barrier.toml``, docs/protocols/barrier.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import RankError
from fdcomm.host.layout import barrier_group

if TYPE_CHECKING:
    from fdcomm.handle import Handle

__all__ = ("NamedBarrier", "RankBarrier")


class RankBarrier:
    """A reusable barrier of all ranks of one replica.

    As ``threading.Barrier``, with these differences: a rank arrives once per round, whatever handle it uses; a
    completed round needs no reset; a wait that times out takes back its own arrival and breaks nobody; ranks that can
    never meet (a dead one, different labels, different barriers of one group) get an error instead of a hang.
    """

    def __init__(self, handle: Handle, name: str, kind: str) -> None:
        self._handle = handle
        self._name = name
        self._channel = f"barriers.{barrier_group(kind, name)}"

    def wait(self, timeout: Timeout = DEFAULT, *, label: str = "") -> int:
        """Arrive, and wait until every rank has. Actions Arrive, Pass.

        Args:
            timeout: Seconds; None waits for ever; the default is FDCOMM_TIMEOUT, else 600.
            label: What this round is for. All ranks of a round must say the same.

        Returns:
            The order of arrival in the round, 0 for the first.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that did not arrive. The arrival was taken back.
            PeerLostError: ``missing`` names ranks whose process is gone.
            BarrierMismatchError: The ranks are at different barriers of one group, or have different labels.
            BarrierBrokenError: The barrier was aborted.
            RankError: The handle has no rank.
        """
        name = f"{self._name}.wait"
        limit = timeout_seconds(timeout, name)
        if self._handle.client_id < 0:
            raise RankError(f"{name}: this handle has no client_id", operation=name)
        index: int = self._handle._act(self._channel, "wait", self._name, label, limit, timeout=limit, name=name)
        return index

    def reset(self) -> None:
        """Make an aborted barrier usable again. Accepted after every wait, as FastDeploy does; then it does nothing."""
        self._handle._act(self._channel, "reset", self._name, name=f"{self._name}.reset")

    def abort(self) -> None:
        """End the waits of the current round with BarrierBrokenError, and refuse new ones until a reset."""
        self._handle._act(self._channel, "abort", self._name, name=f"{self._name}.abort")

    @property
    def n_waiting(self) -> int:
        """How many ranks wait in the current round."""
        return int(self._view()["n_waiting"])

    @property
    def parties(self) -> int:
        """How many ranks have to arrive."""
        return int(self._view()["parties"])

    @property
    def broken(self) -> bool:
        """True after an abort, until a reset."""
        return bool(self._view()["broken"])

    @property
    def generation(self) -> int:
        """How many rounds have been passed."""
        return int(self._view()["generation"])

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that the current round waits for."""
        return tuple(self._view()["missing"])

    def __repr__(self) -> str:
        return f"<RankBarrier {self._name} of {self._handle!r}>"

    def _view(self) -> dict[str, Any]:
        return self._handle._view(self._channel, self._name, name=f"{self._name}.view")


class NamedBarrier:
    """Declares a barrier of a queue class: ``barrier1 = NamedBarrier()``."""

    def __set_name__(self, owner: type[Handle], name: str) -> None:
        self._name = name

    def __get__(self, handle: Handle | None, owner: type[Handle]) -> RankBarrier:
        if handle is None:
            raise AttributeError(f"{owner.__name__}.{self._name} is an attribute of instances")
        return RankBarrier(handle, self._name, handle._kind)
