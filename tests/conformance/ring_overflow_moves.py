"""What the ring's segments are driven by: calls of the model's writers and readers, whole or cut by a kill.

A call's steps follow each other; between them, readers' calls and other writers' ones have their turn in the code only
where they change nothing that the call looks at.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.kernel import Action
from models.ring_overflow import RingOverflow, State
from tests.conformance.walks import Move, Steps

__all__ = ("CHANGES", "call_of", "effects", "moves_of")

CHANGES = ("ring", "made", "temp", "files", "data", "where", "head")
"""Variables that outlive a process."""

_CALLS = {"Look": "put", "Enter": "take over", "Leave": "close", "Finish": "end", "Begin": "lease", "Clean": "clean"}
_ALONE = ("End", "Quit", "Fence", "Return")


def call_of(move: Move[State]) -> tuple[str, int, bool]:
    """Return what is called, by whom (of Fence and Return: the rank), and whether it is killed in it."""
    first, last = move[0][1], move[-1][1]
    who = first.params[0][1]
    return _CALLS.get(first.name, first.name), who, last.name == "Kill" and len(move) > 1


def effects(move: Move[State]) -> int:
    """Return how many of a move's steps others can see afterwards."""
    return sum(
        action.name != "Kill" and any(getattr(a, name) != getattr(b, name) for name in CHANGES) for a, action, b in move
    )


class _Moves:
    def __init__(self, model: RingOverflow, steps: Steps[State]) -> None:
        self.model = model
        self.steps = steps

    def _kill(self, state: State, process: int) -> Move[State] | None:
        for action, after in self.steps[state]:
            if action == Action("Kill", (("process", process),)):
                return ((state, action, after),)
        return None

    def _next(self, state: State, process: int) -> Move[State] | None:
        """The only step of a writer within a call."""
        for action, after in self.steps[state]:
            if action.param("process") == process and action.name != "Kill":
                return ((state, action, after),)
        return None

    def writers(self, edge: Move[State], process: int) -> Iterator[Move[State]]:
        """A whole call, and one killed after each of its steps."""
        move = edge
        while True:
            state = move[-1][2]
            killed = self._kill(state, process)
            if state.pc[process] in ("idle", "out"):
                yield move
                return
            if killed is not None:
                yield move + killed
            more = self._next(state, process)
            if more is None:
                return
            move += more

    def readers(self, edge: Move[State], line: int) -> Iterator[Move[State]]:
        """A lease: up to where the bytes are read, or it is refused."""
        move, process = edge, self.model.config.writers + line
        while (state := move[-1][2]).pc[process] in ("where", "life", "map"):
            found = ((action, after) for action, after in self.steps[state] if action.param("line") == line)
            move += ((state, *next(found)),)
        yield move

    def clean(self, edge: Move[State]) -> Iterator[Move[State]]:
        """All that there is to clean."""
        move = edge
        while True:
            state = move[-1][2]
            more = next(((a, b) for a, b in self.steps[state] if a.name == "Clean"), None)
            if more is None:
                yield move
                return
            move += ((state, *more),)


def moves_of(model: RingOverflow, state: State, steps: Steps[State]) -> Iterator[Move[State]]:
    """Yield the calls that a state allows. Only who made the ring can end it while its maker lives."""
    found = _Moves(model, steps)
    cleaned = False
    for action, after in steps[state]:
        edge: Move[State] = ((state, action, after),)
        who = action.params[0][1]
        ends = action.name == "Finish" and (who == 0 or state.pc[0] == "dead")
        if ends or action.name in ("Look", "Enter", "Leave"):
            yield from found.writers(edge, who)
        elif action.name == "Begin":
            yield from found.readers(edge, who)
        elif action.name == "Clean" and not cleaned:
            cleaned = True
            yield from found.clean(edge)
        elif action.name in _ALONE or action.name == "Kill":
            yield edge
