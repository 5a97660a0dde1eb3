"""Dispatch without clears and with one item at a time; the twin of ``tla/common/ItemChannel.tla``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.dispatch import Config as DispatchConfig
from models.dispatch import Dispatch, State
from models.dispatch_state import AWAY, LOST
from models.kernel import Action, Step

__all__ = ("Config", "ItemChannel", "State")


@dataclass(frozen=True)
class Config(DispatchConfig):
    """Constants of the spec. Nobody can clear, so there is one epoch."""

    max_epoch: int | None = 0
    put_needs_nobody: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth != 1 or self.max_epoch != 0:
            raise ValueError(f"an item channel has depth 1 and one epoch: {self}")

    def constants(self) -> dict[str, int | frozenset[int] | bool | None]:
        """Return the constants under their names in the spec."""
        return {**super().constants(), "PutNeedsNobody": self.put_needs_nobody}


class ItemChannel(Dispatch):
    """Next-state relation: that of dispatch, with PutTasks called PutItem, and without clears."""

    def __init__(self, config: Config | None = None, name: str = "item channel") -> None:
        self.items = config or Config()
        super().__init__(self.items)
        self.name = self.name.replace("dispatch", name)
        self.actions = {name: steps for name, steps in self.actions.items() if not name.startswith("Clear")}
        self.invariants = {**self.invariants, "FirstPutNeedsNobody": self._first_put_needs_nobody}
        steps = {name: check for name, check in self.action_properties.items() if name != "ClearsOnlySeen"}
        self.action_properties = {**steps, "NothingDropped": self._nothing_dropped}

    def put_tasks(self, s: State) -> Iterator[Step[State]]:
        """The oldest call's item is retained."""
        if self.items.put_needs_nobody or AWAY not in s.status:
            yield from super().put_tasks(s)

    def _first_put_needs_nobody(self, s: State) -> bool:
        return not s.waiting or bool(s.log) or LOST in s.status or any(True for _ in self.put_tasks(s))

    def _nothing_dropped(self, s: State, action: Action, t: State) -> bool:
        """An item that is gone was taken by every rank that cannot crash."""
        gone = {entry.id for entry in s.log} - {entry.id for entry in t.log}
        return all(gone.issubset(t.got[rank]) for rank in self.everyone - self.config.mortal)
