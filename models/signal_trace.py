"""Recorded runs of signals, judged by ``models/signal.py``.

Each process noted its steps after it had taken them. So a step was taken between the note before and its own; the
judge looks for an order of all steps that respects these spans and that the model allows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from models.acceptance import Verdict
from models.kernel import Action, replaced
from models.recorded import Event, Malformed, not_opened
from models.recorded_steps import LINE
from models.signal import Config, Signal, State

__all__ = ("accept_channel",)

_FIELDS = {"process", "action", "start", "end", "file", "insist", "error"}


@dataclass(frozen=True)
class _Step:
    """``error`` is how the call ended, of the last step of a call ("": well), and None of the others."""

    process: int
    action: str
    start: int
    end: int
    file: int
    insist: bool
    error: str | None


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one run: Open, then the steps of each process in its order.

    Of a rejected run ``events`` is one more than the number of steps in the longest order that is allowed.
    """
    opening, *rest = events
    processes = opening.get("processes")
    if opening.get("action") != "Open" or type(processes) is not int or processes < 1:
        return not_opened(channel, opening, "processes")
    steps: list[list[_Step]] = [[] for _ in range(processes)]
    for number, event in enumerate(rest, 1):
        try:
            step = _read(event, opening, steps)
        except Malformed as error:
            return Verdict(channel, False, number, str(error), json.dumps(event))
        steps[step.process].append(step)
    everybody = frozenset(range(processes))
    makes = sum(step.action == "MakeTemp" for of in steps for step in of)
    config = Config(
        processes=processes,
        files=makes + processes,
        creators=everybody,
        insisters=everybody,
        attachers=everybody,
        mortal=everybody,
        full=True,
    )
    return _follow(channel, Signal(config), steps)


def _read(event: Event, opening: Event, steps: list[list[_Step]]) -> _Step:
    if set(event) != {*_FIELDS, *LINE} or any(event[key] != opening.get(key) for key in LINE):
        raise Malformed(f"a step has exactly {sorted({*_FIELDS, *LINE})}, and v, protocol and dp are those of Open")
    if any(type(event[key]) is not int or event[key] < 0 for key in ("process", "start", "end", "file")):
        raise Malformed("process, start, end and file must be numbers from 0")
    step = _Step(**{key: event[key] for key in _FIELDS})
    if step.process >= len(steps):
        raise Malformed(f"there is no process {step.process}")
    if step.action not in Signal().actions or step.action == "ForeignCreate":
        raise Malformed(f"{step.action!r} is not an action that a process can note")
    if type(step.insist) is not bool or not (step.error is None or isinstance(step.error, str)):
        raise Malformed("insist must be true or false, and error a string or null")
    before = steps[step.process][-1].end if steps[step.process] else 0
    if not before <= step.start <= step.end:
        raise Malformed("a step begins when the one before it was noted, or later, and ends after that")
    return step


def _follow(channel: str, model: Signal, steps: list[list[_Step]]) -> Verdict:
    (first,) = model.initial()
    total = sum(map(len, steps))
    todo: list[tuple[tuple[int, ...], State, tuple[int, ...]]] = [((0,) * len(steps), first, ())]
    seen = {todo[0]}
    furthest = todo[0]
    while todo:
        node = todo.pop()
        at, state, inodes = node
        if sum(at) > sum(furthest[0]):
            furthest = node
        if sum(at) == total:
            return Verdict(channel, True, total, counts=Counter(step.action for of in steps for step in of))
        pending = [of[number] for of, number in zip(steps, at, strict=True) if number < len(of)]
        soonest = min(step.end for step in pending)
        for step in pending:
            if step.start > soonest:
                continue
            process = step.process
            for after, known in _taken(model, state, inodes, step):
                there = replaced(at, process, at[process] + 1), after, known
                if there not in seen:
                    seen.add(there)
                    todo.append(there)
    at, state, _ = furthest
    pending = [of[number] for of, number in zip(steps, at, strict=True) if number < len(of)]
    reason = f"no order that the spans allow explains more than {sum(at)} of the {total} steps"
    stuck = "; ".join(f"{step.action} of {step.process}, which is at {state.pc[step.process]}" for step in pending)
    return Verdict(channel, False, sum(at) + 1, reason, stuck)


def _taken(
    model: Signal, state: State, inodes: tuple[int, ...], step: _Step
) -> Iterator[tuple[State, tuple[int, ...]]]:
    """What the step may lead to: states, each with the inodes of the files that were made."""
    p = step.process
    for action, after in model.actions[step.action](state):
        if action.param("process") != p or action.param("insist") not in (None, int(step.insist)):
            continue
        file = action.param("file")
        # The close at the end of a clear is of the file that was cleared.
        if file is not None and state.pc[p] != "close" and inodes[file - 1] != step.file:
            continue
        known = (*inodes, step.file) if step.action == "MakeTemp" else inodes
        if step.action in ("Examine", "Open"):
            opened = after.seen[p]
            if (known[opened - 1] if opened else 0) != step.file:
                continue
        if step.error is None or (after.pc[p] == "idle" and _ending(action, state, p) == step.error):
            yield after, known


def _ending(action: Action, before: State, p: int) -> str:
    """Return the error that a call ends with in this step."""
    if action.name == "GiveUp":
        return "CommTimeoutError"
    if action.name == "Validate":
        return "" if before.content[before.seen[p] - 1] == "whole" else "SignalMismatchError"
    if action.name != "DropGuard":
        return ""
    if before.pc[p] == "attach-leave":
        return "SignalNotFoundError"
    if before.pc[p] == "leave" and not before.made[p]:
        return "SignalInUseError"
    return "SignalSpaceError" if before.pc[p] == "leave" and before.name != before.made[p] else ""
