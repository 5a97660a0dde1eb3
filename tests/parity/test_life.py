"""The port and the end of a queue, through server and client instances."""

from __future__ import annotations

from typing import Any

import pytest

from fdcomm import ClosedError, EngineCacheQueue, EngineWorkerQueue, HostLostError, HostNotFoundError
from tests.faults.clean import nothing_is_left
from tests.parity.worlds import DP_SIZE

__all__ = ("nothing_is_left",)

QUEUES = pytest.mark.parametrize("queue", [EngineWorkerQueue, EngineCacheQueue], ids=lambda queue: queue.__name__)


@QUEUES
def test_port(queue: Any) -> None:
    with queue(("0.0.0.0", 0), is_server=True, num_client=2, local_data_parallel_size=DP_SIZE) as server:
        port = server.get_server_port()
        assert type(port) is int
        assert port > 0
        assert server.address == ("0.0.0.0", port)
        for dp in range(DP_SIZE):
            with queue(("127.0.0.1", port), num_client=2, client_id=1, local_data_parallel_id=dp) as client:
                assert client.address[1] == port
                with pytest.raises(RuntimeError, match="only a server"):
                    client.get_server_port()
        server.close()
        with queue(("0.0.0.0", port), is_server=True) as again:  # a port that is given is kept
            assert again.get_server_port() == port


@QUEUES
def test_cleanup(queue: Any) -> None:
    server = queue(("0.0.0.0", 0), is_server=True)
    client = queue(server.address, client_id=0)
    client.cleanup()  # on a client it ends the handle and nothing else
    with pytest.raises(ClosedError):
        client.statistics()
    with queue(server.address, client_id=0) as other:
        other.statistics()
        server.cleanup()
        server.cleanup()
        with pytest.raises(HostLostError):
            other.statistics()
        with pytest.raises(HostNotFoundError):
            queue(server.address, client_id=0)
