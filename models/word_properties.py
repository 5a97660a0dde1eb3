"""What must happen in the end in the model of setting and waiting, and under which assumptions."""

from __future__ import annotations

from functools import partial
from typing import Any

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.word_state import RETURNED, State

__all__ = ("fairness", "liveness")


def liveness(model: Any) -> list[LeadsTo[State]]:
    """Return what must happen in the end, also when setters are killed."""
    return [
        LeadsTo(
            "WaitsEnd",
            lambda s: model.settled(s) and model.due(s),
            lambda s: all(s.pc[p] in (*RETURNED, "dead") for p in model.waiters),
        )
    ]


def fairness(model: Any) -> list[Fair[State]]:
    """Return the assumptions: processes go on, stores arrive, and a bounded sleep ends."""
    found = []
    for p in range(model.closer + 1):
        found.append(Fair(f"Flush {p}", partial(_is, ("Flush", "Freed"), p)))
        found.append(Fair(f"Unlock {p}", partial(_is, ("ClearFlag", "Unlock"), p)))
    for p in model.waiters:
        names = tuple(name for name in model.actions if name not in ("Flush", "Rouse", "GiveUp", "Kill", "Freed"))
        found.append(Fair(f"waiter {p}", partial(_is, names, p)))
        if model.guards.Rechecks:
            found.append(Fair(f"Rouse {p}", partial(_is, ("Rouse",), p)))
    return found


def _is(names: tuple[str, ...], process: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param("process") == process
