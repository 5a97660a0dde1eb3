"""Real processes read, die and come back; SIGKILL at each point of each call; both judges accept what was recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdcomm.errors import PeerLostError
from fdcomm.trace import read
from models.dispatch_trace import accept_file
from tests.faults.item_run import GETS, altered, item_of, judged, open_rank, record, server_of
from tests.faults.remote import LIMIT_S, until
from tests.stateful.item_driver import APIS
from tests.traces.schema import SCHEMA, problem

POINTS = ("call.send", "call.sent", "call.received")
CALLS: list[tuple[str, str, tuple[object, ...]]] = [(protocol, get, ()) for protocol, get in GETS.items()]
CALLS += [
    ("bitmask", "clear_transfer_task", ()),
    ("bitmask", "put_transfer_task", ("mine",)),
    ("bitmask", "put_transfer_done_signal", ("mine",)),
    ("bitmask", "get_transfer_done_signal", ()),
    ("cache_info", "put_cache_info", (["mine", "info"],)),
    ("connect", "put_connect_rdma_task", ("mine",)),
]


@pytest.mark.tlc
@pytest.mark.parametrize("protocol", APIS)
def test_a_run_of_real_processes_is_a_behaviour(protocol: str, tmp_path: Path) -> None:
    trace = tmp_path / "run.ndjson"
    assert record(protocol, trace) == []
    ((events, objections),) = judged(protocol, trace)
    assert objections == []
    assert events > 20
    known = {protocol, "done"} if protocol == "bitmask" else {protocol}
    assert [text for event in read(trace) if event["protocol"] in known and (text := problem(event, SCHEMA))] == []
    ((_, objections),) = judged(protocol, altered(protocol, trace))
    assert len(objections) == 2, "both judges must object"


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("protocol", "method", "args"), CALLS, ids=[call[1] for call in CALLS])
def test_killed_at_each_point(protocol: str, method: str, args: tuple[object, ...], point: str, tmp_path: Path) -> None:
    """Rank 1 is killed in a call. Rank 0 and the producer go on, and rank 1's next process joins in step."""
    api, trace = APIS[protocol], tmp_path / "run.ndjson"
    with (
        server_of(protocol, trace) as server,
        api.queue(  # type: ignore[call-arg]
            server.address, num_client=2, client_id=0
        ) as mine,
    ):
        if "put" not in method and "done" not in method:
            api.put(server, 1, LIMIT_S)
        elif method == "get_transfer_done_signal":
            server.put_transfer_done_signal("for nobody else")
        with open_rank(server, protocol, 1) as victim:
            victim.call(GETS[protocol]) if "put" in method or "done" in method else None
            victim.ask("arm", point, "kill")
            victim.send("call", method, *args)
            victim.ended()
        until(lambda: server._statistics(protocol).sessions == 2, "the host has noticed")
        read = []
        while (got := api.get(mine)) is not None:
            read.append(got[0])
        assert len(read) == len(set(read))
        with open_rank(server, protocol, 1) as again:
            left = []
            while (item := item_of(protocol, again.call(GETS[protocol]))) is not None:
                left.append(item)
            assert set(left) <= set(read), "it has what nobody else had"
            try:
                api.put(server, 9, LIMIT_S)
            except PeerLostError as error:
                raise AssertionError("the restarted rank counts as lost") from error
            assert api.get(mine) is not None
            assert item_of(protocol, again.call(GETS[protocol], timeout=LIMIT_S)) == 9
        if protocol == "bitmask":
            while server.get_transfer_done_signal() is not None:
                pass
            assert server.result_queue_empty(), "a dead taker holds a result for ever"
    for verdict in accept_file(str(trace), only=(protocol, "done") if protocol == "bitmask" else (protocol,)):
        assert verdict.accepted, str(verdict)
