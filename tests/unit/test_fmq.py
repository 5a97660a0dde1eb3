"""What the ends of a queue and of a topic do and refuse, in one process."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import replace

import pytest

from fdcomm import (
    AddressInUseError,
    ClosedError,
    CommTimeoutError,
    PayloadError,
    UndecodableError,
    UnsafeConfigError,
    WrongRoleError,
    WrongThreadError,
)
from fdcomm.mq import (
    FMQ,
    Config,
    ConsumerStatistics,
    CurveKeys,
    Endpoint,
    Queue,
    SocketOptions,
)
from fdcomm.mq.link import ZmqLink
from tests.conformance.waiting import Background, until
from tests.unit.fmq_ends import LIMIT_S as _S
from tests.unit.fmq_ends import config, fmq

__all__ = ("config", "fmq")


# -- a queue ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [None, b"", b"x" * 70_000, "text", {"a": [1, 2]}, 7, b"y" * (2 << 20), "z" * (2 << 20)]
)
def test_everything_comes_as_it_was_put(fmq: FMQ, data: object) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    assert producer.put(data) == 1
    assert consumer.get(_S).payload == data
    consumer.done()
    producer.flush(_S)


def test_what_was_not_done_comes_again(fmq: FMQ) -> None:
    producer, consumer = fmq.queue("q"), fmq.queue("q", "consumer")
    for number in range(4):
        producer.put(number)
    assert [consumer.get(_S).payload for _ in range(2)] == [0, 1]
    consumer.close(done=False)
    with fmq.queue("q", "consumer") as second:
        assert [second.get(_S).payload for _ in range(3)] == [1, 2, 3]
        second.done()
        producer.flush(_S)


def test_no_room_is_an_error_in_time(config: Config) -> None:
    with Queue("q", "producer", replace(config, window=2)) as producer:
        producer.put(1)
        producer.put(2)
        with pytest.raises(CommTimeoutError, match="no room"):
            producer.put(3, timeout=0.05)
        with pytest.raises(CommTimeoutError):
            producer.flush(0.05)
        assert producer.close(0.0) == 2


def test_what_need_not_be_kept_is_counted(fmq: FMQ) -> None:
    consumer = fmq.queue("q", "consumer")
    producer = fmq.queue("q", delivery="forget")
    producer.put(1, timeout=_S)
    assert consumer.get(_S).payload == 1
    consumer.close()
    until(lambda: not producer.statistics().connected, "the connection is gone")  # type: ignore[union-attr]
    with pytest.raises(CommTimeoutError):
        producer.put(2, timeout=0.05)


def test_a_queue_has_one_live_consumer(fmq: FMQ) -> None:
    first = fmq.queue("q", "consumer")
    with pytest.raises(AddressInUseError):
        fmq.queue("q", "consumer")
    first.close()
    fmq.queue("q", "consumer").close()


def test_roles(fmq: FMQ) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    for call in (producer.get, producer.done, producer.look):
        with pytest.raises(PermissionError):
            call()
    with pytest.raises(WrongRoleError):
        consumer.put(1)
    with pytest.raises(ValueError, match="producer"):
        fmq.queue("q", "reader")


def test_a_consumer_is_used_by_one_thread(fmq: FMQ) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    producer.put(1)
    assert consumer.get(_S).payload == 1
    assert isinstance(Background(lambda: consumer.get(_S)).error(), WrongThreadError)
    consumer.rebind()
    producer.put(2)
    assert Background(lambda: consumer.get(_S).payload).value() == 2


def test_several_threads_put(fmq: FMQ) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    threads = [
        threading.Thread(target=lambda n=n: [producer.put((n, i, b"x" * i)) for i in range(200)]) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    came = [consumer.get(_S).payload for _ in range(800)]
    for thread in threads:
        thread.join(_S)
    assert all(len(body) == i for _, i, body in came)
    assert [[i for n, i, _ in came if n == number] for number in range(4)] == [list(range(200))] * 4


def test_a_close_ends_a_get_that_waits(fmq: FMQ) -> None:
    consumer = fmq.queue("q", "consumer")
    waits = Background(lambda: consumer.get(None))
    consumer.close()
    assert isinstance(waits.error(), ClosedError)
    with pytest.raises(ClosedError):
        consumer.get(0.0)


def test_a_message_that_cannot_be_decoded_costs_itself(fmq: FMQ) -> None:
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    inner = producer._producer
    assert inner is not None
    inner.put(0xB2, b"no pickle")
    producer.put("after it")
    with pytest.raises(UndecodableError) as told:
        consumer.get(_S)
    assert "no pickle" not in str(told.value)
    assert consumer.get(_S).payload == "after it"
    counts = consumer.statistics()
    assert isinstance(counts, ConsumerStatistics)
    assert counts.undecodable == 1


def test_what_cannot_be_pickled_is_refused(fmq: FMQ) -> None:
    with pytest.raises(PayloadError):
        fmq.queue("q").put(lambda: None)


def test_the_socket_is_private(fmq: FMQ, config: Config) -> None:
    fmq.queue("q", "consumer")
    assert stat.S_IMODE(os.stat(config.endpoint("q").address).st_mode) == 0o600
    os.chmod(str(config.ipc_root), 0o755)
    try:
        with pytest.raises(UnsafeConfigError):
            fmq.queue("other", "consumer")
    finally:
        os.chmod(str(config.ipc_root), 0o700)


def test_a_long_name_gets_a_short_path(fmq: FMQ) -> None:
    name = "long" * 40
    with fmq.queue(name, "consumer") as consumer, fmq.queue(name) as producer:
        producer.put(1)
        assert consumer.get(_S).payload == 1
        consumer.done()


# -- over TCP --------------------------------------------------------------------------------------------------------


def test_over_tcp_strangers_are_kept_out_and_nothing_is_unpickled() -> None:
    keys, others = CurveKeys.generate(), CurveKeys.generate()
    with FMQ(Config(endpoints={"q": Endpoint("tcp", "127.0.0.1:0", curve=keys)})) as served:
        consumer = served.queue("q", "consumer")
        port = consumer._consumer._inbox.bound.rpartition(":")[2]  # type: ignore[union-attr]
        address = f"127.0.0.1:{port}"
        options = SocketOptions(linger=0)
        mine = Config(endpoints={"q": Endpoint("tcp", address, curve=keys.for_clients())}, socket_config=options)
        wrong = replace(others.for_clients(), server_public=keys.server_public)
        theirs = Config(endpoints={"q": Endpoint("tcp", address, curve=wrong)}, socket_config=options)
        with FMQ(theirs) as stranger, FMQ(mine) as friend:
            stranger.queue("q").put("from a stranger")
            producer = friend.queue("q")
            with pytest.raises(PayloadError):
                producer.put(object())
            producer.put({"array": [1, 2]})
            assert consumer.get(_S).payload == {"array": [1, 2]}
            assert consumer.look() is None


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_an_open_address_needs_keys(role: str) -> None:
    with pytest.raises(UnsafeConfigError):
        Queue("q", role, Config(endpoints={"q": Endpoint("tcp", "0.0.0.0:1")}))


# -- topics ----------------------------------------------------------------------------------------------------------


def test_a_subscriber_gets_everything_from_its_subscription_on(fmq: FMQ) -> None:
    publisher = fmq.topic("t")
    publisher.bind()
    publisher.pub("before it")
    got: list[object] = []
    with fmq.topic("t") as one, fmq.topic("t") as two:
        one.sub(timeout=_S)
        two.sub(lambda message: got.append(message.payload), timeout=_S)
        for number in range(100):
            publisher.pub(number)
        assert [one.get(_S).payload for _ in range(100)] == list(range(100))
        until(lambda: len(got) == 100, "all have come")
        assert got == list(range(100))
        publisher.wait_subscribers(2, _S)
        with pytest.raises(WrongRoleError):
            one.pub(1)
    with pytest.raises(CommTimeoutError):
        fmq.topic("nobody").sub(timeout=0.05)


def test_a_full_subscriber_is_counted(config: Config) -> None:
    with FMQ(
        replace(config, socket_config=SocketOptions(sndhwm=1, rcvhwm=1, linger=0, sndbuf=4096, rcvbuf=4096))
    ) as fmq:
        publisher = fmq.topic("t", when_full="drop")
        publisher.bind()
        subscriber = fmq.topic("t")
        subscriber.sub(timeout=_S)
        sent = [publisher.pub(bytes(1 << 20)) for _ in range(20)]
        assert False in sent
        assert publisher.statistics().dropped == sent.count(False)


def test_a_connection_is_tried_again_at_once(config: Config) -> None:
    """ZeroMQ's thread lets go of what belonged to the last try some time after its close."""
    endpoint = config.endpoint("q")
    for _ in range(300):
        ZmqLink(endpoint, config, b"the same peer").close(0.0)
