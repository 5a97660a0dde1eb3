"""What a rank does with a task that has started, in the transfer model: it ends its handler, reports, settles."""

from __future__ import annotations

from collections.abc import Callable

from models import transfer_moves as moves
from models.kernel import replaced
from models.transfer_state import FAILED, LIVE, STARTED, Config, Report, State, reported

__all__ = ("STEPS",)


def finish(config: Config, s: State, rank: int, number: int) -> State | None:
    """A handler has returned, or will not be called: it writes nothing more."""
    if s.status[rank] != LIVE or number not in s.running[rank]:
        return None
    return s._replace(running=replaced(s.running, rank, s.running[rank] - {number}))


def report_ok(config: Config, s: State, rank: int, number: int) -> State | None:
    """A rank has done a task: the oldest of its kind."""
    if not _may_report(config, s, rank, number) or number in s.running[rank]:
        return None
    older = (m for m in s.jobs[rank] if m < number and s.kind[m - 1] == s.kind[number - 1])
    if config.guards.InOrder and any(older):
        return None
    return moves.report(s, number, Report(rank, True))


def report_failed(config: Config, s: State, rank: int, number: int) -> State | None:
    """A rank has failed at a task."""
    if rank not in config.failing or not _may_report(config, s, rank, number) or number in s.running[rank]:
        return None
    if config.guards.FailureTold:
        return moves.report(s, number, Report(rank, False))
    return s._replace(jobs=replaced(s.jobs, rank, s.jobs[rank] - {number})) if number in s.jobs[rank] else None


def overdue(config: Config, s: State, rank: int, number: int) -> State | None:
    """A rank gives a task up while its handler still runs."""
    if rank not in config.slow or not _may_report(config, s, rank, number):
        return None
    if config.inside and number not in s.running[rank]:
        return None
    return moves.report(s, number, Report(rank, False), stays=config.guards.OverdueHeld)


def settle(config: Config, s: State, rank: int, number: int) -> State | None:
    """The handler of a rank has ended after its own report, or after the end of the task."""
    told = rank in reported(s, number) or s.state[number - 1] != STARTED
    if s.status[rank] != LIVE or rank not in s.busy[number - 1] or not told or number in s.running[rank]:
        return None
    return s._replace(busy=replaced(s.busy, number - 1, s.busy[number - 1] - {rank}))


def job_done(config: Config, s: State, rank: int, number: int) -> State | None:
    """A rank's job ends; all that it has to say was said before."""
    if s.status[rank] != LIVE or number not in s.jobs[rank] or number in s.running[rank]:
        return None
    told = rank in reported(s, number) or s.state[number - 1] != STARTED
    settled = rank not in s.busy[number - 1] or not config.guards.DoneAfterSettle
    if config.guards.DoneAfterReport and not (told and settled):
        return None
    return s._replace(jobs=replaced(s.jobs, rank, s.jobs[rank] - {number}))


def _may_report(config: Config, s: State, rank: int, number: int) -> bool:
    due = s.state[number - 1] == STARTED or (not config.guards.EndedStays and s.state[number - 1] == FAILED)
    mine = number in s.jobs[rank] or not (config.inside and config.guards.StartCounts)
    if not config.guards.DoneAfterReport or not config.guards.EndedStays:
        mine = True
    lacked = rank in s.without[number - 1] and config.guards.EndedStays
    return s.status[rank] == LIVE and due and mine and rank not in reported(s, number) and not lacked


STEPS: dict[str, Callable[[Config, State, int, int], State | None]] = {
    "Finish": finish,
    "ReportOk": report_ok,
    "ReportFailed": report_failed,
    "Overdue": overdue,
    "Settle": settle,
    "JobDone": job_done,
}
"""Action -> its step, of a rank and a task."""
