"""What is claimed of the link protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.link_state import CALLS, CLIENT, ENDED, Config, Request, State
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

_ARRIVALS = ("Begin", "Repeat", "Stale", "Refuse", "Depart")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    numbers = frozenset(range(1, config.calls + 1))

    def is_request(request: Request) -> bool:
        return request.number in numbers | {0} and request.open <= numbers and 0 <= request.top <= config.calls

    def type_ok(s: State) -> bool:
        return (
            s.client in CLIENT
            and all(state in CALLS for state in s.calls)
            and all(map(is_request, s.wire | s.late))
            and s.back <= numbers | {0}
            and s.session in ("new", "open", *ENDED)
            and 0 <= s.top <= config.calls
            and all(state in ("none", "new", "running", "done") for state in s.known)
            and min(s.ran, default=0) >= 0
            and 0 <= s.losses <= config.max_losses
        )

    return {
        "TypeOK": type_ok,
        "AtMostOnce": lambda s: all(times <= 1 for times in s.ran),
        "AnsweredRan": lambda s: all(
            times == 1 for state, times in zip(s.calls, s.ran, strict=True) if state == "answered"
        ),
        "Bounded": lambda s: sum(state != "none" for state in s.known) <= config.window,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    return {
        "EndedStays": lambda s, a, t: s.session not in ENDED or t.session == s.session,
        "NothingAfterTheEnd": lambda s, a, t: t.ran == s.ran or s.session == "open",
        "CallsStay": lambda s, a, t: all(
            old in ("none", "open") or new == old for old, new in zip(s.calls, t.calls, strict=True)
        ),
    }


def fairness(config: Config) -> list[Fair[State]]:
    """What is sent again arrives in the end, calls come to an end, and limits are looked at."""

    def of(name: str, n: int) -> Fair[State]:
        return Fair(f"{name}({n})", lambda s, a: a.name == name and a.param("number") == n)

    def arrives(n: int) -> Fair[State]:
        return Fair(f"Arrive({n})", lambda s, a: a.name in _ARRIVALS and a.param("number") == n)

    numbers = range(1, config.calls + 1)
    found = [of(name, n) for n in numbers for name in ("Resend", "Receive", "Finish")]
    found += [arrives(n) for n in (0, *numbers)]
    found += [Fair("Hear", lambda s, a: a.name == "Hear"), Fair("GiveUp", lambda s, a: a.name == "GiveUp")]
    return [*found, Fair("FenceGone", lambda s, a: a.name == "Fence" and s.client != "up")]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: a family over the calls, and one about the host."""

    def ends(i: int) -> LeadsTo[State]:
        def waits(s: State) -> bool:
            return s.client == "up" and s.calls[i] == "open"

        return LeadsTo(f"CallEnds(number={i + 1})", waits, lambda s: not waits(s))

    def held(s: State) -> bool:
        return s.client != "up" and s.session == "open" and s.serving

    return {
        "CallEnds": [ends(i) for i in range(config.calls)],
        "GoneIsFenced": [LeadsTo("GoneIsFenced", held, lambda s: not held(s))],
    }


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "every call has its answer": lambda s: all(state == "answered" for state in s.calls),
        "a request and its copy are on their way": lambda s: bool(s.wire & s.late),
    }
    if config.guards.Resends is False:
        found.pop("a request and its copy are on their way")
    if config.window > 1 and config.calls > 2:
        found["two calls run at once"] = lambda s: s.known.count("running") > 1
    if config.may_fence:
        found["a call runs in a session that was fenced"] = lambda s: s.session == "fenced" and "running" in s.known
        found["a handle was told"] = lambda s: s.client == "fenced"
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {
        "an answer is sent again": lambda s, a, t: a.name == "Repeat" and t.back != s.back,
        "a call comes again while it runs": lambda s, a, t: a.name == "Repeat" and t.back == s.back,
    }
    if config.calls > 1:
        found["a late copy is ignored"] = lambda s, a, t: a.name == "Stale"
    if config.max_losses:
        found["an answer is lost"] = lambda s, a, t: a.name == "LoseAnswer"
    return found
