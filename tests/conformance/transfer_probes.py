"""Calls of the transfer cores that the model does not allow in a state: each has to be refused, and change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from fdcomm.core.rank_tasks import RankTasks
from fdcomm.core.transfer import Transfer as Core
from models.transfer import Config, State
from models.transfer_state import AWAY, DEAD, LIVE, LOST, QUEUED, STARTED, ended, numbers, reported
from tests.conformance.driving import Probe

__all__ = ("probes",)


def probes(core: Core[Any], inside: Sequence[RankTasks[Any]], s: State, config: Config) -> Iterator[Probe]:
    """Yield calls that the model does not allow in ``s``, as far as a core can know that."""
    for rank, status in enumerate(s.status):
        yield from _rank_probes(core, s, rank, here=status in (LIVE, DEAD))
        yield from _inside_probes(inside[rank], s, rank)
        for number in range(len(s.state) + 2):
            yield from _report_probes(core, s, rank, number)
    queued = numbers(s, QUEUED)
    if LOST in s.status:
        yield "Issue", partial(core.issue, 1, "1", "lost"), None
    elif len(queued) == config.capacity:
        yield "Issue", partial(core.issue, 1, "1", "too many"), (None,)
    if not queued:
        yield "Clear", core.clear, ((),)
    if not queued or "no" in s.vote or {AWAY, LOST} & set(s.status):
        yield "offer", core.offer, (0,)
    else:
        yield "offer", core.offer, (queued[0],)
    if not queued or set(s.vote) != {"yes"}:
        yield "Start", core.start, (None,)
    for client in range(1, config.clients + 2):
        mine = [n for n, owner in enumerate(s.owner, 1) if owner == client and client not in s.gone]
        if not set(mine) & set(queued):
            yield f"Withdraw({client})", partial(core.withdraw, client), ((),)
        known = client <= config.clients
        if not known or not s.results[client - 1]:
            yield f"HandOut({client})", partial(core.hand_out, client), (None,)
        if not known or not s.hand[client - 1]:
            yield f"Acknowledge({client})", partial(core.acknowledge, client), (False,)
        if not known or all(s.busy[n - 1] for n in s.held[client - 1]):
            yield f"Settled({client})", partial(core.settled, client), (None,)
        if not mine:
            yield f"Gone({client})", partial(core.gone, client), (False,)
        yield f"outstanding({client})", partial(core.outstanding, client), (len(set(mine) - s.handled),)
        for number in range(len(s.state) + 2):
            if number not in mine or s.state[number - 1] != STARTED:
                yield f"Abandon({number}, {client})", partial(core.abandon, number, client), (None,)
    for number in numbers(s, STARTED):
        waits = set(range(config.ranks)) - reported(s, number) - s.without[number - 1]
        yield f"awaited({number})", partial(core.awaited, core.started[number]), (tuple(sorted(waits)),)


def _rank_probes(core: Core[Any], s: State, rank: int, *, here: bool) -> Iterator[Probe]:
    if here:
        yield f"Join({rank})", partial(core.join, rank), None
    else:
        for name in ("leave", "fence", "accept", "refuse", "return_", "back_off"):
            yield f"{name}({rank})", partial(getattr(core, name), rank), None
    if s.status[rank] != AWAY:
        yield f"Vanish({rank})", partial(core.vanish, rank), None
    if s.status[rank] != LOST:
        yield f"Reappear({rank})", partial(core.reappear, rank), (False,)
    if not here:
        return
    vote, waits = s.vote[rank], QUEUED in s.state
    if vote == "yes":
        yield f"Accept({rank})", partial(core.accept, rank), None
    elif not waits:
        yield f"Accept({rank})", partial(core.accept, rank), (False,)
    if vote != "none":
        yield f"Refuse({rank})", partial(core.refuse, rank), None
    if vote != "no" or waits:
        yield f"Return({rank})", partial(core.return_, rank), (False,)
    reason = not waits or "no" in s.vote or {AWAY, LOST} & set(s.status)
    if vote != "yes" or not reason:
        yield f"BackOff({rank})", partial(core.back_off, rank), (False,)


def _inside_probes(inside: RankTasks[Any], s: State, rank: int) -> Iterator[Probe]:
    if s.spare[rank]:
        yield f"Admit({rank})", partial(inside.admit, "another job"), None
    else:
        yield f"Release({rank})", inside.release, None
        yield f"begin({rank})", partial(inside.begin, len(s.state) + 1, "1"), None
    for number in range(1, len(s.state) + 2):
        tells = f"tell({rank}, {number})", partial(inside.tell, number, ok=True)
        done = f"JobDone({rank}, {number})", partial(inside.job_done, number)
        finish = f"Finish({rank}, {number})", partial(inside.finish, number)
        overdue = f"Overdue({rank}, {number})", partial(inside.overdue, number)
        settle = f"Settle({rank}, {number})", partial(inside.settle, number)
        if number not in s.jobs[rank]:
            yield from ((*call, None) for call in (tells, done, finish, overdue, settle))
            continue
        begun = inside.jobs[number]
        told = rank in reported(s, number)
        if begun.running:
            yield (*done, None)
            yield (*tells, (False,) if told else None)
            yield (*settle, None if told else (False,))
        else:
            yield (*finish, None)
            yield (*overdue, (False,) if begun.told else None)
        if told:
            yield (*overdue, (False,))
            if not begun.owes:
                yield (*settle, (False,))
            elif not begun.running:
                yield (*done, None)
        elif s.state[number - 1] == STARTED:
            yield (*done, None)
            if any(m < number and s.kind[m - 1] == s.kind[number - 1] for m in s.jobs[rank]):
                yield (*tells, None)


def _report_probes(core: Core[Any], s: State, rank: int, number: int) -> Iterator[Probe]:
    reports = (
        (f"ReportOk({rank}, {number})", partial(core.report_ok, rank, number, "probe")),
        (f"Overdue({rank}, {number})", partial(core.overdue, rank, number, "probe")),
    )
    settle = f"Settle({rank}, {number})", partial(core.settle, rank, number)
    here = s.status[rank] in (LIVE, DEAD)
    known = 0 < number <= len(s.state)
    if not here or not known or s.state[number - 1] == QUEUED:
        yield from ((*call, None) for call in reports)
    elif ended(s, number) or rank in s.without[number - 1]:
        yield from ((*call, (False,)) for call in reports)
    elif rank in reported(s, number):
        yield from ((*call, None) for call in reports)
    if not here:
        yield (*settle, None)
    elif not known or rank not in s.busy[number - 1]:
        yield (*settle, (False,))
    elif s.state[number - 1] == STARTED and rank not in reported(s, number):
        yield (*settle, None)
