"""Small changes of a recorded run of pauses, after each of which it is none."""

from __future__ import annotations

from tests.traces.alterations import dropped, on_copies, renamed, top, valued
from tests.traces.events import Event, index_of, renumbered
from tests.traces.pause_runs import ACTIONS

__all__ = ("ALTERED", "is_whole")


def _no_report(events: list[Event]) -> list[Event]:
    """A report is left out that the next recorded state has."""

    def shows(index: int) -> bool:
        rank = events[index].get("args", {}).get("rank")
        after = next((event["post"] for event in events[index + 1 :] if event["post"]), None)
        return events[index]["action"] == "Quiet" and after is not None and rank in after["quiet"]

    del events[next(index for index in range(1, len(events)) if shows(index))]
    return renumbered(events)


def _job_in_a_pause(events: list[Event]) -> list[Event]:
    """A job is admitted after its rank has said that it is quiet."""
    at = index_of(events, "Quiet")
    job = {**events[at], "action": "Admit", "args": {"rank": events[at]["args"]["rank"]}, "post": {}}
    events.insert(at + 1, job)
    return renumbered(events)


def is_whole(run: list[Event]) -> bool:
    """Return True when each change of ALTERED can show in the run."""
    return {event["action"] for event in run} >= ACTIONS


ALTERED = on_copies(
    {
        "a rank that has not joined": dropped("Join"),
        "a pause that nobody called": dropped("CallPause"),
        "an order that nobody took": dropped("Take"),
        "a rank was not quiet": _no_report,
        "a hold is missing": dropped("Hold"),
        "a fence is missing": dropped("Fence"),
        "a job in a pause": _job_in_a_pause,
        "another rank is quiet": valued("Quiet", "args", "rank", lambda rank: 1 - rank),
        "an older report": valued("Quiet", "args", "order", lambda order: order - 1),
        "a report of nobody's": valued("Quiet", "post", "quiet", lambda quiet: [0, 1] if len(quiet) < 2 else []),
        "an order from the future": valued("Take", "args", "order", lambda order: order + 1),
        "another mode": valued("CallPause", "args", "mode", lambda mode: "keep" if mode == "abort" else "abort"),
        "another order": valued("CallResume", "post", "order", lambda order: order + 1),
        "a resume that pauses": valued(
            "CallResume", "post", "phase", lambda phase: "pause" if phase == "run" else "run"
        ),
        "somebody else holds": valued("Hold", "post", "holders", lambda holders: [*holders, 7]),
        "a pause that returns twice": renamed("ResumeReturns", "PauseReturns"),
        "a crash is no end": renamed("Fence", "Join"),
        "a number twice": top(3, "seq", 2),
        "another action": top(3, "action", "GetTasks"),
        "a result": top(3, "result", {"ordered": True}),
        "other arguments": top(3, "args", {"rank": 0, "client": 1}),
    }
)
