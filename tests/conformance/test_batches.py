"""What users may rely on about batches, the same over every transport."""

from __future__ import annotations

import pytest

from fdcomm.errors import CommTimeoutError, ConfigError, PayloadError, PayloadTooLargeError, ProtocolViolationError
from tests.conformance.backends import LONG_S, Queue, opened, take
from tests.conformance.waiting import Background, until

pytestmark = pytest.mark.multiproc


def test_every_rank_gets_every_batch_once_and_in_order(pair: Queue) -> None:
    first, second = pair.readers()
    for number in range(5):
        pair.engine.put_tasks(([{"number": number}], 1), timeout=LONG_S)
        assert take(second) == (([{"number": number}], 1), False)
        assert second.get_tasks() == ([], False)
        assert take(first) == (([{"number": number}], 1), True)
        assert first.get_tasks() == ([], True)


@pytest.mark.parametrize("size", [0, 1, 4096, 32 * 1024, 300_000])
def test_a_batch_arrives_as_it_was_put(pair: Queue, size: int) -> None:
    payload = bytes(range(256)) * (size // 256 + 1)
    pair.engine.put_tasks(payload[:size], timeout=LONG_S)
    assert [take(reader)[0] == payload[:size] for reader in pair.readers()] == [True, True]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_is_how_many_batches_are_retained(transport: str, depth: int) -> None:
    with opened(transport, ranks=2, depth=depth) as queue:
        first, second = queue.readers()
        for number in range(depth):
            queue.engine.put_tasks(number, timeout=0.0)
        with pytest.raises(CommTimeoutError) as caught:
            queue.engine.put_tasks(depth, timeout=0.0)
        assert caught.value.missing == (0, 1)
        assert queue.engine.num_tasks() == depth
        assert [take(first)[0] for _ in range(depth)] == list(range(depth))
        assert first.get_tasks() == ([], False)
        with pytest.raises(CommTimeoutError) as caught:
            queue.engine.put_tasks(depth, timeout=0.0)
        assert caught.value.missing == (1,)
        assert take(second) == (0, True)
        queue.engine.put_tasks("next", timeout=0.0)
        rest = [*range(1, depth), "next"]
        assert [take(second)[0] for _ in rest] == rest


def test_a_put_waits_until_all_have_read(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("one", timeout=LONG_S)
    put = Background(lambda: pair.engine.put_tasks("two", timeout=LONG_S))
    until(lambda: pair.engine.statistics().waiting_puts == 1)
    assert take(first) == ("one", False)
    assert pair.engine.statistics().waiting_puts == 1
    assert take(second) == ("one", True)
    assert put.value() is None
    assert [take(first)[0], take(second)[0]] == ["two", "two"]


def test_puts_are_served_in_the_order_in_which_they_arrived(transport: str) -> None:
    with opened(transport, ranks=1) as queue:
        (reader,) = queue.readers()
        other = queue.client(0, role="producer")
        queue.engine.put_tasks(0, timeout=LONG_S)
        puts = []
        for number in range(1, 7):
            handle = queue.engine if number % 2 else other
            puts.append(Background(lambda h=handle, n=number: h.put_tasks(n, timeout=LONG_S)))  # type: ignore[misc]
            until(lambda n=number: queue.engine.statistics().waiting_puts == n)  # type: ignore[misc]
        assert [take(reader, timeout=LONG_S)[0] for _ in range(7)] == list(range(7))
        assert [put.value() for put in puts] == [None] * 6


def test_a_put_that_gives_up_leaves_no_trace(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("one", timeout=LONG_S)
    with pytest.raises(CommTimeoutError) as caught:
        pair.engine.put_tasks("given up", timeout=0.01)
    assert (caught.value.operation, caught.value.missing) == ("put_tasks", (0, 1))
    assert caught.value.waited_s >= 0.01
    assert [take(first)[0], take(second)[0]] == ["one", "one"]
    pair.engine.put_tasks("two", timeout=LONG_S)
    assert [take(first)[0], take(second)[0]] == ["two", "two"]


def test_a_get_waits_for_a_batch(pair: Queue) -> None:
    first, second = pair.readers()
    gets = [Background(lambda r=reader: take(r, timeout=LONG_S)) for reader in (first, second)]  # type: ignore[misc]
    pair.engine.put_tasks("late", timeout=LONG_S)
    values = [get.value() for get in gets]
    assert sorted(values) == [("late", False), ("late", True)]
    with pytest.raises(CommTimeoutError):
        first.get_tasks(timeout=0.01)


def test_exist_follows_the_queue(pair: Queue) -> None:
    first, second = pair.readers()
    handles = (pair.engine, first, second)

    def seen() -> tuple[list[bool], list[int]]:
        return [handle.exist_tasks() for handle in handles], [first.task_ticket(), second.task_ticket()]

    assert seen() == ([False] * 3, [0, 0])
    pair.engine.put_tasks("x", timeout=LONG_S)
    assert seen() == ([True] * 3, [1, 1])
    take(first)
    assert seen() == ([True, False, True], [0, 1])  # rank 1 may be about to take it ...
    first.get_tasks()  # nothing for this rank: the words stay
    assert seen() == ([True] * 3, [0, 1])  # ... or has not been told
    assert seen() == ([True] * 3, [0, 1])
    take(second)
    assert seen() == ([False] * 3, [0, 0])
    pair.engine.put_tasks("y", timeout=LONG_S)
    pair.engine.clear_data()
    assert seen() == ([False] * 3, [0, 0])


def test_set_exist_tasks_accepts_only_the_truth(pair: Queue) -> None:
    pair.engine.set_exist_tasks(False)
    with pytest.raises(ProtocolViolationError):
        pair.engine.set_exist_tasks(True)
    pair.engine.put_tasks("x", timeout=LONG_S)
    pair.engine.set_exist_tasks(True)
    with pytest.raises(ProtocolViolationError):
        pair.engine.set_exist_tasks(False)
    assert pair.engine.exist_tasks()


def test_a_clear_keeps_what_a_rank_has_started(transport: str) -> None:
    with opened(transport, ranks=2, depth=2) as queue:
        first, second = queue.readers()
        queue.engine.put_tasks("started", timeout=LONG_S)
        queue.engine.put_tasks("not started", timeout=LONG_S)
        take(first)
        queue.engine.clear_data()
        assert queue.engine.num_tasks() == 1
        assert first.get_tasks() == ([], False)
        assert take(second) == ("started", True)
        assert second.get_tasks() == ([], True)


def test_the_clears_of_all_ranks_are_one_clear(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("old", timeout=LONG_S)
    first.clear_data()
    pair.engine.put_tasks("new", timeout=LONG_S)
    second.clear_data()
    assert [take(first)[0], take(second)[0]] == ["new", "new"]
    assert pair.engine.statistics().epoch == 1
    pair.engine.put_tasks("newest", timeout=LONG_S)
    second.clear_data()  # it has seen the epoch of what it clears
    assert first.get_tasks() == ([], True)
    assert pair.engine.statistics().epoch == 2


def test_a_clear_lets_a_waiting_put_go_on(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("old", timeout=LONG_S)
    put = Background(lambda: pair.engine.put_tasks("new", timeout=LONG_S))
    until(lambda: pair.engine.statistics().waiting_puts == 1)
    second.clear_data()
    assert put.value() is None
    assert [take(first)[0], take(second)[0]] == ["new", "new"]


def test_a_ticket_takes_that_batch_or_nothing(transport: str) -> None:
    with opened(transport, ranks=2, depth=2) as queue:
        first, second = queue.readers()
        queue.engine.put_tasks("one", timeout=LONG_S)
        ticket = first.task_ticket()
        assert take(first, ticket=ticket)[0] == "one"
        assert first.get_tasks(ticket=ticket) == ([], False)
        queue.engine.put_tasks("two", timeout=LONG_S)
        assert second.get_tasks(ticket=first.task_ticket()) == ([], False)
        assert take(second, ticket=ticket) == ("one", True)
        stale = first.task_ticket()
        queue.engine.clear_data()
        queue.engine.put_tasks("three", timeout=LONG_S)
        assert first.get_tasks(ticket=stale) == ([], False)
        assert second.get_tasks(ticket=stale) == ([], False)
        assert [take(first)[0], take(second)[0]] == ["three", "three"]
        for bad in (-1, True, "1"):
            with pytest.raises(ConfigError):
                first.get_tasks(ticket=bad)  # type: ignore[arg-type]


def test_a_bad_batch_loses_nothing(transport: str) -> None:
    with opened(transport, ranks=1, max_batch_bytes=1000) as queue:
        (reader,) = queue.readers()
        with pytest.raises(PayloadError):
            queue.engine.put_tasks(lambda: None, timeout=LONG_S)
        with pytest.raises(PayloadTooLargeError):
            queue.engine.put_tasks(b"x" * 1000, timeout=LONG_S)
        for timeout in (-1, float("nan"), "1"):
            with pytest.raises(ConfigError):
                queue.engine.put_tasks("x", timeout=timeout)  # type: ignore[arg-type]
        queue.engine.put_tasks("fine", timeout=LONG_S)
        assert take(reader) == ("fine", True)
