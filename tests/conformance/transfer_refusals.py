"""Calls of a host's transfer channel that cannot succeed: each has to raise its error, or to say no."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeAlias

from fdcomm.errors import (
    CommTimeoutError,
    DuplicateRankError,
    FencedError,
    PeerLostError,
    ProtocolViolationError,
    RankError,
)
from fdcomm.host.transfer_channel import TransferChannel
from models.transfer import Config, State
from models.transfer_state import LIVE, LOST, QUEUED, STARTED, numbers, reported

__all__ = ("Driven", "Refused", "refusals")

Refused: TypeAlias = "tuple[type[Exception] | None, Callable[[], Any], Any]"
"""The error, or None; the call; what it returns where it raises none."""


class Driven(Protocol):
    """A channel under test, and its sessions."""

    config: Config
    channel: TransferChannel
    client: dict[int, int]
    spare: dict[int, list[int]]
    holder: dict[int, int]
    closed: list[int]


def refusals(driver: Driven, s: State) -> list[Refused]:
    """Return calls that cannot succeed in ``s``."""
    channel = driver.channel
    calls: list[Refused] = []
    for rank, status in enumerate(s.status):
        spare = driver.spare[rank][-1]
        calls.append((ProtocolViolationError, partial(channel.report, spare, 1, True, b""), None))
        calls.append((ProtocolViolationError, partial(channel.overdue, spare, 1, b""), None))
        calls.append((ProtocolViolationError, partial(channel.settle, spare, 1), None))
        if status == LIVE:
            calls += _of_holder(driver, rank, s)
    for session in driver.closed:
        calls += [(FencedError, partial(channel.next_task, session, 0.0), None)]
        calls += [(FencedError, partial(channel.result, session, 0.0), None)]
    for client, session in driver.client.items():
        if client in s.gone:
            continue
        calls += [(RankError, partial(channel.next_task, session, 0.0), None)]
        if LOST in s.status:
            calls.append((PeerLostError, partial(channel.issue, session, "1", b"", 0.0), None))
        elif len(numbers(s, QUEUED)) == driver.config.capacity:
            calls.append((CommTimeoutError, partial(channel.issue, session, "1", b"", 0.0), None))
        mine = {n for n, owner in enumerate(s.owner, 1) if owner == client}
        if not mine & set(numbers(s, QUEUED)):
            calls.append((None, partial(channel.withdraw, session), ()))
        calls += [
            (None, partial(channel.abandon, session, n), False)
            for n in range(len(s.state) + 2)
            if n not in mine or s.state[n - 1] != STARTED
        ]
        calls.append((None, partial(channel.outstanding, session), len(mine - s.handled)))
        settles = all(s.busy[n - 1] for n in s.held[client - 1])
        if settles:
            calls.append((None, partial(channel.settled, session, 0.0), None))
        if not s.results[client - 1] and not s.hand[client - 1]:
            calls.append((None, partial(channel.result, session, 0.0), None))
            if settles:
                calls.append((None, partial(channel.news, session, 0.0), None))
    return calls


def _of_holder(driver: Driven, rank: int, s: State) -> list[Refused]:
    channel, holder, queued = driver.channel, driver.holder[rank], numbers(s, QUEUED)
    absent = "no" in s.vote or any(status not in (LIVE, "dead") for status in s.status)
    offered = 0 if absent or not queued else queued[0]
    calls: list[Refused] = [
        (DuplicateRankError, partial(channel.next_task, driver.spare[rank][-1], 0.0), None),
        (None, partial(channel.next_task, holder, 0.0), offered),
    ]
    if s.vote[rank] == "yes":
        calls.append((ProtocolViolationError, partial(channel.accept, holder, 0.0), None))
        calls.append((ProtocolViolationError, partial(channel.refuse, holder), None))
    elif s.vote[rank] == "no":
        calls.append((None, partial(channel.refuse, holder), None))
    elif not queued:
        calls.append((None, partial(channel.accept, holder, 0.0), None))
    for number in range(len(s.state) + 2):
        report, late = (
            partial(channel.report, holder, number, False, b""),
            partial(channel.overdue, holder, number, b""),
        )
        settle = partial(channel.settle, holder, number)
        if not 0 < number <= len(s.state) or number in queued:
            calls += [(ProtocolViolationError, report, None), (ProtocolViolationError, late, None)]
            calls.append((None, settle, None))
            continue
        at_it = rank in s.busy[number - 1]
        if s.state[number - 1] != STARTED or rank in s.without[number - 1]:
            calls += [(None, late, False), *([] if at_it else [(None, report, False)])]
        elif rank in reported(s, number):
            calls += [(ProtocolViolationError, report, None), (ProtocolViolationError, late, None)]
        else:
            calls.append((ProtocolViolationError, settle, None))
        if not at_it:
            calls.append((None, settle, None))
    return calls
