"""FMQ as FastDeploy's callers use it: coroutines in an event loop for each call, milliseconds, None for nothing."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import inspect
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fdcomm import AddressInUseError, ClosedError, ConfigError, WrongRoleError
from fdcomm.drop_in_zmq import fmq, fmq_factory, fmq_factory_plain, fmq_plain
from fdcomm.drop_in_zmq.fmq import FMQ, Config, Endpoint, EndpointManager, Message, SocketOptions
from tests.parity.rows import rows

LIMIT_S = 60.0
LIMIT_MS = 60_000
CLASSES: dict[str, Any] = {
    "Message": Message,
    "Descriptor": fmq.Descriptor,
    "Config": Config,
    "Endpoint": Endpoint,
    "SocketOptions": SocketOptions,
}


@pytest.fixture(autouse=True)
def _own_fmq() -> Iterator[None]:
    EndpointManager.config = None
    yield
    asyncio.run(FMQ().destroy())
    EndpointManager.config = None


def _name() -> str:
    return f"parity-{os.urandom(4).hex()}"


def _run(coroutine: Any) -> Any:
    """As FastDeploy's callers do: a loop of its own for each call."""
    return asyncio.run(asyncio.wait_for(coroutine, LIMIT_S))


def _pair() -> tuple[fmq.Queue, fmq.Queue]:
    name = _name()
    return FMQ().queue(name, "producer"), FMQ().queue(name, "consumer")


def test_queue() -> None:
    assert FMQ() is FMQ()
    producer, consumer = _pair()
    assert (producer.name, producer.role) == (consumer.name, fmq.Role.PRODUCER)
    assert consumer.role is fmq.Role("consumer")
    assert FMQ().queue(producer.name).role is fmq.Role.PRODUCER
    with pytest.raises(ValueError, match="neither"):
        FMQ().queue(producer.name, "listener")
    with pytest.raises(AddressInUseError):
        FMQ().queue(producer.name, "consumer")


def test_put() -> None:
    producer, consumer = _pair()
    for number in range(3):
        assert _run(producer.put({"number": number})) is None
    assert [_run(consumer.get(LIMIT_MS)).payload["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(PermissionError):
        _run(consumer.put(1))
    early = FMQ().queue(_name())
    assert _run(early.put("before there is a consumer")) is None
    assert _run(FMQ().queue(early.name, "consumer").get(LIMIT_MS)).payload == "before there is a consumer"


def test_get() -> None:
    producer, consumer = _pair()
    assert _run(consumer.get(timeout=1)) is None
    with pytest.raises(WrongRoleError):
        _run(producer.get(1))

    async def waits_before_it_is_put() -> Any:
        waiting = asyncio.ensure_future(consumer.get())
        await asyncio.sleep(0)
        await producer.put("late")
        return await waiting

    assert _run(waits_before_it_is_put()).payload == "late"
    # A message counts as done when it was returned: nobody waits for its acknowledgement at the end.
    _run(producer.put("done with"))
    assert _run(consumer.get(LIMIT_MS)).payload == "done with"
    producer._queue.queue.flush(LIMIT_S)


def test_close() -> None:
    producer, consumer = _pair()
    for end in (producer, consumer):
        assert _run(end.close()) is None
        assert _run(end.close()) is None
    with pytest.raises(ClosedError):
        _run(producer.put(1))
    with pytest.raises(ClosedError):
        _run(consumer.get(1))


def test_message() -> None:
    producer, consumer = _pair()
    before = time.time()
    _run(producer.put(b"small"))
    _run(producer.put(b"x" * 5000, shm_threshold=5000))
    small, large = (_run(consumer.get(LIMIT_MS)) for _ in range(2))
    assert (small.payload, small.descriptor) == (b"small", None)
    assert large.payload == b"x" * 5000
    assert large.descriptor.size == 5000
    assert large.msg_id in large.descriptor.shm_name
    assert small.msg_id != large.msg_id
    assert before <= small.timestamp <= large.timestamp <= time.time()


def test_topic() -> None:
    async def everything() -> list[Any]:
        name, found, came = _name(), [], asyncio.Event()
        subscriber, publisher = FMQ().topic(name), FMQ().topic(name)

        async def callback(message: Message) -> None:
            found.append(message.payload)
            if message.payload == "last":
                came.set()

        await subscriber.sub(callback)
        while not came.is_set():  # what is published before the subscription is in force is not received
            await publisher.pub("one")
            await publisher.pub("last")
            await asyncio.sleep(0)
        for topic in (subscriber, publisher):
            await topic.close()
            await topic.close()
        return found

    found = _run(everything())
    assert found[-2:] in (["one", "last"], ["last", "one"])


def test_destroy() -> None:
    producer, _ = _pair()
    first = FMQ()
    assert _run(first.destroy()) is None
    with pytest.raises(ClosedError):
        _run(producer.put(1))
    assert FMQ() is not first
    producer, consumer = _pair()
    _run(producer.put("again"))
    assert _run(consumer.get(LIMIT_MS)).payload == "again"


@pytest.mark.parametrize("name", ["q_a2e", "q_e2w", "q_w2e", "q_e2a"])
def test_factory(name: str) -> None:
    for factory, wait in ((fmq_factory.FMQFactory, _run), (fmq_factory_plain.FMQFactory, lambda result: result)):
        producer: Any = getattr(factory, f"{name}_producer")()
        consumer: Any = getattr(factory, f"{name}_consumer")()
        wait(producer.put(name))
        got = wait(consumer.get())
        assert (got if factory is fmq_factory_plain.FMQFactory else got.payload) == name
        wait(producer.close())
        wait(consumer.close())
    assert producer.name == name
    _run(fmq_factory.FMQFactory.destroy())
    if name == "q_w2e":
        named = fmq_factory_plain.FMQFactory.q_w2e_producer("worker7")
        assert named.name == "q_w2e_worker7"
        named.close()


@pytest.mark.parametrize("name", CLASSES)
def test_configuration(name: str) -> None:
    """Names, order and defaults; FastDeploy's fields come first."""
    wanted = [row for row in rows() if row.owner == name]
    parameters = list(inspect.signature(CLASSES[name]).parameters.values())[: len(wanted)]
    assert [parameter.name for parameter in parameters] == [row.member for row in wanted]
    made = {field.name: field for field in dataclasses.fields(CLASSES[name])}
    for row in wanted:
        field, default = made[row.member], row.cells["default"]
        if default == "none":
            assert field.default is dataclasses.MISSING
            assert field.default_factory is dataclasses.MISSING
        elif field.default_factory is not dataclasses.MISSING:
            assert field.default_factory() == (SocketOptions() if default == "SocketOptions()" else {})
        else:
            assert field.default == ast.literal_eval(default)


def test_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert EndpointManager.get_endpoint("name").address.endswith("/fmq_name.ipc")
    told = {"ipc_root": str(tmp_path), "endpoints": {"far": {"protocol": "tcp", "address": "127.0.0.1:7777"}}}
    monkeypatch.setenv("FMQ_CONFIG_JSON", json.dumps(told))
    assert EndpointManager.load_config().ipc_root == str(tmp_path)
    assert EndpointManager.get_endpoint("name").address == f"{tmp_path}/fmq_name.ipc"
    assert EndpointManager.get_endpoint("far") == Endpoint("tcp", "127.0.0.1:7777")
    monkeypatch.setenv("FMQ_CONFIG_JSON", "{")
    with pytest.raises(ConfigError, match="FMQ_CONFIG_JSON"):
        EndpointManager.load_config()
    assert EndpointManager.get_endpoint("name").address == f"{tmp_path}/fmq_name.ipc"


def test_the_plain_form() -> None:
    with fmq_plain.FMQ() as handles:
        name = _name()
        producer, consumer = handles.queue(name), handles.queue(name, "consumer")
        assert producer.put({"a": 1}) is None  # type: ignore[func-returns-value]
        assert consumer.get() == {"a": 1}
        assert consumer.get() is None
        with pytest.raises(PermissionError):
            producer.get()
        found: list[Any] = []
        subscriber, publisher = handles.topic(_name() + "t"), None
        publisher = handles.topic(subscriber.name)
        subscriber.sub(lambda message: found.append(message.payload))
        publisher.pub("first")  # waits for a subscriber, so it is received
        end = time.monotonic() + LIMIT_S
        while not found and time.monotonic() < end:
            os.sched_yield()
        assert found == ["first"]
        subscriber.stop_sub()
    with pytest.raises(ClosedError):
        producer.put(1)
