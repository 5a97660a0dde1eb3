"""The recorder: a private file, whole lines, and nothing at all when it is off."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from fdcomm.host.service import PROTOCOL_VERSION, Hello, HostConfig, HostService, words_needed
from fdcomm.runtime import SYSTEM
from fdcomm.trace import DISPATCH_EVENTS, Recorder, read


def _service(recorder: Recorder | None) -> HostService:
    config = HostConfig(1)
    return HostService(
        config,
        SYSTEM,
        memoryview(bytearray(8 * words_needed(HostConfig(1)))).cast("q"),
        recorder=recorder,
        only=("dispatch",),
    )


def _use(service: HostService) -> None:
    hello = Hello(version=PROTOCOL_VERSION, kind="worker", num_client=1, client_id=0, dp_rank=0, role="reader", pid=1)
    session = service.open_session(hello)["session"]
    service.act(session, "dispatch", "put_tasks", b"x", 1.0)
    service.act(session, "dispatch", "get_tasks", 0, 0.0)
    service.act(session, "dispatch", "clear_data")
    service.close_session(session)


def test_events_are_numbered_and_named(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "trace")
    _use(_service(recorder))
    recorder.close()
    recorder.close()
    first, *events = read(tmp_path / "trace")
    assert (first["action"], first["ranks"], first["depth"]) == ("Open", 1, 1)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    expected = ["Connect", "Join", "CallPut", "PutTasks", "GetTasks", "ClearRank", "Leave", "Disconnect"]
    assert [event["action"] for event in events] == expected
    assert set(expected) <= set(DISPATCH_EVENTS)


def test_the_file_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        recorder = Recorder(tmp_path / "trace")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "trace").stat().st_mode) == 0o600
    recorder.close()


def test_off_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[object] = []
    monkeypatch.setattr(Recorder, "write", lambda self, event: written.append(event))
    _use(_service(None))
    assert written == []
    assert list(tmp_path.iterdir()) == []


def test_lines_of_several_threads_stay_whole(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "trace")

    def write(who: int) -> None:
        for number in range(200):
            recorder.write({"who": who, "number": number, "pad": "x" * 300})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    events = read(tmp_path / "trace")
    assert sorted((event["who"], event["number"]) for event in events) == [(w, n) for w in range(4) for n in range(200)]


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text('{"seq":1}\n{"seq":2}\n{"se')
    assert read(path) == [{"seq": 1}, {"seq": 2}]


def test_a_full_disk_is_said_once_and_harms_no_call(capfd: pytest.CaptureFixture[str]) -> None:
    recorder = Recorder("/dev/full")
    _use(_service(recorder))
    recorder.close()
    assert capfd.readouterr().err == "fdcomm: the trace /dev/full ends here: No space left on device\n"


def test_writing_after_close_does_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "trace")
    recorder.close()
    recorder.write({"seq": 1})
    assert read(tmp_path / "trace") == []
