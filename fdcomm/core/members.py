"""What the cores whose members are ranks share: who is there, and what every action about a rank refuses first."""

from __future__ import annotations

from fdcomm.errors import ProtocolViolationError, RankError

__all__ = ("Members",)


class Members:
    """Ranks ``0 .. ranks - 1``: each is ``live``, ``lost`` (its process is gone) or away (neither)."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.live: set[int] = set()
        self.lost: set[int] = set()

    def _come(self, rank: int) -> None:
        """Somebody acts for the rank from now on."""
        self._require_rank(rank)
        if rank in self.live:
            raise ProtocolViolationError(f"Join: rank {rank} is live")
        self.lost.discard(rank)
        self.live.add(rank)

    def _find(self, rank: int) -> bool:
        """A rank that was lost is away from now on. False when it was not lost."""
        self._require_rank(rank)
        if rank not in self.lost:
            return False
        self.lost.discard(rank)
        return True

    def _require_rank(self, rank: int) -> None:
        if not 0 <= rank < self.ranks:
            raise RankError(f"rank {rank} is outside 0 <= rank < {self.ranks}")

    def _require_live(self, rank: int, action: str) -> None:
        self._require_rank(rank)
        if rank not in self.live:
            raise ProtocolViolationError(f"{action}: rank {rank} is not live")

    def _require_away(self, rank: int, action: str) -> None:
        self._require_rank(rank)
        if rank in self.live or rank in self.lost:
            raise ProtocolViolationError(f"{action}: rank {rank} is not away")
