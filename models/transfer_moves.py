"""What several actions of the transfer model do: a task ends, a rank is not there any more, a result was handled.

And the pause protocol, as far as it is seen from here: ``models/pause.py`` has all of it.
"""

from __future__ import annotations

from collections.abc import Collection

from models.kernel import replaced
from models.transfer_state import (
    AWAY,
    CANCELLED,
    FAILED,
    LIVE,
    LOST,
    OK,
    STARTED,
    Config,
    Report,
    State,
    numbers,
    reported,
)

__all__ = ("cancel", "end", "handle", "lack", "leave_inside", "not_at", "order", "report", "resume", "still", "stop")


def end(s: State, number: int, how: str) -> State:
    """The task has ended: its result is posted to its owner, unless that is gone."""
    owner = s.owner[number - 1]
    results = s.results
    if owner not in s.gone:
        results = replaced(results, owner - 1, (*results[owner - 1], number))
    return s._replace(state=replaced(s.state, number - 1, how), results=results)


def cancel(s: State, which: Collection[int], *, tells: bool) -> State:
    """Tasks end because they were withdrawn."""
    for number in which:
        s = end(s, number, CANCELLED) if tells else s._replace(state=replaced(s.state, number - 1, CANCELLED))
    return s


def report(s: State, number: int, said: Report, *, stays: bool = False) -> State:
    """A rank's report comes; ``stays``: it is at the task still."""
    added = replaced(s.reports, number - 1, s.reports[number - 1] | {said})
    s = _end_if_due(s._replace(reports=added), number)
    return s if stays else s._replace(busy=replaced(s.busy, number - 1, s.busy[number - 1] - {said.rank}))


def not_at(s: State, rank: int) -> State:
    """The rank is at no task any more."""
    return s._replace(busy=tuple(busy - {rank} for busy in s.busy))


def lack(s: State, rank: int, *states: str) -> State:
    """The rank will report nothing of tasks in these states that it has not reported."""
    for number in numbers(s, *states):
        if rank not in reported(s, number):
            s = s._replace(without=replaced(s.without, number - 1, s.without[number - 1] | {rank}))
            s = _end_if_due(s, number) if s.state[number - 1] == STARTED else end(s, number, FAILED)
    return s


def _end_if_due(s: State, number: int) -> State:
    """End a task that waits for nobody any more."""
    if s.state[number - 1] == STARTED and len(reported(s, number) | s.without[number - 1]) < len(s.status):
        return s
    good = not s.without[number - 1] and all(said.ok for said in s.reports[number - 1])
    return end(s, number, OK if good else FAILED)


def handle(s: State, client: int) -> State:
    """A client has handled what it took last, if anything."""
    taken = s.hand[client - 1]
    return s._replace(handled=s.handled | {taken}, hand=replaced(s.hand, client - 1, 0)) if taken else s


def leave_inside(s: State, rank: int) -> State:
    """Nobody acts for the rank any more."""
    return s._replace(
        vote=replaced(s.vote, rank, "none"),
        open=replaced(s.open, rank, False),
        spare=replaced(s.spare, rank, False),
        jobs=replaced(s.jobs, rank, frozenset()),
        running=replaced(s.running, rank, frozenset()),
    )


# -- pause ---------------------------------------------------------------------------------------------------------


def stop(config: Config, s: State) -> State | None:
    """A pause is ordered."""
    if s.phase != "run" or s.pauses >= config.max_pauses:
        return None
    return s._replace(phase="stop", pauses=s.pauses + 1)


def order(config: Config, s: State, rank: int) -> State | None:
    """A rank takes the latest order."""
    wanted = s.phase == "run"
    if not config.inside or s.status[rank] != LIVE or s.open[rank] == wanted:
        return None
    return s._replace(open=replaced(s.open, rank, wanted))


def still(s: State) -> State | None:
    """The pause is reached: no rank has a job."""
    quiet = all(
        status in (AWAY, LOST) or not (s.open[rank] or s.spare[rank] or s.jobs[rank])
        for rank, status in enumerate(s.status)
    )
    return s._replace(phase="still") if s.phase == "stop" and quiet else None


def resume(s: State) -> State | None:
    """The pause ends."""
    return s._replace(phase="run") if s.phase == "still" else None
