"""A recorded run of real processes for bitmask, cache infos or connect tasks: reads, a kill, a restart, a clear."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fdcomm.errors import PeerLostError
from models.dispatch_trace import accept_file
from tests.faults.remote import LIMIT_S, Remote, until
from tests.stateful.item_driver import APIS
from tla.trace import judge, read_channels

__all__ = ("GETS", "altered", "judged", "open_rank", "record", "server_of")

GETS = {"bitmask": "get_transfer_task", "cache_info": "get_cache_info", "connect": "get_connect_rdma_task"}


def server_of(protocol: str, trace: Path) -> Any:
    """Start a host for two ranks that records."""
    options: dict[str, Any] = {"depth": 2} if protocol == "bitmask" else {}
    return APIS[protocol].queue(("0.0.0.0", 0), is_server=True, num_client=2, trace=trace, **options)


def open_rank(server: Any, protocol: str, rank: int, **arguments: Any) -> Remote:
    """Start a process that reads for a rank."""
    remote = Remote()
    name = APIS[protocol].queue.__name__
    remote.open(server.get_server_port(), queue=name, num_client=2, client_id=rank, **arguments)
    return remote


def item_of(protocol: str, answer: Any) -> Any:
    """Return the item of a get's answer, None for nothing."""
    return (answer[0] if answer else None) if protocol == "cache_info" else answer[0]


def record(protocol: str, trace: Path) -> list[str]:
    """Make a run and return what went wrong in it, as far as the callers can tell."""
    api, get = APIS[protocol], GETS[protocol]
    wrong = []
    with server_of(protocol, trace) as server, open_rank(server, protocol, 0) as first:
        api.put(server, 1, LIMIT_S)
        with open_rank(server, protocol, 1) as second:
            got = [item_of(protocol, remote.call(get, timeout=LIMIT_S)) for remote in (first, second)]
            if got != [1, 1]:
                wrong.append(f"of the first item the ranks got {got}")
            api.put(server, 2, LIMIT_S)
            if item_of(protocol, first.call(get, timeout=LIMIT_S)) != 2:
                wrong.append("rank 0 did not get the second item")
            second.kill()
        until(lambda: server._statistics(protocol).lost == (1,), "rank 1 is fenced")
        try:
            api.put(server, 3, 0.0)
            wrong.append("a put to a rank that is lost returned")
        except PeerLostError as error:
            if error.missing != (1,):
                wrong.append(f"the put names ranks {error.missing}")
        with open_rank(server, protocol, 1) as again:
            if item_of(protocol, again.call(get)) is not None:
                wrong.append("the restarted rank got what the other had begun without it")
            api.put(server, 4, LIMIT_S)
            got = [item_of(protocol, remote.call(get, timeout=LIMIT_S)) for remote in (first, again)]
            if got != [4, 4]:
                wrong.append(f"of the fourth item the ranks got {got}")
            if protocol == "bitmask":
                wrong += _results(server, first)
    return wrong


def _results(server: Any, rank: Remote) -> list[str]:
    server.put_transfer_task(5)
    if server.clear_transfer_task() != ():
        return ["a clear of an untouched queue names ranks"]
    rank.call("put_transfer_done_signal", "result")
    answers = [server.result_queue_empty(), server.get_transfer_done_signal(), server.result_queue_empty()]
    answers += [server.get_transfer_done_signal(), server.result_queue_empty()]
    return [] if answers == [False, "result", False, None, True] else [f"the done queue answered {answers}"]


def judged(protocol: str, *traces: Path) -> list[tuple[int, list[str]]]:
    """Have the models and TLC judge the runs. Returns for each file the number of events, and the objections."""
    files = [[run for run in read_channels(trace) if run[0]["protocol"] == protocol] for trace in traces]
    by_tlc = iter(judge([run for runs in files for run in runs]))  # all in one run of TLC
    found = []
    for trace, runs in zip(traces, files, strict=True):
        verdicts = accept_file(str(trace), only=(protocol, "done") if protocol == "bitmask" else (protocol,))
        objections = [str(verdict) for verdict in verdicts if not verdict.accepted]
        objections += [str(verdict) for verdict in (next(by_tlc) for _ in runs) if not verdict.accepted]
        found.append((sum(verdict.events for verdict in verdicts), objections))
    return found


def altered(protocol: str, trace: Path) -> Path:
    """Write the run with one get of another item, which no judge may accept."""
    lines = trace.read_text(encoding="utf-8").splitlines()
    at = [n for n, line in enumerate(lines) if f'"{protocol}"' in line and '"GetTasks"' in line][2]
    event = json.loads(lines[at])
    event["result"]["id"] -= 1
    lines[at] = json.dumps(event)
    other = trace.with_suffix(".altered")
    other.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return other
