"""Small changes of a recorded run of pauses, after each of which it is none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tests.traces.pause_runs import ACTIONS, Event

__all__ = ("ALTERED", "is_whole")

Change = Callable[[list[Event]], list[Event]]


def _index(events: list[Event], name: str) -> int:
    return next(index for index, event in enumerate(events) if event["action"] == name)


def _on_copy(change: Change) -> Change:
    return lambda events: change(copy.deepcopy(events))


def _dropped(name: str) -> Change:
    def change(events: list[Event]) -> list[Event]:
        del events[_index(events, name)]
        for number, event in enumerate(events[1:], 1):
            event["seq"] = number
        return events

    return change


def _no_report(events: list[Event]) -> list[Event]:
    """A report is left out that the next recorded state has."""

    def shows(index: int) -> bool:
        rank = events[index].get("args", {}).get("rank")
        after = next((event["post"] for event in events[index + 1 :] if event["post"]), None)
        return events[index]["action"] == "Quiet" and after is not None and rank in after["quiet"]

    del events[next(index for index in range(1, len(events)) if shows(index))]
    for number, event in enumerate(events[1:], 1):
        event["seq"] = number
    return events


def _set(name: str, part: str, key: str, value: Callable[[Any], Any]) -> Change:
    def change(events: list[Event]) -> list[Event]:
        event = events[_index(events, name)]
        event[part][key] = value(event[part].get(key))
        return events

    return change


def _renamed(name: str, other: str) -> Change:
    def change(events: list[Event]) -> list[Event]:
        events[_index(events, name)]["action"] = other
        return events

    return change


def _top(key: str, value: object) -> Change:
    def change(events: list[Event]) -> list[Event]:
        events[3][key] = value
        return events

    return change


def _job_in_a_pause(events: list[Event]) -> list[Event]:
    """A job is admitted after its rank has said that it is quiet."""
    at = _index(events, "Quiet")
    job = {**events[at], "action": "Admit", "args": {"rank": events[at]["args"]["rank"]}, "post": {}}
    events.insert(at + 1, job)
    for number, event in enumerate(events[1:], 1):
        event["seq"] = number
    return events


def is_whole(run: list[Event]) -> bool:
    """Return True when each change of ALTERED can show in the run."""
    return {event["action"] for event in run} >= ACTIONS


ALTERED: dict[str, Change] = {
    name: _on_copy(change)
    for name, change in {
        "a rank that has not joined": _dropped("Join"),
        "a pause that nobody called": _dropped("CallPause"),
        "an order that nobody took": _dropped("Take"),
        "a rank was not quiet": _no_report,
        "a hold is missing": _dropped("Hold"),
        "a fence is missing": _dropped("Fence"),
        "a job in a pause": _job_in_a_pause,
        "another rank is quiet": _set("Quiet", "args", "rank", lambda rank: 1 - rank),
        "an older report": _set("Quiet", "args", "order", lambda order: order - 1),
        "a report of nobody's": _set("Quiet", "post", "quiet", lambda quiet: [0, 1] if len(quiet) < 2 else []),
        "an order from the future": _set("Take", "args", "order", lambda order: order + 1),
        "another mode": _set("CallPause", "args", "mode", lambda mode: "keep" if mode == "abort" else "abort"),
        "another order": _set("CallResume", "post", "order", lambda order: order + 1),
        "a resume that pauses": _set("CallResume", "post", "phase", lambda phase: "pause" if phase == "run" else "run"),
        "somebody else holds": _set("Hold", "post", "holders", lambda holders: [*holders, 7]),
        "a pause that returns twice": _renamed("ResumeReturns", "PauseReturns"),
        "a crash is no end": _renamed("Fence", "Join"),
        "a number twice": _top("seq", 2),
        "another action": _top("action", "GetTasks"),
        "a result": _top("result", {"ordered": True}),
        "other arguments": _top("args", {"rank": 0, "client": 1}),
    }.items()
}
