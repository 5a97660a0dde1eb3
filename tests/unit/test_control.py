"""Control requests over a real host: results, errors, the server's loop, members that come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from fdcomm import CommTimeoutError, EngineCacheQueue, EngineWorkerQueue, PayloadError, PeerLostError, RankError
from fdcomm.aio import AsyncControlClient
from fdcomm.control import Answer, ControlClient, ControlServer, ControlStatistics, ServerStatistics
from fdcomm.errors import (
    ConfigError,
    PayloadTooLargeError,
    ProtocolViolationError,
    RequestCancelledError,
    StaleAnswerError,
)
from tests.conformance.backends import lose
from tests.conformance.waiting import Background, until

LONG_S = 60.0


class _Unreadable:
    """It can be pickled, and not unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


@pytest.fixture
def server() -> Iterator[EngineWorkerQueue]:
    """A host for two ranks."""
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=2, max_batch_bytes=4096) as queue:
        yield queue


@pytest.fixture
def ranks(server: EngineWorkerQueue) -> Iterator[list[EngineWorkerQueue]]:
    """Both ranks, in this process."""
    queues = [EngineWorkerQueue(server.address, num_client=2, client_id=rank) for rank in (0, 1)]
    yield queues
    for queue in queues:
        queue.close()


pytestmark = pytest.mark.multiproc


def _serving(ranks: list[EngineWorkerQueue], handler: Any, over: list[bool]) -> list[Background]:
    return [
        Background(partial(ControlServer(queue).serve, partial(handler, rank), lambda: bool(over)))
        for rank, queue in enumerate(ranks)
    ]


def test_what_ranks_return_and_raise_is_the_result(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    over: list[bool] = []

    def handler(rank: int, payload: Any) -> Any:
        if payload == "unpicklable":
            return lambda: None
        if payload == "too large":
            return b"x" * 10_000
        if payload == "unreadable":
            return _Unreadable()
        if rank == 1 and payload == "fails":
            raise ValueError("no memory")
        return rank, payload

    loops = _serving(ranks, handler, over)
    client = ControlClient(server)
    result = client.ask({"do": "it"}, timeout=LONG_S)
    assert (result.number, result.ok, result.failed, result.missing) == (1, True, (), ())
    assert result.answers == (Answer(0, True, (0, {"do": "it"})), Answer(1, True, (1, {"do": "it"})))
    result = client.ask("fails", timeout=LONG_S)
    assert (result.number, result.ok, result.failed) == (2, False, (1,))
    assert result.answers[1] == Answer(1, False, "ValueError: no memory")
    for payload, kind in (("unpicklable", "PayloadError"), ("too large", "PayloadTooLargeError")):
        result = client.ask(payload, timeout=LONG_S)
        assert [answer.value.partition(":")[0] for answer in result.answers] == [kind] * 2
    result = client.ask("unreadable", timeout=LONG_S)
    assert result.failed == (0, 1)
    assert "cannot be unpickled" in result.answers[0].value
    result = client.ask(_Unreadable(), timeout=LONG_S)  # the ranks cannot read it, and go on
    assert result.failed == (0, 1)
    assert client.ask("again", timeout=LONG_S).ok
    over.append(True)
    for loop in loops:
        loop.value()


def test_an_interrupt_of_the_handler_is_answered_and_raised(
    server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]
) -> None:
    def handler(payload: Any) -> None:
        raise KeyboardInterrupt

    asked = Background(lambda: ControlClient(server).ask("a", timeout=LONG_S))
    for queue in ranks:
        with pytest.raises(KeyboardInterrupt):
            ControlServer(queue).serve(handler)
    assert asked.value().failed == (0, 1)
    assert ControlServer(ranks[0]).take() is None


def test_a_loop_ends_with_its_handle(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    loops = _serving(ranks, lambda rank, payload: payload, [])
    assert ControlClient(server).ask("a", timeout=LONG_S).ok
    for queue, loop in zip(ranks, loops, strict=True):
        queue.close()
        loop.error()


def test_a_rank_does_one_thing_at_a_time(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    client, taker = ControlClient(server), ControlServer(ranks[0])
    asked = Background(lambda: client.ask("a", timeout=LONG_S))
    request = taker.take(timeout=LONG_S)
    assert request is not None
    with pytest.raises(ProtocolViolationError, match="has not answered request 1"):
        taker.take()
    assert client.statistics().waiting_for == ((1, (0, 1)),)
    assert client.statistics().doing == (1, 0)
    request.answer()
    assert taker.statistics() == ServerStatistics(taken=1, answered=1)
    with pytest.raises(ProtocolViolationError, match="is not doing"):
        request.answer()
    assert client.cancel() == (1,)
    assert isinstance(asked.error(), RequestCancelledError)
    assert client.cancel() == ()
    for end in ("failed", "late"):
        asked = Background(lambda: client.ask("b", timeout=LONG_S))
        request = taker.take(timeout=LONG_S)
        assert request is not None
        if end == "failed":
            request.fail("no")
        client.cancel()
        if end == "late":
            with pytest.raises(StaleAnswerError):
                request.answer()
        asked.error()
    assert taker.statistics() == ServerStatistics(taken=3, answered=1, failed=1, late=1)


def test_progress_tells_who_has_not_answered(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    client, told = ControlClient(server), list[Any]()
    takers = [ControlServer(queue) for queue in ranks]

    def progress(seen: ControlStatistics) -> None:
        if not seen.waiting_for:  # all have answered, and the call is about to return
            return
        ((_, missing),) = seen.waiting_for
        if not told or told[-1] != missing:
            told.append(missing)
            request = takers[missing[0]].take(timeout=LONG_S)
            assert request is not None
            request.answer()

    assert client.ask("a", timeout=LONG_S, progress=progress, every=0.01).ok
    assert told == [(0, 1), (1,)]

    def stop(seen: ControlStatistics) -> None:
        raise KeyError(*seen.waiting_for)

    other = Background(lambda: client.ask("b", timeout=LONG_S))
    until(lambda: client.statistics().asked == 2, "the other request")
    with pytest.raises(KeyError):
        client.ask("c", timeout=None, progress=stop, every=0.01)
    assert [number for number, _ in client.statistics().waiting_for] == [2], "it was withdrawn, and the other was not"
    client.cancel()
    other.error()

    async def main() -> None:
        async with AsyncControlClient(server) as asking:
            told.clear()
            assert (await asking.ask("d", timeout=LONG_S, progress=progress, every=0.01)).ok
            with pytest.raises(KeyError):
                await asking.ask("e", timeout=None, progress=stop, every=0.01)
            while (await asking.statistics()).waiting_for:
                await asyncio.sleep(0)

    asyncio.run(main())
    assert told == [(0, 1), (1,)]


def test_errors_name_who_is_missing(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    client = ControlClient(server)
    with pytest.raises(CommTimeoutError) as caught:
        client.ask("a", timeout=0)
    assert (caught.value.missing, caught.value.request) == ((0, 1), 1)
    partial_result = client.ask("b", timeout=0, partial=True)
    assert (partial_result.ok, partial_result.missing, partial_result.answers) == (False, (0, 1), ())
    taker = ControlServer(ranks[1])
    assert taker.take() is None
    asked = Background(lambda: client.ask("c", timeout=LONG_S, partial=True))
    request = ControlServer(ranks[0]).take(timeout=LONG_S)
    assert request is not None
    request.answer("c")
    lose(ranks[1])
    result = asked.value()
    assert (result.missing, result.answers) == ((1,), (Answer(0, True, "c"),))
    asked = Background(lambda: client.ask("d", timeout=LONG_S))
    request = ControlServer(ranks[0]).take(timeout=LONG_S)
    assert request is not None
    request.answer()
    error = asked.error()
    assert isinstance(error, PeerLostError)
    assert (error.missing, error.request) == ((1,), 4)


def test_a_rank_that_ends_or_comes_back_before_its_first_take(server: EngineWorkerQueue) -> None:
    """Vanish, and Reappear: known from what the process did in another channel."""
    client = ControlClient(server)
    with EngineWorkerQueue(server.address, num_client=2, client_id=0) as other:
        ControlServer(other).take()
        rank = EngineWorkerQueue(server.address, num_client=2, client_id=1)
        rank.get_tasks()
        asked = Background(lambda: client.ask("a", timeout=LONG_S))
        request = ControlServer(other).take(timeout=LONG_S)
        assert request is not None
        request.answer()
        lose(rank)
        error = asked.error()
        assert isinstance(error, PeerLostError)
        assert error.missing == (1,)
        assert client.statistics().lost == (1,)
        with EngineWorkerQueue(server.address, num_client=2, client_id=1) as back:
            assert client.statistics().away == (1,)
            asked = Background(lambda: client.ask("b", timeout=LONG_S))
            for queue in (other, back):
                request = ControlServer(queue).take(timeout=LONG_S)
                assert request is not None
                request.answer(request.payload)
            assert asked.value().ok


def test_a_second_handle_of_a_rank_is_no_loss(server: EngineWorkerQueue) -> None:
    client = ControlClient(server)
    with EngineWorkerQueue(server.address, num_client=2, client_id=1):
        rank = EngineWorkerQueue(server.address, num_client=2, client_id=1)
        rank.get_tasks()
        lose(rank)
        until(lambda: 1 in server.statistics().lost, "the loss")
        assert client.statistics().away == (0, 1)


def test_room_for_open_requests_is_bounded(server: EngineWorkerQueue) -> None:
    client = ControlClient(server)
    asked = [Background(lambda: client.ask("a", timeout=LONG_S)) for _ in range(64)]
    until(lambda: len(client.statistics().waiting_for) == 64, "all requests are open")
    with pytest.raises(CommTimeoutError, match="64 requests are open"):
        client.ask("one too many", timeout=0)
    waiting = Background(lambda: ControlClient(server).ask("next", timeout=LONG_S))
    until(lambda: len(client.cancel()) > 0, "the cancel")
    for one in asked:
        assert isinstance(one.error(), RequestCancelledError)
    until(lambda: client.statistics().asked == 65, "the waiting request is made")
    client.cancel()
    waiting.error()


def test_bad_input(server: EngineWorkerQueue, ranks: list[EngineWorkerQueue]) -> None:
    client = ControlClient(server)
    for timeout in (-1, "1", float("nan"), True):
        with pytest.raises(ConfigError):
            client.ask("a", timeout=timeout)  # type: ignore[arg-type]
    with pytest.raises(PayloadError):
        client.ask(lambda: None)
    with pytest.raises(PayloadTooLargeError):
        client.ask(b"x" * 10_000)
    assert client.statistics().asked == 0
    with pytest.raises(ProtocolViolationError):
        ranks[0]._act("control", "answer", 1, b"", name="control.answer")
    producer = EngineWorkerQueue(server.address, num_client=2, client_id=0, role="producer")
    with pytest.raises(RankError):
        ControlServer(producer).take()
    producer.close()


def test_a_cache_queue_has_it_too() -> None:
    with EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=1) as server:
        with EngineCacheQueue(server.address, num_client=1, client_id=0) as rank:
            asked = Background(lambda: ControlClient(server).ask("a", timeout=LONG_S))
            request = ControlServer(rank).take(timeout=LONG_S)
            assert request is not None
            request.answer("b")
            assert asked.value().answers == (Answer(0, True, "b"),)
