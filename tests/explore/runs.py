"""Random runs of the model, written as a host would record them."""

from __future__ import annotations

import random
from typing import Any

from models.dispatch import Dispatch
from models.dispatch_state import DOWN, Config, State, initial_state
from models.kernel import Action

__all__ = ("random_run", "unbounded")

_SILENT = {"Crash": "Fence", "CrashProducer": "FenceProducer"}


def unbounded(ranks: int, producers: int, depth: int) -> Config:
    """Return a configuration in which everything may happen, for ever."""
    return Config(
        ranks=ranks,
        producers=producers,
        depth=depth,
        max_calls=None,
        max_epoch=None,
        per_producer=None,
        leavers=frozenset(range(ranks)),
        mortal=frozenset(range(ranks)),
        mortal_producers=frozenset(range(producers)),
        quitters=frozenset(range(producers)),
    )


def random_run(rng: random.Random, config: Config, length: int) -> list[dict[str, Any]]:
    """Return the events of a run: Open, then ``length`` actions, each crash hidden before its fence."""
    model = Dispatch(config)
    state = initial_state(config, DOWN)
    opening = {"v": 1, "action": "Open", "protocol": "dispatch", "dp": 0, "ranks": config.ranks, "depth": config.depth}
    events: list[dict[str, Any]] = [opening]
    while len(events) <= length:
        choices: dict[str, list[tuple[Action, State]]] = {}
        for action, after in model.steps(state):
            choices.setdefault(action.name, []).append((action, after))
        names = sorted(choices)
        name = rng.choices(names, [12 if name in ("GetTasks", "PutTasks", "CallPut", "Join") else 1 for name in names])[
            0
        ]
        action, after = rng.choice(choices[name])
        if name in _SILENT:
            fence = Action(_SILENT[name], action.params)
            state = after
            after = next(target for step, target in model.actions[fence.name](state) if step == fence)
            action = fence
        events.append(_event(len(events), action, state, after))
        state = after
    return events


def _event(seq: int, action: Action, before: State, after: State) -> dict[str, Any]:
    result: dict[str, Any] = {}
    log = [entry.id for entry in after.log]
    if action.name == "GetTasks":
        taken = after.got[action.params[0][1]][-1]
        result = {"id": taken, "all_read": taken not in log}
    elif action.name.startswith("Clear"):
        result = {"dropped": [entry.id for entry in before.log if entry.id not in log]}
    return {
        "v": 1,
        "seq": seq,
        "protocol": "dispatch",
        "dp": 0,
        "action": action.name,
        "args": dict(action.params),
        "result": result,
        "post": {
            "calls": after.calls,
            "epoch": after.epoch,
            "exist": after.exist,
            "log": log,
            "waiting": [call.id for call in after.waiting],
        },
    }
