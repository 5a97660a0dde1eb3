"""RankBarrier: one of a queue's named barriers. Protocol: ``spec/barrier.toml``, docs/protocols/barrier.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, RankError, ReadOnlyError
from fdcomm.host.layout import barrier_channel

if TYPE_CHECKING:
    from fdcomm.handle import Handle

__all__ = ("NamedBarrier", "RankBarrier")


class RankBarrier:
    """A reusable barrier of all ranks of one replica.

    As ``threading.Barrier``, with these differences: a rank arrives once per round, whatever thread it uses; a
    completed round needs no reset; a wait that times out takes back its own arrival and breaks nobody; ranks that can
    never meet (a dead one, different labels or rounds, different barriers that are used in turn) get an error instead
    of a hang.
    """

    __slots__ = ("_channel", "_handle", "_name", "_place")

    def __init__(self, handle: Handle, name: str, channel: str, place: int) -> None:
        self._handle = handle
        self._name = name
        self._channel = channel
        self._place = place

    def wait(self, timeout: Timeout = DEFAULT, *, label: str = "", generation: int | None = None) -> int:
        """Arrive, and wait until every rank has. Actions Arrive, Pass.

        Args:
            timeout: Seconds; None waits for ever; the default is FDCOMM_TIMEOUT, else 600.
            label: What this round is for. All ranks of a round must say the same.
            generation: Number of the round that this wait is for, where the caller counts by itself: the rounds that
                were passed before. The wait takes part in that round and no other.

        Returns:
            A number from 0 to ``parties`` - 1, another one for each rank of a round: the rank where the ranks meet in
            shared memory, the order of arrival where they meet in the host.

        Raises:
            CommTimeoutError: ``missing`` names the ranks that did not arrive. The arrival was taken back.
            PeerLostError: ``missing`` names ranks whose process is gone.
            BarrierMismatchError: The ranks wait at different barriers that are used in turn, or have different labels
                or rounds; or the round of this wait is over.
            BarrierBrokenError: The barrier was aborted.
            ProtocolViolationError: Another thread of the rank waits at this barrier, or at one that is used in turn.
            RankError: The handle has no rank.
        """
        handle, name = self._handle, f"{self._name}.wait"
        if timeout is not DEFAULT:
            timeout = timeout_seconds(timeout, name)
        if not isinstance(label, str):
            raise ConfigError(f"{name}: label={label!r} must be a string", operation=name)
        if generation is not None and (type(generation) is not int or generation < 0):
            raise ConfigError(f"{name}: generation={generation!r} must be a number from 0, or None", operation=name)
        meeting = handle._meetings.get(self._channel)  # it looks by itself whether the handle may be used
        if meeting is None:
            if handle.client_id < 0:
                raise RankError(f"{name}: this handle has no client_id", operation=name)
            meeting = handle._meeting(self._channel, name)
        if meeting is not None:
            return meeting.wait(self._place, label, generation, timeout, name)
        limit = timeout_seconds(timeout, name)
        args = (self._name, label, generation, limit)
        index: int = handle._act(self._channel, "wait", *args, timeout=limit, name=name)
        return index

    def reset(self) -> None:
        """Make an aborted barrier usable again.

        A handle that has waited here undoes only an abort that it was told of: by an error, by :meth:`abort`, or by a
        look at :attr:`broken`. So the reset that FastDeploy's ranks make after each wait does nothing, however late.
        """
        name = f"{self._name}.reset"
        told = self._handle._told(self._channel, self._place, name)
        if told is None:
            return  # there is nothing to undo
        self._handle._act(self._channel, "reset", self._name, *told, name=name)

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
        """How many rounds have been passed: the number of the one that is under way."""
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
        self._where: dict[str, tuple[str, int]] = {}

    def __get__(self, handle: Handle | None, owner: type[Handle]) -> RankBarrier:
        if handle is None:
            raise AttributeError(f"{owner.__name__}.{self._name} is an attribute of instances")
        where = self._where.get(handle._kind)
        if where is None:
            where = self._where[handle._kind] = barrier_channel(handle._kind, self._name)
        return RankBarrier(handle, self._name, *where)

    def __set__(self, handle: Handle, value: object) -> None:
        raise ReadOnlyError(
            f"{self._name} cannot be replaced: use its wait(), reset() or abort()", operation=self._name
        )
