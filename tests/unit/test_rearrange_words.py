"""FastDeploy's words about rearrangements: what is announced is there before, and a reader sees each state."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fdcomm import ConfigError, EngineWorkerQueue, RearrangeControl, RearrangeOutcome, RearrangeStatus
from fdcomm.rearrange_words import RearrangeWords
from fdcomm.runtime import SystemRuntime
from fdcomm.signals.signal_set import SignalSet
from tests.conformance.waiting import until

_RANKS = 2


@pytest.fixture
def signals(tmp_path: Path) -> Iterator[SignalSet]:
    with SignalSet.create(
        "engine",
        _RANKS,
        suffix=7,
        features=("eplb",),
        num_layers=1,
        num_experts=2,
        ips_bytes=16,
        directory=str(tmp_path),
    ) as made:
        yield made


class _Looking(SystemRuntime):
    """Looks at the words at each named point, as another process may at any time."""

    def __init__(self, signals: SignalSet) -> None:
        self.signals = signals
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def point(self, name: str) -> None:
        self.seen.append((name, _read(self.signals)))


def _word(signals: SignalSet, name: str, rank: int | None = None) -> int:
    return signals.of(name, rank).word().get()


def _read(signals: SignalSet) -> dict[str, Any]:
    size = _word(signals, "rearrange_experts_ips_size")
    return {
        "status": _word(signals, "rearrange_experts_status"),
        "size": size,
        "list": bytes(signals.of("rearrange_experts_ips_list").shm.buf[: max(size, 7)]),
        "tensor": _word(signals, "signal_update_weight_from_tensor"),
        "disk": [_word(signals, "signal_update_weight_from_disk", rank) for rank in range(_RANKS)],
        "result": [_word(signals, "result_update_weight_from_disk", rank) for rank in range(_RANKS)],
    }


def _status(phase: str, **more: Any) -> RearrangeStatus:
    values: dict[str, Any] = {
        "version": 1,
        "request": 1,
        "addresses": (),
        "unreached": (),
        "load": ("none",) * _RANKS,
        "worker": ("idle",) * _RANKS,
        "exchanging": False,
        "outcome": None,
        "parties": (),
    }
    return RearrangeStatus(phase=phase, **(values | more))


def test_addresses_are_there_before_their_size(signals: SignalSet) -> None:
    runtime = _Looking(signals)
    RearrangeWords(signals, _RANKS, runtime=runtime).show(_status("ASKED", addresses=("a:1", "b:2")))
    (first, before), (second, middle) = runtime.seen
    assert (first, before["size"], before["list"]) == ("rearrange.addresses", 0, b"a:1;b:2")
    assert (second, middle["size"], middle["status"]) == ("rearrange.status", 7, 0)
    assert _read(signals)["status"] == 1


def test_each_state(signals: SignalSet) -> None:
    words = RearrangeWords(signals, _RANKS)
    shown = []
    failed = RearrangeOutcome(1, "failed", "no file", ("ok", "taken"), (1,), ())
    for status in (
        _status("DOING", load=("ok", "taken")),
        _status("LOAD_SUCC", load=("ok", "ok")),
        _status("UPDATING", load=("ok", "ok")),
        _status("UPDATING", load=("ok", "ok"), exchanging=True),
        _status("DONE", outcome=RearrangeOutcome(1, "done", "", ("ok", "ok"), (), ())),
        _status("FREE", outcome=failed),
    ):
        words.show(status)
        found = _read(signals)
        shown.append((found["status"], found["disk"], found["result"], found["tensor"]))
    assert shown == [
        (1, [0, 1], [1, 0], 0),
        (2, [0, 0], [1, 1], 0),
        (2, [0, 0], [1, 1], 1),
        (2, [0, 0], [1, 1], 0),
        (3, [0, 0], [1, 1], 0),
        (0, [0, 0], [1, -1], 0),
    ]


def test_addresses_that_are_too_long(signals: SignalSet) -> None:
    with pytest.raises(ConfigError, match="ips_bytes"):
        RearrangeWords(signals, _RANKS).show(_status("ASKED", addresses=("a" * 17,)))
    assert (_read(signals)["size"], _read(signals)["status"]) == (0, 1)


@pytest.mark.multiproc
def test_the_words_follow_a_host(signals: SignalSet) -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=_RANKS) as server:
        address = ("0.0.0.0", server.get_server_port())
        with (
            RearrangeControl(address, num_client=_RANKS) as control,
            RearrangeControl(address, num_client=_RANKS) as other,
        ):
            stop = threading.Event()
            words = RearrangeWords(signals, _RANKS)
            thread = threading.Thread(target=words.follow, args=(other, stop, 0.05))
            thread.start()
            try:
                number = control.request(["a:1"])
                until(lambda: _read(signals)["status"] == 1, "the request")
                assert _read(signals)["list"][:3] == b"a:1"
                control.take()
                control.begin_load(number)
                until(lambda: _read(signals)["disk"] == [1, 1], "the load")
                control.call_off(number, "tests")
                until(lambda: _read(signals)["status"] == 0, "the end")
            finally:
                stop.set()
                thread.join(30)
            assert not thread.is_alive()
