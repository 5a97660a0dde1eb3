"""What is claimed of the mailbox protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.mailbox_state import ENDS, Config, State

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    requests, clients = range(config.requests), range(1, config.clients + 1)

    def type_ok(s: State) -> bool:
        return (
            all(client in ("live", "dead", "gone") for client in s.clients)
            and all(owner in (0, *clients) for owner in s.owner)
            and all(stage in ("open", *ENDS) for stage in s.stage)
            and all(0 < item <= s.made[i] for i in requests for item in s.cached[i])
            and all(batch for flying in s.flights for batch in flying)
            and all(given.item > 0 and given.to in clients for all_ in s.sent for given in all_)
        )

    def in_order_once(s: State) -> bool:
        return all(tuple(given.item for given in all_) == tuple(range(1, len(all_) + 1)) for all_ in s.sent)

    def one_client(s: State) -> bool:
        return all(len({given.to for given in all_}) <= 1 for all_ in s.sent)

    def nothing_vanishes(s: State) -> bool:
        return all(
            len(s.sent[i]) + sum(map(len, s.flights[i])) + len(s.cached[i]) + s.dropped[i] == s.made[i]
            for i in requests
        )

    def bounded(s: State) -> bool:
        return sum(map(len, s.cached)) <= config.capacity

    def finished_is_over(s: State) -> bool:
        return all(
            s.stage[i] == "over" and not s.cached[i] and not s.flights[i]
            for i in requests
            if s.fin[i] and len(s.sent[i]) == s.made[i]
        )

    return {
        "TypeOK": type_ok,
        "InOrderOnce": in_order_once,
        "OneClient": one_client,
        "NothingVanishes": nothing_vanishes,
        "Bounded": bounded,
        "FinishedIsOver": finished_is_over,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    requests = range(config.requests)

    def nothing_to_the_gone(s: State, action: Action, t: State) -> bool:
        return all(t.sent[i] == s.sent[i] or s.clients[s.owner[i] - 1] != "gone" for i in requests)

    def ended_stays(s: State, action: Action, t: State) -> bool:
        return all(s.stage[i] == "open" or (t.stage[i], t.owner[i]) == (s.stage[i], s.owner[i]) for i in requests)

    return {"NothingToTheGone": nothing_to_the_gone, "EndedStays": ended_stays}


def fairness(config: Config) -> list[Fair[State]]:
    """Sends come to an end, and limits are looked at."""

    def ends(r: int) -> Fair[State]:
        names = ("Sent", "Lost", "Late")
        return Fair(
            f"Sent({r})", lambda s, a: a.name in names and a.param("request") == r and a.param("i") in (1, None)
        )

    def expires(r: int) -> Fair[State]:
        return Fair(f"Expire({r})", lambda s, a: a.name == "Expire" and a.param("request") == r)

    return [of(r) for r in range(1, config.requests + 1) for of in (ends, expires)]


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the requests."""

    def leaves(name: str, i: int, asked: bool) -> LeadsTo[State]:
        def waits(s: State) -> bool:
            return s.stage[i] == "open" and (s.owner[i] != 0) == asked and s.cached[i] != ()

        return LeadsTo(f"{name}(request={i + 1})", waits, lambda s: not waits(s))

    requests = range(config.requests)
    found = {"WaitingIsSent": [leaves("WaitingIsSent", i, True) for i in requests]}
    if config.idle:  # else time does not pass, and nothing expires
        found["UnaskedEnds"] = [leaves("UnaskedEnds", i, False) for i in requests]
    return found


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "a request is over": lambda s: "over" in s.stage,
        "results wait for a handle": lambda s: any(
            items and not owner for items, owner in zip(s.cached, s.owner, strict=True)
        ),
    }
    if config.capacity and (config.max_items or 2) > 1:
        found["results wait behind a batch"] = lambda s: any(
            items and flying for items, flying in zip(s.cached, s.flights, strict=True)
        )
    if config.mortal:
        found["results were for a client that is gone"] = lambda s: "lost" in s.stage
    if config.closes:
        found["a batch is being sent when the server is closed"] = lambda s: s.closed and any(s.flights)
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.capacity and (config.max_items or 2) > 1:
        found["a handle finds several results"] = lambda s, a, t: (
            a.name == "Handle" and any(len(batch) > 1 for flying in t.flights for batch in flying)
        )
    if config.mortal:
        found["a batch is sent to a client that is dead"] = lambda s, a, t: a.name == "Sent" and "dead" in s.clients
    return found
