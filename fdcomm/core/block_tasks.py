"""What block lists hand out, and the tasks that have it meanwhile. Protocol: ``spec/blocks.toml``."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Lease", "Task")


@dataclass(frozen=True, slots=True, eq=False)
class Lease:
    """Blocks that somebody has, until they are freed, given to a task, or taken back by a reset.

    Attributes:
        ids: The blocks, in order.
        generation: How many resets there had been when they were handed out.
    """

    ids: tuple[int, ...]
    generation: int


@dataclass(slots=True, eq=False)
class Task:
    """A task that was issued.

    Attributes:
        index: From 1, in the order of the reserves.
        target: None: the source stays with the issuer.
        number: The port's number; None until its call has returned.
        told: What the issuer was told; "" until then.
        late: Its result was handled, and ranks may be at it still.
    """

    index: int
    source: Lease
    target: Lease | None
    number: int | None = None
    told: str = ""
    late: bool = False

    @property
    def leases(self) -> tuple[Lease, ...]:
        """What its blocks were before."""
        return (self.source,) if self.target is None else (self.source, self.target)

    @property
    def written(self) -> Lease:
        """What the ranks may write to."""
        return self.source if self.target is None else self.target

    @property
    def held(self) -> tuple[Lease, ...]:
        """What it has while it is in flight."""
        return (self.written,) if self.late else self.leases
