"""What is claimed of the model of the ring: invariants, and what must happen in the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.ring_state import State, load

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes")

Claim = Callable[[State], bool]
StepClaim = Callable[[State, Action, State], bool]
_NOT_FAIR = ("Flush", "Fence", "Kill", "StoreLife", "CloseGate")


def invariants(model: Any) -> dict[str, Claim]:
    """Return what holds in every state."""
    lines, ranks = model.lines, model.config.ranks

    def exactly_once_in_order(s: State) -> bool:
        rising = all(list(got) == sorted(set(got)) for got in s.got)
        return rising and not any(set(s.got[q]) & set(s.got[p]) for p in lines for q in lines[p + ranks :: ranks])

    return {
        "NoTornRead": lambda s: all(s.pc[p] != "release" or s.took[p] == s.pos[p] + 1 for p in lines),
        "ExactlyOnceInOrder": exactly_once_in_order,
        "Complete": lambda s: all(
            m in s.got[p] or m in s.dropped for p in lines for m in range(s.start[p] + 1, s.pos[p] + 1)
        ),
        "OneFate": lambda s: not any(s.dropped.intersection(got) for got in s.got),
        "HonestFence": lambda s: all(
            s.pc[p] != "fenced" or s.mem.life[model.rank_of(p)] != model.incarnation(p) for p in lines
        ),
    }


def action_properties(model: Any) -> dict[str, StepClaim]:
    """Return what holds of every step."""
    writer = model.writer

    def makes_room(before: State, action: Action, after: State) -> bool:
        del action
        if before.pc[writer] not in ("scan", "lives", "voids") or after.pc[writer] != "idle":
            return True
        nobody = not any(model.counts(after.known, r) for r in model.ranks)
        return nobody or load(before, writer, "seq", model.slot(before.head + 1)) > 0

    return {"MakesRoom": makes_room}


def sometimes(model: Any) -> dict[str, Claim]:
    """Return what must be reachable."""
    found: dict[str, Claim] = {
        "a reader has all messages": lambda s: any(pos == model.config.puts for pos in s.pos),
        "a message is published and not in memory": lambda s: any(store[0] == "seq" for store in s.buf[model.writer]),
    }
    if model.config.clears:
        found["a message is taken back"] = lambda s: bool(s.dropped)
        found["a message is put in the place of one that nobody passed"] = lambda s: (
            max(map(abs, s.mem.seq)) > min(s.pos) + model.config.slots or model.config.puts <= model.config.slots
        )
    if model.config.fenceable:
        found["a reader finds itself given up"] = lambda s: "fenced" in s.pc
    if model.config.joins:
        found["a second reader gets a message"] = lambda s: any(s.got[model.config.ranks :])
    if model.config.joins > model.config.ranks:
        found["a third reader gets a message"] = lambda s: any(s.got[2 * model.config.ranks :])
    return found


def liveness(model: Any) -> list[LeadsTo[State]]:
    """Return what must happen in the end, also when processes are killed."""

    def done(s: State) -> bool:
        counted = (p for p in model.lines if s.mem.life[model.rank_of(p)] == model.incarnation(p))
        got = s.sent == model.config.puts and all(s.pos[p] == model.config.puts for p in counted)
        return got or all(life % 2 for life in s.mem.life)

    return [LeadsTo("Delivers", lambda s: True, done)]


def fairness(model: Any) -> list[Fair[State]]:
    """Return the assumptions: processes go on, stores arrive, the dead are found."""
    found = []
    names = tuple(name for name in model.actions if name not in _NOT_FAIR)
    for p in range(model.clearer + 1):
        found.append(Fair(f"Flush {p}", partial(_is, ("Flush",), "process", p)))
        found.append(Fair(f"process {p}", partial(_is, names, "process", p)))
    found += [Fair(f"Fence {r}", partial(_is, ("Fence",), "rank", r)) for r in model.ranks]
    return found


def _is(names: tuple[str, ...], key: str, number: int, state: State, action: Action) -> bool:
    del state
    return action.name in names and action.param(key) == number
