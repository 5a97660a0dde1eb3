"""What is claimed of the layerwise model, under the contract's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from models.kernel import Action
from models.layerwise_state import Config, Done, State
from models.liveness import Fair, LeadsTo

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")

Invariant: TypeAlias = Callable[[State], bool]
StepProperty: TypeAlias = Callable[[State, Action, State], bool]


def _serial(config: Config) -> Callable[[int, int], bool]:
    def later(a: int, b: int) -> bool:
        if not config.guards.SerialSteps:
            return a > b
        return 0 < 2 * ((a - b) % config.modulus) < config.modulus

    return later


def _task_of(config: Config) -> dict[int, int]:
    return {config.step(task): task for task in range(1, config.tasks + 1)}


def _known(s: State, rank: int) -> set[int]:
    return {x.task for x in s.tasks[rank]} | {x.task for x in s.done[rank]}


def invariants(config: Config) -> dict[str, Invariant]:
    """Hold in every reachable state."""
    ranks, task_of = range(config.ranks), _task_of(config)
    layers = range(config.layers + 1)
    infos = config.infos

    def type_ok(s: State) -> bool:
        return all(
            all(number in layers for number in s.computed[r])
            and s.ended[r] <= config.aborted
            and 0 <= s.given[r] <= len(infos)
            and all(x.task in infos and x.sent in layers and x.ready in layers for x in s.tasks[r])
            and all(not e or (e[0] in range(config.modulus) and e[1] in range(config.layers)) for e in s.early[r])
            and all(step in range(-1, config.modulus) for step in s.seen[r])
            and s.told[r] <= set(task_of.values())
            and all(x.task in infos and x.sent in layers for x in s.done[r])
            for r in ranks
        )

    def never_uncomputed(s: State) -> bool:
        return all(
            all(x.sent <= x.ready <= s.computed[r][x.task - 1] for x in s.tasks[r])
            and all(x.sent <= s.computed[r][x.task - 1] for x in s.done[r])
            and all(x.failed or x.sent == config.layers for x in s.done[r])
            for r in ranks
        )

    def in_order(s: State) -> bool:
        return all(
            tuple(x.task for x in s.done[r]) + tuple(x.task for x in s.tasks[r]) == infos[: s.given[r]] for r in ranks
        )

    def same_collectives(s: State) -> bool:
        return all(a.task == b.task for r in ranks for q in ranks for a, b in zip(s.done[r], s.done[q], strict=False))

    def no_leftover(s: State) -> bool:
        over = [s.ended[r] | s.told[r] | _known(s, r) for r in ranks]
        return all(not e or task_of[e[0]] not in over[r] for r in ranks for e in s.early[r])

    def one_fate(s: State) -> bool:
        return all(
            all(x.failed or x.task not in s.told[r] for x in s.tasks[r])
            and all(x.failed or x.task not in s.told[r] for x in s.done[r])
            for r in ranks
        )

    return {
        "TypeOK": type_ok,
        "NeverUncomputed": never_uncomputed,
        "InOrder": in_order,
        "SameCollectives": same_collectives,
        "NoLeftover": no_leftover,
        "OneFate": one_fate,
        "Bounded": lambda s: all(len(tasks) <= config.capacity for tasks in s.tasks),
    }


def action_properties(config: Config) -> dict[str, StepProperty]:
    """Hold for every step."""
    ranks, slots, task_of, later = range(config.ranks), range(config.slots), _task_of(config), _serial(config)

    def no_layer_twice(s: State, a: Action, t: State) -> bool:
        del a
        after = [{x.task: x.sent for x in t.tasks[r]} for r in ranks]
        return all(x.sent <= after[r].get(x.task, x.sent) for r in ranks for x in s.tasks[r])

    def early_kept(s: State, a: Action, t: State) -> bool:
        del a
        for r in ranks:
            for slot in slots:
                before, after = s.early[r][slot], t.early[r][slot]
                if not before or after == before:
                    continue
                if after and (later(after[0], before[0]) or (after[0] == before[0] and after[1] > before[1])):
                    continue
                known = t.ended[r] | t.told[r] | {x.task for x in t.tasks[r]}
                if after or task_of[before[0]] not in known:
                    return False
        return True

    def fails_alone(s: State, a: Action, t: State) -> bool:
        for r in ranks:
            failed = {x.task for x in s.tasks[r] if x.failed}
            for x in t.tasks[r]:
                own = a == Action("ExpireTask", (("rank", r), ("task", x.task)))
                if x.failed and x.task not in failed and not own and x.task not in t.ended[r] | s.told[r]:
                    return False
        return True

    return {"NoLayerTwice": no_layer_twice, "EarlyKept": early_kept, "FailsAlone": fails_alone}


# -- liveness ------------------------------------------------------------------------------------------------------


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Each property is a family, one member for each rank and task (and slot)."""
    ranks = range(config.ranks)

    def sent(r: int, t: int) -> LeadsTo[State]:
        whole = Done(t, config.layers, False)
        return LeadsTo(
            f"EveryLayerSent({r}, {t})",
            lambda s: s.computed[r][t - 1] == config.layers,
            lambda s: whole in s.done[r],
        )

    def goes_on(r: int, t: int) -> LeadsTo[State]:
        return LeadsTo(
            f"OthersGoOn({r}, {t})",
            lambda s: any(x.task == t for x in s.tasks[r]),
            lambda s: any(x.task == t for x in s.done[r]),
        )

    def ends(r: int, t: int) -> LeadsTo[State]:
        step, slot = config.step(t), config.slot(t)

        def kept(s: State) -> bool:
            return s.early[r][slot][:1] == (step,)

        return LeadsTo(f"EarlyEnds({r}, {t})", kept, lambda s: not kept(s))

    return {
        "EveryLayerSent": [sent(r, t) for r in ranks for t in config.infos],
        "OthersGoOn": [goes_on(r, t) for r in ranks for t in config.infos],
        "EarlyEnds": [ends(r, t) for r in ranks for t in range(1, config.tasks + 1)],
    }


def fairness(config: Config, *, timed: bool) -> list[Fair[State]]:
    """What goes on by itself: sending; and the device, or (``timed``) the clock."""
    found: list[Fair[State]] = []

    def is_(name: str, **params: int) -> Callable[[State, Action], bool]:
        wanted = set(params.items())
        return lambda s, a: a.name == name and wanted <= set(a.params)

    def news(r: int, t: int) -> Callable[[State, Action], bool]:
        label = (("rank", r), ("task", t))
        return lambda s, a: a.name == "OnProgress" and a.params[:2] == label and a.params[2][1] >= s.computed[r][t - 1]

    for r in range(config.ranks):
        found += [Fair(f"{name}({r})", is_(name, rank=r)) for name in ("NextReady", "NextDone", "OnCacheInfo")]
        for t in range(1, config.tasks + 1):
            if timed:
                found.append(Fair(f"ExpireTask({r}, {t})", is_("ExpireTask", rank=r, task=t)))
            else:
                found.append(Fair(f"News({r}, {t})", news(r, t)))
        if timed:
            for slot in range(config.slots):
                found.append(Fair(f"ExpireEarly({r}, {slot})", is_("ExpireEarly", rank=r, slot=slot)))
    return found


# -- evidence ------------------------------------------------------------------------------------------------------


def sometimes(config: Config) -> dict[str, Invariant]:
    """Situations without which the claims would be empty."""
    found: dict[str, Invariant] = {
        "progress is kept": lambda s: any(e for kept in s.early for e in kept),
        "a task is sent in parts": lambda s: any(0 < x.sent < config.layers for tasks in s.tasks for x in tasks),
        "everything is sent": lambda s: any(
            len(done) == len(config.infos) and not any(x.failed for x in done) for done in s.done
        ),
    }
    if config.layers < 2:
        del found["a task is sent in parts"]
    if config.expiry:
        found["a task fails in the middle"] = lambda s: any(x.failed for tasks in s.tasks for x in tasks)
    if config.ranks > 1:
        found["one rank is ahead"] = lambda s: bool(s.done[0]) != bool(s.done[1])
    return found


def sometimes_steps(config: Config) -> dict[str, StepProperty]:
    """The same for steps."""
    found: dict[str, StepProperty] = {
        "kept progress is replayed": lambda s, a, t: a.name == "OnCacheInfo" and t.tasks[_rank(a)][-1].ready > 0,
        "a task passes one that waits": lambda s, a, t: (
            a.name == "NextReady" and s.tasks[_rank(a)][0] == t.tasks[_rank(a)][0] and not t.tasks[_rank(a)][0].sent
        ),
    }
    if config.tasks < 2 or config.slots < 2:
        del found["a task passes one that waits"]
    if config.expiry:
        found["an info comes too late"] = lambda s, a, t: a.name == "OnCacheInfo" and t.tasks[_rank(a)][-1].failed
        found["a failed task is finished"] = lambda s, a, t: a.name == "NextDone" and s.tasks[_rank(a)][0].failed
    return found


def _rank(action: Action) -> int:
    return action.params[0][1]
