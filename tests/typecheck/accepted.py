"""A user's program that must pass ``mypy --strict``. It is checked, never run."""

from __future__ import annotations

from typing import Any

from fdcomm import (
    DEFAULT,
    CommTimeoutError,
    DispatchStatistics,
    EngineWorkerQueue,
    FdcommError,
    PeerLostError,
)


def engine(tasks: list[dict[str, Any]]) -> int:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=4, trace="run.ndjson") as queue:
        try:
            queue.put_tasks((tasks, len(tasks)), timeout=5)
        except CommTimeoutError as error:
            late: tuple[int, ...] = error.missing
            return len(late)
        except PeerLostError as error:
            lost: ConnectionError = error
            raise lost from None
        queue.put_tasks((tasks, len(tasks)), timeout=None)
        queue.put_tasks((tasks, len(tasks)), timeout=DEFAULT)
        view: DispatchStatistics = queue.statistics()
        return queue.get_server_port() + view.num_tasks


def worker(port: int, rank: int) -> list[Any]:
    queue = EngineWorkerQueue(
        ("0.0.0.0", port), b"secret_key", False, 4, rank, 1, 0, role="reader", connect_timeout=10.0
    )
    got: list[Any] = []
    try:
        ticket: int = queue.task_ticket()
        if queue.exist_tasks() and queue.num_tasks():
            batches, all_read = queue.get_tasks(ticket=ticket)
            if not all_read:
                got += batches
        queue.clear_data()
    except TimeoutError as error:
        print(error)
    except FdcommError as error:
        print(error.operation, error.missing, error.epoch, error.waited_s)
    finally:
        queue.close()
    return got
