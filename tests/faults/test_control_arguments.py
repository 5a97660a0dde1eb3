"""A wrong argument of the control protocols is refused by a typed error before it is sent: the handle can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import (
    ConfigError,
    EngineCacheQueue,
    EngineWorkerQueue,
    PauseControl,
    RankError,
    Readiness,
    StatusCoordinator,
    StatusPart,
    TransferLoop,
    TransferTasks,
)

NO_NUMBERS: tuple[Any, ...] = ("x", 1.5, [], {}, True, b"")
NO_STRINGS: tuple[Any, ...] = ([], {}, 5, b"x", None)
NO_SECONDS: tuple[Any, ...] = (-1, 0, float("nan"), float("inf"), "x", True)


@pytest.fixture(scope="module")
def server() -> Iterator[EngineCacheQueue]:
    """A host of pauses and transfers."""
    with EngineCacheQueue(("127.0.0.1", 0), is_server=True, num_client=1) as server:
        PauseControl(server).statistics()  # now this thread has its connection
        yield server


@pytest.fixture(scope="module")
def rank(server: EngineCacheQueue) -> Iterator[EngineCacheQueue]:
    """The handle of its one rank."""
    with EngineCacheQueue(("127.0.0.1", server.get_server_port()), num_client=1, client_id=0) as queue:
        yield queue


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineWorkerQueue]:
    """A host of status and readiness, with one component of each."""
    with EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1) as engine:
        StatusCoordinator(engine).declare([("cache", 0, 1)])
        Readiness(engine).declare([("cache", 1)])
        yield engine


@pytest.fixture(scope="module")
def part(engine: EngineWorkerQueue) -> Iterator[EngineWorkerQueue]:
    """The handle of the one part."""
    with EngineWorkerQueue(("127.0.0.1", engine.get_server_port()), num_client=1, client_id=0) as queue:
        StatusPart(queue, "cache").take()
        yield queue


@pytest.fixture(scope="module")
def control(rank: EngineCacheQueue) -> Iterator[PauseControl]:
    """The rank's part in the pause protocol."""
    with PauseControl(rank, rank=True) as control, TransferLoop(rank, control, {"swap": print}) as loop:
        assert loop.step(timeout=0) is None
        PauseControl(rank).resume(PauseControl(rank).pause())  # the control's thread has its connection, too
        yield control


@pytest.fixture(autouse=True)
def usable(server: EngineCacheQueue, part: EngineWorkerQueue, control: PauseControl) -> Iterator[None]:
    """After the test all handles work, and nothing is paused or queued."""
    yield
    assert StatusPart(part, "cache").take() is None
    view = PauseControl(server).statistics()
    assert (view.phase, view.live) == ("run", (0,))
    tasks = TransferTasks(server).statistics()
    assert (tasks.waiting, tasks.results) == (0, 0)
    control.admit(timeout=0).done()


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_part(part: EngineWorkerQueue, number: Any) -> None:
    with pytest.raises(ConfigError, match="part="):
        StatusPart(part, "cache", number).take()
    with pytest.raises(ConfigError, match="rank="):
        Readiness(part).starting("cache", number)
    with pytest.raises(ConfigError, match="rank="):
        Readiness(part).ready("cache", number)


@pytest.mark.parametrize("name", NO_STRINGS)
def test_component(engine: EngineWorkerQueue, part: EngineWorkerQueue, name: Any) -> None:
    with pytest.raises(ConfigError, match="component="):
        StatusPart(part, name).take()
    with pytest.raises(ConfigError, match="component="):
        Readiness(part).starting(name)
    with pytest.raises(ConfigError, match="component="):
        StatusCoordinator(engine).word(name)


@pytest.mark.parametrize("words", [(), (77,), ("x",), ([],), (0, 2)])
def test_words(engine: EngineWorkerQueue, words: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigError, match="to wait for"):
        StatusCoordinator(engine).word("cache").wait_for(*words, timeout=None)


@pytest.mark.parametrize("seen", [[], {}, 5, {"changes": "x"}])
def test_seen(engine: EngineWorkerQueue, seen: Any) -> None:
    for watch in (StatusCoordinator(engine).watch, Readiness(engine).watch):
        with pytest.raises(ConfigError, match=r"seen=|changes="):
            watch(seen, timeout=None)


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_numbers(server: EngineCacheQueue, number: Any) -> None:
    api = PauseControl(server)
    with pytest.raises(ConfigError, match="number="):
        TransferTasks(server).abandon(number)
    with pytest.raises(ConfigError, match="pause="):
        api.resume(number)
    with pytest.raises(ConfigError, match="pause="), api.held(number):
        pytest.fail("nothing is held")


@pytest.mark.parametrize("kind", NO_STRINGS)
def test_kind(server: EngineCacheQueue, kind: Any) -> None:
    with pytest.raises(ConfigError, match="kind="):
        TransferTasks(server).issue("task", kind)


@pytest.mark.parametrize("every", NO_SECONDS)
def test_every_is_named(server: EngineCacheQueue, every: Any) -> None:
    with pytest.raises(ConfigError, match="every="):
        PauseControl(server).pause(every=every, progress=print)


@pytest.mark.parametrize("seconds", [one for one in NO_SECONDS if one != 0 or one is True])
def test_time_limits_while_the_gate_is_open(control: PauseControl, seconds: Any) -> None:
    with pytest.raises(ConfigError, match="timeout="):
        control.admit(timeout=seconds)
    with control.admit() as job, pytest.raises(ConfigError, match="timeout="):
        job.checkpoint(seconds)
    with control.admit() as job, pytest.raises(ConfigError, match="every="):
        job.checkpoint(every=seconds)
    assert control.inflight == 0


@pytest.mark.parametrize("what", [5, "x", []])
def test_functions(server: EngineCacheQueue, control: PauseControl, what: Any) -> None:
    api = PauseControl(server)
    calls: tuple[Callable[[], object], ...] = (
        lambda: api.clear(what),
        lambda: api.pause(progress=what),
        lambda: api.resume(progress=what),
        lambda: api.cancel_pause(progress=what),
        lambda: control.admit(progress=what),
    )
    for call in calls:
        with pytest.raises(ConfigError, match="cannot be called"):
            call()


@pytest.mark.parametrize("limit", NO_SECONDS)
def test_limit(rank: EngineCacheQueue, control: PauseControl, limit: Any) -> None:
    with pytest.raises(ConfigError, match="limit_s"):
        TransferLoop(rank, control, {"swap": print}, limit_s=limit)


@pytest.mark.parametrize("handlers", [None, [], {"swap": 5}, {"swap": None}, {5: print}])
def test_handlers(rank: EngineCacheQueue, control: PauseControl, handlers: Any) -> None:
    with pytest.raises(ConfigError, match=r"handler|kind="):
        TransferLoop(rank, control, handlers)


def test_a_clients_control_drives_no_loop(server: EngineCacheQueue, rank: EngineCacheQueue) -> None:
    with pytest.raises(RankError, match="without rank=True"):
        TransferLoop(rank, PauseControl(server), {"swap": print})
