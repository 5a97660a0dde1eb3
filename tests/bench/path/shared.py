"""Packages for shared memory as subjects: faster-fifo and iceoryx2."""

from __future__ import annotations

import ctypes
import os
import pickle
from pathlib import Path
from typing import Any

from tests.bench.path.subject import Batch, Get, Subject, imported

__all__ = ("FasterFifo", "Iceoryx")

_DEPTH = 8
_ROOM = 4096
"""Bytes of a pickled batch besides its payload, at most."""


def _same(stream: bytes) -> bytes:
    return stream


class FasterFifo(Subject):
    """A faster-fifo queue for each reader, with room for eight of the largest; the batch is pickled once."""

    name = "faster-fifo per reader"

    def check(self) -> None:
        imported("faster_fifo", "faster-fifo")

    def start(self, ranks: int, largest: int) -> None:
        super().start(ranks, largest)
        made = imported("faster_fifo", "faster-fifo").Queue
        room = _DEPTH * (largest + _ROOM)
        self._queues = [made(max_size_bytes=room, loads=pickle.loads, dumps=_same) for _ in range(ranks)]

    def open_reader(self, rank: int, orders: Any) -> Get:
        get = self._queues[rank].get
        return lambda: get(timeout=60.0)

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        for queue in self._queues:
            queue.put(stream, timeout=60.0)


class Iceoryx(Subject):
    """An iceoryx2 publisher of byte slices; readers poll, yielding in between, or wait for its event."""

    def __init__(self, *, event: bool) -> None:
        self.name = "iceoryx2, event" if event else "iceoryx2, polling"
        self._event = event

    def check(self) -> None:
        imported("iceoryx2", "iceoryx2")

    def load(self) -> None:
        self._iox = imported("iceoryx2", "iceoryx2")
        self._iox.set_log_level(self._iox.LogLevel.Error)

    def _builders(self, name: str) -> tuple[Any, Any]:
        iox = self._iox
        config = iox.config.default()
        config.global_cfg.root_path = iox.Path.new(self.folder)
        config.global_cfg.prefix = iox.FileName.new(f"{Path(self.folder).name}_")
        builder = iox.NodeBuilder.new().config(config).signal_handling_mode(iox.SignalHandlingMode.Disabled)
        self._node = builder.create(iox.ServiceType.Ipc)
        data = self._node.service_builder(iox.ServiceName.new(name)).publish_subscribe(iox.Slice[ctypes.c_uint8])
        return data, self._node.service_builder(iox.ServiceName.new(f"{name}/event")).event()

    def open_writer(self) -> str:
        iox, name = self._iox, "bench"
        data, event = self._builders(name)
        nodes = self.ranks + 1
        data = data.enable_safe_overflow(False).subscriber_max_buffer_size(_DEPTH)
        self._service = data.max_subscribers(self.ranks).max_nodes(nodes).create()
        builder = self._service.publisher_builder().initial_max_slice_len(self.largest + _ROOM)
        self._publisher = builder.backpressure_strategy(iox.BackpressureStrategy.RetryUntilDelivered).create()
        self._events = event.max_listeners(self.ranks).max_nodes(nodes).create()
        self._notifier = self._events.notifier_builder().create()
        return name

    def open_reader(self, rank: int, orders: Any) -> Get:
        data, event = self._builders(orders)
        self._service = data.open()
        self._subscriber = subscriber = self._service.subscriber_builder().buffer_size(_DEPTH).create()
        receive, give_way = subscriber.receive, os.sched_yield
        if self._event:
            self._events = event.open()
            self._listener = self._events.listener_builder().create()
            give_way = self._listener.blocking_wait

        def get() -> Batch:
            while (sample := receive()) is None:
                give_way()
            batch: Batch = pickle.loads(sample.payload().as_memory_view())
            sample.delete()
            return batch

        return get

    def settle(self) -> None:
        while self._service.dynamic_config.number_of_subscribers < self.ranks:
            os.sched_yield()
        while self._event and self._events.dynamic_config.number_of_listeners < self.ranks:
            os.sched_yield()

    def put(self, batch: Batch) -> None:
        stream = pickle.dumps(batch, 5)
        sample = self._publisher.loan_slice_uninit(len(stream))
        ctypes.memmove(sample.payload().as_ptr(), stream, len(stream))
        sample.assume_init().send()
        if self._event:
            self._notifier.notify()

    def close(self) -> None:
        for name in ("_listener", "_subscriber", "_notifier", "_publisher"):
            if (port := self.__dict__.pop(name, None)) is not None:
                port.delete()
        for name in ("_events", "_service", "_node"):
            self.__dict__.pop(name, None)
