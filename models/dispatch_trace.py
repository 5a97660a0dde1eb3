"""Recorded runs (NDJSON, one event a line), judged by the models: dispatch, and what extends it.

A file may hold several channels (``protocol``, ``dp``); each is a run of its own. The numbers ``seq`` are given inside
the host's critical section, so they must be 1, 2, 3, ... without a gap. Every producer starts ``down``; nothing is
bounded. Bitmask is judged as dispatch, which it equals (``tla/bitmask/BitmaskRefines.tla``); cache infos and connect
tasks are dispatch without clears.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from models.acceptance import Observation, Verdict, judge
from models.dispatch import Dispatch
from models.dispatch_state import DOWN, Config, State, initial_state
from models.kernel import Action
from models.recorded import Event, Malformed, after_it, differing, not_opened, read, with_result
from models.recorded_lines import accept_lines, formatted

__all__ = ("CHANNELS", "JUDGES", "READS", "accept", "accept_file")

CHANNELS = ("dispatch", "bitmask", "cache_info", "connect")
_WITHOUT_CLEAR = ("cache_info", "connect")

JUDGES = {
    **dict.fromkeys(CHANNELS, "models.dispatch_trace"),
    "done": "models.done_trace",
    "disaggregate": "models.done_trace",
    **dict.fromkeys(("connect_response", "add_cache", "send_cache"), "models.gate_trace"),
    "rearrange": "models.rearrange_trace",
    "pause": "models.pause_trace",
    "layerwise": "models.layerwise_trace",
    "signal": "models.signal_trace",
    "ring": "models.ring_trace",
    "meeting": "models.meeting_trace",
    "word": "models.word_trace",
    "control": "models.control_trace",
    "status": "models.status_trace",
    "readiness": "models.readiness_trace",
    "blocks": "models.blocks_trace",
    "link": "models.link_trace",
    "mailbox": "models.mailbox_trace",
    "transfer": "models.transfer_trace",
    "fmq": "models.fmq_trace",
}
"""Protocol -> the module whose ``accept_channel(channel, events)`` judges it. What stands before a dot counts."""

READS = ("ExistTasks", "NumTasks", "TaskTicket")
_SILENT = {"Fence": ("Crash", "rank"), "FenceProducer": ("CrashProducer", "producer")}
_WITH_ID = ("CallPut", "PutTasks", "PutLost", "PutTimeout")
_OF_RANK = ("Join", "Leave", "Fence", "GetTasks", "ClearRank")
_OF_PRODUCER = ("Connect", "Disconnect", "FenceProducer", "ClearProducer", *_WITH_ID)


def accept_file(path: str, only: Collection[str] | None = None) -> list[Verdict]:
    """Judge every channel of a trace file, or those of the protocols ``only``."""
    with open(path, encoding="utf-8") as lines:
        return accept(lines, only)


def accept(lines: Iterable[str], only: Collection[str] | None = None) -> list[Verdict]:
    """Judge every channel of a trace. A line that cannot be read rejects the whole trace."""
    return accept_lines(
        lines,
        lambda protocol: only is None or protocol in only,
        lambda channel, events: _judge_of(events[0]["protocol"])(channel, events),
        "the trace is empty: there is no Open event",
        lambda line: _parse(line, only),
    )


def _judge_of(protocol: str) -> Callable[[str, list[Event]], Verdict]:
    judge_channel: Callable[[str, list[Event]], Verdict]
    judge_channel = importlib.import_module(JUDGES[_kind(protocol)]).accept_channel
    return judge_channel


def _kind(protocol: str) -> str:
    return protocol.partition(".")[0]


def _parse(line: str, only: Collection[str] | None) -> Event:
    event = formatted(line)
    if _kind(str(event.get("protocol"))) not in JUDGES and only is None:
        raise Malformed(f"protocol {event.get('protocol')!r} is not dispatch, or any other that is known here")
    if type(event.get("dp")) is not int or not isinstance(event.get("action"), str):
        raise Malformed("dp must be an integer and action a string")
    return event


def accept_channel(channel: str, events: list[Event]) -> Verdict:
    """Judge one channel of dispatch or of a protocol that extends it."""
    opening, *rest = events
    shape = (opening.get("ranks"), opening.get("depth"))
    usable = opening.get("protocol") not in _WITHOUT_CLEAR or opening.get("depth") == 1
    if opening["action"] != "Open" or not usable or not all(type(value) is int and value >= 1 for value in shape):
        return not_opened(channel, opening, "ranks and depth")
    producers = [event.get("args", {}).get("producer") for event in rest if isinstance(event.get("args"), dict)]
    config = Config(
        ranks=opening["ranks"],
        depth=opening["depth"],
        producers=1 + max((p for p in producers if type(p) is int and p >= 0), default=0),
        max_calls=None,
        max_epoch=None,
        per_producer=None,
    )
    everybody, all_producers = frozenset(range(config.ranks)), frozenset(range(config.producers))
    config = replace(
        config, leavers=everybody, mortal=everybody, mortal_producers=all_producers, quitters=all_producers
    )
    seq = 0

    def observe(event: Event, _: int) -> Observation[State]:
        nonlocal seq
        seq = _next_seq(event, seq)
        if opening["protocol"] in _WITHOUT_CLEAR and event["action"] in ("ClearRank", "ClearProducer"):
            raise Malformed(f"{opening['protocol']} has no {event['action']}")
        return _observe(event)

    reading = read(rest, observe, with_result)
    return reading.ended(judge(Dispatch(config), [initial_state(config, DOWN)], reading.found, channel))


def _next_seq(event: Event, last: int) -> int:
    if "seq" not in event and event["action"] in READS:
        return last
    seq = event.get("seq")
    if type(seq) is not int or seq != last + 1:
        raise Malformed(f"events are missing, doubled or out of order: seq is {seq}, and {last + 1} is next")
    return seq


def _observe(event: Event) -> Observation[State]:
    name, args, result = event["action"], event.get("args", {}), event.get("result", {})
    if not isinstance(args, dict) or not isinstance(result, dict):
        raise Malformed("args and result must be objects")
    if name in READS:
        return Observation(with_result(event), None, _read_differs(name, args, result))
    if name not in (*_OF_RANK, *_OF_PRODUCER):
        raise Malformed(f"{name!r} is not an action that a host can see")
    wanted = ("rank",) if name in _OF_RANK else ("producer", "id") if name in _WITH_ID else ("producer",)
    if set(args) != set(wanted) or not all(type(args[key]) is int for key in wanted):
        raise Malformed(f"args of {name} must be integers {wanted}, not {args}")
    action = Action(name, tuple((key, args[key]) for key in wanted))
    silent = None
    if name in _SILENT:
        crash, key = _SILENT[name]
        silent = Action(crash, ((key, args[key]),))
    post = event.get("post")
    if not isinstance(post, dict) or set(post) != {"calls", "epoch", "exist", "log", "waiting"}:
        raise Malformed("post must have calls, epoch, exist, log and waiting")

    def differs(before: State, after: State) -> str:
        expected = _expected_result(action, before, after)
        if result != expected:
            return f"its result was {result}, and the model says {expected}"
        shown = {
            "calls": after.calls,
            "epoch": after.epoch,
            "exist": after.exist,
            "log": [entry.id for entry in after.log],
            "waiting": [call.id for call in after.waiting],
        }
        return after_it(differing(post, shown))

    return Observation(with_result(event), action, differs, silent)


def _expected_result(action: Action, before: State, after: State) -> dict[str, Any]:
    if action.name == "GetTasks":
        taken = after.got[action.params[0][1]][-1]
        return {"id": taken, "all_read": all(entry.id != taken for entry in after.log)}
    if action.name in ("ClearRank", "ClearProducer"):
        kept = {entry.id for entry in after.log}
        return {"dropped": [entry.id for entry in before.log if entry.id not in kept]}
    return {}


def _read_differs(name: str, args: Event, result: Event) -> Callable[[State, State], str]:
    rank = args.get("rank")
    if set(result) != {"value"} or (name == "TaskTicket" and type(rank) is not int):
        raise Malformed(f"{name} must have result.value (TaskTicket also args.rank)")

    def differs(state: State, _: State) -> str:
        expected: bool | int
        if name == "ExistTasks":
            expected = state.exist
        elif name == "NumTasks":
            expected = len(state.log)
        elif rank not in range(len(state.status)):
            return f"there is no rank {rank}"
        else:
            expected = next((entry.id for entry in state.log if rank not in entry.taken), 0)
        return "" if result["value"] == expected else f"it read {result['value']}, and the model says {expected}"

    return differs
