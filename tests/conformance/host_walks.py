"""Level V3 on a real host: a sample of behaviours, fixed by a seed, driven through client handles.

A real host fences and answers by itself, so a move is an action with what it brings about: a crash with its fence, a
put with its answer, a get with the put that it makes room for. What only a controlled scheduler can make (a call that
sleeps on while it could be answered) is driven in ``service_edges``.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from models.dispatch import Config, Dispatch
from models.dispatch_state import LOST, State
from models.kernel import Action
from tests.conformance.core_edges import Deviation
from tests.conformance.host_driver import Channels, HostDriver, settle
from tests.conformance.ring_driver import RingChannels, RingDriver

__all__ = ("HostCoverage", "drive_host", "moves")

_ENVIRONMENT = {"Crash": "Fence", "CrashProducer": "FenceProducer"}

_WEIGHT = {"GetTasks": 12, "CallPut": 8, "PutTimeout": 4, "PutLost": 4, "Join": 4}


@dataclass
class HostCoverage:
    """What was driven: ``moves`` are different (state, move) pairs, ``steps`` counts repetitions too."""

    walks: int = 0
    steps: int = 0
    moves: int = 0
    events: int = 0
    actions: Counter[str] = field(default_factory=Counter)


def moves(model: Dispatch, state: State) -> dict[str, tuple[Action, State]]:
    """Return what can be done to a host in a settled state: name -> (first action, settled state after it)."""
    found: dict[str, tuple[Action, State]] = {}
    for action, after in model.steps(state):
        if action.name in ("PutTasks", "PutLost", "PutTimeout"):
            continue
        if action.name in _ENVIRONMENT:
            fence = Action(_ENVIRONMENT[action.name], action.params)
            after = next(then for step, then in model.actions[fence.name](after) if step == fence)
        elif action.name == "CallPut":
            last = action.params
            for answer, then in [*model.put_timeout(after), *model.put_lost(after)]:
                if answer.params == last:
                    found[f"{answer.name} at once: {action}"] = (answer, settle(model, then)[0])
            if LOST in state.status:
                continue
        found[str(action)] = (action, settle(model, after)[0])
    return found


def drive_host(
    config: Config, seed: int, walks: int, length: int, ring: bool = False, remote: frozenset[int] = frozenset()
) -> HostCoverage:
    """Drive ``walks`` behaviours of up to ``length`` moves, each on a channel of its own, then judge what was recorded.

    A walk prefers moves that no walk has taken. With ``ring`` the items go through shared memory, in which the
    ``remote`` ranks take part through the host.
    """
    rng = random.Random(seed)
    coverage = HostCoverage()
    taken: set[tuple[State, str]] = set()
    channels: Channels = (
        RingChannels(config.ranks, config.depth, walks + 1, remote)
        if ring
        else Channels(config.ranks, config.depth, walks + 1)
    )
    try:
        for _ in range(walks):
            driver = RingDriver(channels, config) if ring else HostDriver(channels, config)
            _walk(driver, taken, rng, length, coverage)
        coverage.actions.update(channels.judge())
    finally:
        channels.close()
    coverage.walks, coverage.moves = walks, len(taken)
    coverage.events = sum(coverage.actions.values())
    return coverage


def _walk(
    driver: HostDriver,
    taken: set[tuple[State, str]],
    rng: random.Random,
    length: int,
    coverage: HostCoverage,
) -> None:
    done: list[str] = []
    try:
        for _ in range(length):
            state = driver.state
            possible = moves(driver.model, state)
            names = [name for name in sorted(possible) if driver.follows(possible[name][0])]
            if not names:
                break
            names = [name for name in names if (state, name) not in taken] or names
            name = rng.choices(names, [_WEIGHT.get(possible[name][0].name, 1) for name in names])[0]
            action, after = possible[name]
            done.append(name)
            if action.name in ("PutTimeout", "PutLost"):
                driver.put_in_vain(action.params[0][1], lost=action.name == "PutLost")
            else:
                driver.take(action)
            if driver.state != after:
                raise AssertionError(f"the driver went to {driver.state} instead of {after}")
            taken.add((state, name))
            coverage.steps += 1
    except AssertionError as error:
        raise Deviation(f"{error}, in the behaviour {', '.join(done)}") from error
    finally:
        driver.close()
