"""What FMQ is told, its classes for asyncio, and the factory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fdcomm import ConfigError
from fdcomm.aio import AsyncFMQ
from fdcomm.mq import FMQ, Config, FMQFactory, load_config

_S = 30.0


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(ipc_root=str(tmp_path / "mq"))


def test_the_configuration_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "FMQ_CONFIG_JSON", '{"window": 3, "endpoints": {"a": {"protocol": "tcp", "address": "127.0.0.1:9"}}}'
    )
    with FMQ() as fmq:
        assert (fmq.config.window, fmq.config.endpoint("a").address) == (3, "127.0.0.1:9")


@pytest.mark.parametrize("text", ["[]", "{", '{"windw": 1}', '{"window": "x"}', '{"socket_config": {"linger": -1}}'])
def test_a_bad_configuration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        load_config(text)


def test_asyncio_over_several_loops(config: Config) -> None:
    async def one(number: int) -> None:
        await producer.put(number)
        waits = asyncio.ensure_future(consumer.get(_S))
        if number == 1:
            waits.cancel()  # loses nothing
            await asyncio.wait([waits])
            waits = asyncio.ensure_future(consumer.get(_S))
        assert (await waits).payload == number
        await consumer.done()
        await producer.flush(_S)

    fmq = AsyncFMQ(config)
    consumer, producer = fmq.queue("q", "consumer"), fmq.queue("q")
    for number in range(3):
        asyncio.run(one(number))
    asyncio.run(fmq.destroy())


def test_the_factory() -> None:
    ends = [
        (FMQFactory.q_a2e_producer, FMQFactory.q_a2e_consumer),
        (FMQFactory.q_e2a_producer, FMQFactory.q_e2a_consumer),
    ]
    ends += [
        (FMQFactory.q_e2w_producer, FMQFactory.q_e2w_consumer),
        (FMQFactory.q_w2e_producer, FMQFactory.q_w2e_consumer),
    ]
    try:
        for produce, consume in ends:
            consumer, producer = consume(), produce()
            producer.put(consumer.name)
            assert consumer.get(_S).payload == producer.name
        assert FMQFactory.q_w2e_producer("rank0").name == "q_w2e_rank0"
    finally:
        FMQFactory.destroy()
