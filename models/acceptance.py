"""Is a recorded run a behaviour of the model?

The judge keeps the set of states in which the system may be. An event keeps those states that allow it, with what
was observed of it; when none is left, the event is the first impossible one, and the verdict says what was possible
instead. Actions of the environment that nobody can record are silent: an event may name one that may have happened
directly before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from models.kernel import Action, Model, show

__all__ = ("Observation", "Verdict", "judge")

S = TypeVar("S", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Observation(Generic[S]):
    """One recorded event.

    Attributes:
        text: The event as a person reads it.
        action: The action that was recorded, or None for a read, which changes nothing.
        differs: Compares a step (for a read: a step that stays) with what was recorded; "" when they agree.
        silent: An action that may have happened unseen directly before this event.
    """

    text: str
    action: Action | None
    differs: Callable[[S, S], str]
    silent: Action | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a run is allowed.

    Attributes:
        events: Events that were judged, including the impossible one.
        reason: On rejection, why the event is impossible, or what is wrong with the file.
        event: On rejection, the first impossible event.
        possible: On rejection, what the model would have allowed there.
        counts: How often each action was accepted: a run of few actions proves little.
    """

    channel: str
    accepted: bool
    events: int
    reason: str = ""
    event: str = ""
    possible: tuple[str, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        if self.accepted:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(self.counts.items()))
            return f"{self.channel}: ACCEPTED, {self.events} events ({counts or 'nothing happened'})"
        lines = [f"{self.channel}: REJECTED at event {self.events}: {self.event or '(no event)'}", f"  {self.reason}"]
        if self.possible:
            lines.append(f"  possible instead: {', '.join(self.possible)}")
        return "\n".join(lines)


def judge(model: Model[S], start: Iterable[S], events: Iterable[Observation[S]], channel: str = "trace") -> Verdict:
    """Follow the events from the start states. Stops at the first impossible event."""
    states = list(dict.fromkeys(start))
    counts: Counter[str] = Counter()
    number = 0
    for number, event in enumerate(events, 1):
        before = list(dict.fromkeys((*states, *(s for state in states for s in _after(model, state, event.silent)))))
        found: dict[S, None] = {}
        reasons: list[str] = []
        for state in before:
            for after in (state,) if event.action is None else _after(model, state, event.action):
                if reason := event.differs(state, after):
                    reasons.append(reason)
                else:
                    found[after] = None
        if not found:
            reason = reasons[0] if reasons else _not_enabled(states)
            possible = _possible(model, states)
            return Verdict(channel, False, number, reason, event.text, possible, counts)
        states = list(found)
        counts[event.action.name if event.action else "(read)"] += 1
    return Verdict(channel, True, number, counts=counts)


def _after(model: Model[S], state: S, action: Action | None) -> list[S]:
    """The states after one given action; none when it is not enabled."""
    if action is None or action.name not in model.actions:
        return []
    return [after for candidate, after in model.actions[action.name](state) if candidate == action]


def _possible(model: Model[S], states: list[S]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(action) for state in states for action, _ in model.steps(state)))


def _not_enabled(states: list[S]) -> str:
    state = states[0]
    fields: tuple[str, ...] = state._fields  # type: ignore[attr-defined]
    known = ", ".join(f"{name} = {_short(show(value))}" for name, value in zip(fields, state, strict=True))
    return f"not enabled; the state before it was {known}"


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:57]} ... {text[-57:]}"
