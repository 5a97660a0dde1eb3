"""What users may rely on about readers and producers that come and go, the same over every transport."""

from __future__ import annotations

import pytest

from fdcomm.errors import ClosedError, DuplicateRankError, FencedError, PeerLostError, RankError
from tests.conformance.backends import LONG_S, Queue, lose, opened, take
from tests.conformance.waiting import Background, until

pytestmark = pytest.mark.multiproc


def test_a_late_reader_finds_the_batch(pair: Queue) -> None:
    pair.engine.put_tasks("early", timeout=LONG_S)
    first = pair.client(0)
    assert take(first) == ("early", False)
    second = pair.client(1)
    assert take(second) == ("early", True)


def test_a_rank_is_claimed_by_its_first_read(pair: Queue) -> None:
    writer = pair.client(0)  # FastDeploy's engine connects with the id of rank 0
    writer.put_tasks("x", timeout=LONG_S)
    assert pair.engine.statistics().live == ()
    reader = pair.client(0)
    assert take(reader)[0] == "x"
    assert pair.engine.statistics().live == (0,)
    with pytest.raises(DuplicateRankError) as caught:
        writer.get_tasks()
    assert caught.value.missing == (0,)
    with pytest.raises(DuplicateRankError):
        pair.client(0, role="reader")
    reader.close()
    assert writer.get_tasks() == ([], False)  # now the rank is free; the batch is rank 1's
    assert pair.engine.statistics().live == (0,)


def test_a_producer_does_not_read(pair: Queue) -> None:
    with pytest.raises(RankError):
        pair.client(0, role="producer").get_tasks()
    if pair.name != "inproc":
        with pytest.raises(RankError):
            pair.engine.get_tasks()


def test_a_reader_that_closes_leaves_its_batches_to_the_next(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("x", timeout=LONG_S)
    take(first)
    second.close()
    assert pair.engine.statistics().away == (1,)
    assert take(pair.client(1)) == ("x", True)
    with pytest.raises(ClosedError):
        second.get_tasks()


def test_a_lost_reader_is_named_and_its_successor_goes_on(transport: str) -> None:
    with opened(transport, ranks=2, depth=2) as queue:
        first, second = queue.readers()
        queue.engine.put_tasks("started", timeout=LONG_S)
        queue.engine.put_tasks("not started", timeout=LONG_S)
        take(first)
        put = Background(lambda: queue.engine.put_tasks("waits", timeout=LONG_S))
        until(lambda: queue.engine.statistics().waiting_puts == 1)
        lose(second)
        error = put.error()
        assert isinstance(error, PeerLostError)
        assert error.missing == (1,)
        with pytest.raises(PeerLostError):
            queue.engine.put_tasks("refused", timeout=LONG_S)
        assert take(first)[0] == "not started"  # the others go on reading
        again = queue.client(1, role="reader")
        assert queue.engine.statistics().lost == ()
        assert again.get_tasks() == ([], True)  # both were started without it
        queue.engine.put_tasks("new", timeout=LONG_S)
        assert [take(first)[0], take(again)[0]] == ["new", "new"]


def test_a_restarted_reader_gets_what_nobody_has_started(pair: Queue) -> None:
    first, second = pair.readers()
    pair.engine.put_tasks("x", timeout=LONG_S)
    lose(second)
    again = pair.client(1, role="reader")
    assert take(again) == ("x", False)
    assert take(first) == ("x", True)


def test_a_lost_producer_takes_its_waiting_put_along(pair: Queue) -> None:
    first, second = pair.readers()
    other = pair.client(0, role="producer")
    pair.engine.put_tasks("one", timeout=LONG_S)
    put = Background(lambda: other.put_tasks("ghost", timeout=LONG_S))
    until(lambda: pair.engine.statistics().waiting_puts == 1)
    lose(other)
    assert isinstance(put.error(), FencedError if pair.name == "inproc" else ClosedError)
    until(lambda: pair.engine.statistics().waiting_puts == 0)
    assert [take(first)[0], take(second)[0]] == ["one", "one"]
    assert [first.get_tasks(), second.get_tasks()] == [([], True), ([], True)]


def test_replicas_are_apart(transport: str) -> None:
    with opened(transport, ranks=1, dp=2) as queue:
        writers = [queue.client(0, role="producer", dp=dp) for dp in range(2)]
        readers = [queue.client(0, role="reader", dp=dp) for dp in range(2)]
        writers[0].put_tasks("zero", timeout=LONG_S)
        assert [reader.exist_tasks() for reader in readers] == [True, False]
        assert readers[1].get_tasks() == ([], True)
        writers[1].put_tasks("one", timeout=LONG_S)
        writers[1].clear_data()
        assert readers[1].get_tasks() == ([], True)
        assert take(readers[0]) == ("zero", True)
        lose(readers[0])
        until(lambda: writers[0].statistics().lost == (0,))
        writers[1].put_tasks("two", timeout=LONG_S)
        assert take(readers[1]) == ("two", True)


def test_statistics_are_a_snapshot(transport: str) -> None:
    with opened(transport, ranks=3, depth=2) as queue:
        reader = queue.client(1, role="reader")
        queue.engine.put_tasks("a", timeout=LONG_S)
        queue.engine.put_tasks("b", timeout=LONG_S)
        take(reader)
        snapshot = queue.engine.statistics()
        assert (snapshot.num_tasks, snapshot.waiting_puts, snapshot.puts, snapshot.epoch) == (2, 0, 2, 0)
        assert snapshot.unread == ((1, (0, 2)), (2, (0, 1, 2)))
        assert (snapshot.live, snapshot.lost, snapshot.away) == ((1,), (), (0, 2))
        assert snapshot.sessions == (3 if transport == "zmq" else 2)  # there the owner's is one of its own
