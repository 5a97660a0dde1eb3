"""Recorded runs of pauses, judged by ``models/pause.py``.

A host sees its own actions, and what the ranks tell it: which order they have taken, and that they are quiet. Jobs
pass inside the ranks, so in a recorded run no rank has any; ``tests/traces`` merges what the ranks recorded, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from models.acceptance import Observation, Verdict, judge
from models.kernel import Action, Step
from models.pause import Config, Pause, State
from models.pause_state import ABORT, DEAD, LIVE, initial_state
from models.recorded import Event, Malformed, after_it, check_seq, differing, in_words, not_opened, read

__all__ = ("accept_channel",)

_MODES = ("keep", "drain", "abort")
_OF_RANK = ("Join", "Leave", "Fence", "Admit", "Done", "Park")
_OF_CLIENT = ("PauseReturns", "PauseEnded", "CallResume", "CancelPause", "ResumeReturns", "GiveUp", "Hold", "LetGo")
_ARGS = {
    **dict.fromkeys(_OF_RANK, ("rank",)),
    **dict.fromkeys(("Take", "Quiet"), ("rank", "order")),
    **dict.fromkeys(_OF_CLIENT, ("client",)),
    "CallPause": ("client", "mode"),
}
_INSIDE = ("Admit", "Done", "Park")  # recorded by a rank
_POST = {"order", "phase", "mode", "quiet", "seen", "holders"}


class _Told(Pause):
    """The model in which a rank's news may be late: it took an order before the host made the next one.

    Args:
        config: Constants.
        orders: Number -> phase and mode of each order, as the host recorded them.
    """

    def __init__(self, config: Config, orders: Mapping[int, tuple[str, int]]) -> None:
        super().__init__(config)
        self.orders = orders
        self.actions = {**self.actions, "Take": self.take_told}

    def take_told(self, s: State) -> Iterator[Step[State]]:
        """Take, with the number of the order."""
        for rank in self.ranks:
            for number in range(s.seen[rank] + 1, s.order + 1) if s.status[rank] == LIVE else ():
                action = Action("Take", (("rank", rank), ("order", number)))
                yield action, self.taken(s, rank, number, *self.orders[number])


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel."""
    opening, *rest = events
    ranks = opening.get("ranks")
    if opening.get("action") != "Open" or type(ranks) is not int or ranks < 1:
        return not_opened(channel, opening, "ranks")
    reading = read(rest, _observe)
    clients = max((event["args"].get("client", 1) for event in reading.events), default=1)
    orders: dict[int, tuple[str, int]] = {}
    for post in (event["post"] for event in reading.events if event["post"]):
        orders.setdefault(post["order"], (post["phase"], _number("mode", post["mode"])))
    everybody, callers = frozenset(range(ranks)), frozenset(range(1, clients + 1))
    config = Config(
        ranks=ranks,
        clients=clients,
        max_jobs=None,
        max_orders=None,
        modes=frozenset(range(ABORT + 1)),
        leavers=everybody,
        mortal=everybody,
        impatient=callers,
    )
    return reading.ended(judge(_Told(config, orders), [initial_state(config)], reading.found, channel))


def _observe(event: Event, number: int) -> Observation[State]:
    check_seq(event, number)
    name, args, result, post = (event.get(part) for part in ("action", "args", "result", "post"))
    if not isinstance(name, str) or name not in _ARGS:
        raise Malformed(f"{name!r} is not an action of this protocol that can be recorded")
    if not isinstance(args, dict) or set(args) != set(_ARGS[name]):
        raise Malformed(f"args of {name} must be {_ARGS[name]}, not {args}")
    if result != {}:
        raise Malformed(f"{name} has no result, and this one has {result}")
    wanted = set() if name in _INSIDE else _POST
    if not isinstance(post, dict) or set(post) != wanted:
        raise Malformed(f"post must have exactly {sorted(wanted)}")
    values = {key: _number(key, args[key]) for key in _ARGS[name]}
    order = values.pop("order", None) if name == "Quiet" else None
    params = {"rank": values["rank"]} if name in _OF_RANK else values
    silent = Action("Crash", tuple(params.items())) if name == "Fence" else None

    def differs(before: State, after: State) -> str:
        if order is not None and order != before.order:
            return f"the report is about order {order}, and the latest is {before.order}"
        if not post:
            return ""
        shown = {
            "order": after.order,
            "phase": after.phase,
            "mode": _MODES[after.mode],
            "quiet": sorted(after.quiet),
            "seen": [[rank, after.seen[rank]] for rank, what in enumerate(after.status) if what in (LIVE, DEAD)],
            "holders": sorted(after.holders),
        }
        return after_it(differing(post, shown))

    return Observation(in_words(event), Action(name, tuple(params.items())), differs, silent)


def _number(key: str, value: object) -> int:
    if key == "mode":
        if value not in _MODES:
            raise Malformed(f"{value!r} is no mode of a pause")
        return _MODES.index(str(value))
    if type(value) is not int or value < (1 if key == "client" else 0):
        raise Malformed(f"{key} {value!r} is not a number")
    return value
