"""Many batches from several producers to 1 to 8 reader processes: exactly once, in order, all ranks the same."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterable

import pytest

from fdcomm import EngineWorkerQueue
from tests.faults.remote import NIGHTLY, Remote, until
from tests.multiproc.reader import END, batch
from tests.multiproc.running import LIMIT_S, readers

BATCHES = 6000 if NIGHTLY else 450


def _put(queue: EngineWorkerQueue, names: Iterable[str], seed: str, failed: list[Exception]) -> None:
    randomness = random.Random(seed)
    try:
        for name in names:
            queue.put_tasks(batch(name, randomness), timeout=LIMIT_S)
    except Exception as error:  # noqa: BLE001 - looked at by the test
        failed.append(error)


def _run(ranks: int, depth: int, seed: int, clear_every: int) -> tuple[dict[str, list[str]], list[list[str]], int]:
    """Put from two threads and another process; return what each producer put, what each rank took, and the puts."""
    count = BATCHES // (3 * (1 + ranks // 4))
    names = {who: [f"{who}-{number}" for number in range(count)] for who in ("a", "b", "process")}
    failed: list[Exception] = []
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, num_client=ranks, depth=depth) as engine:
        port = engine.get_server_port()
        with readers(port, ranks, clear_every=clear_every) as running, Remote() as other:
            other.open(port, num_client=ranks, client_id=0, role="producer")
            other.send("put_batches", names["process"], f"{seed}-process")
            threads = [
                threading.Thread(target=_put, args=(engine, names[who], f"{seed}-{who}", failed)) for who in ("a", "b")
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failed == []
            assert other.answer() is None
            # Put when nothing else is: a clear by a slower rank, for an older batch, would drop it otherwise.
            until(lambda: engine.statistics().num_tasks == 0, "all is read or cleared")
            engine.put_tasks({"name": END, "data": b"", "crc": 0}, timeout=LIMIT_S)
            results = running.results()
        puts = engine.statistics().puts
    assert sum(result["last"] for result in results) == len(results[0]["names"])
    return names, [result["names"] for result in results], puts


@pytest.mark.parametrize(("ranks", "depth"), [(1, 1), (2, 3), (4, 1), (8, 2)])
def test_exactly_once_in_order(ranks: int, depth: int, seed: int) -> None:
    names, taken, puts = _run(ranks, depth, seed, clear_every=0)
    assert all(sequence == taken[0] for sequence in taken[1:])
    assert taken[0][-1] == END
    for who, put in names.items():
        assert [name for name in taken[0] if name.startswith(f"{who}-")] == put
    assert len(taken[0]) == puts == sum(map(len, names.values())) + 1


@pytest.mark.parametrize(("ranks", "depth"), [(2, 1), (4, 3)])
def test_with_clears_by_all_ranks(ranks: int, depth: int, seed: int) -> None:
    """Every rank clears after the same batches. What is dropped is dropped for all: the ranks stay in step."""
    names, taken, _ = _run(ranks, depth, seed, clear_every=7)
    assert all(sequence == taken[0] for sequence in taken[1:])
    assert len(set(taken[0])) == len(taken[0])
    for put in names.values():
        order = {name: number for number, name in enumerate(put)}
        positions = [order[name] for name in taken[0] if name in order]
        assert positions == sorted(positions)
    assert len(taken[0]) >= BATCHES // 20  # clears drop some, not most


def test_tens_of_threads_on_one_handle() -> None:
    """40 threads put, look and ask through one handle; 3 threads read through another. Every batch comes once."""
    count, each = 40, 10
    failed: list[Exception] = []
    taken: list[int] = []
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True, depth=4) as engine:
        with EngineWorkerQueue(engine.address, client_id=0, role="reader") as reader:

            def put(first: int) -> None:
                try:
                    for number in range(first, first + each):
                        engine.put_tasks(number, timeout=LIMIT_S)
                        engine.exist_tasks()
                        engine.num_tasks()
                except Exception as error:  # noqa: BLE001 - looked at below
                    failed.append(error)

            def read() -> None:
                try:
                    while True:
                        (number,), _ = reader.get_tasks(timeout=LIMIT_S)
                        if number < 0:
                            return
                        taken.append(number)
                        reader.exist_tasks()
                except Exception as error:  # noqa: BLE001 - looked at below
                    failed.append(error)

            putting = [threading.Thread(target=put, args=(each * index,)) for index in range(count)]
            reading = [threading.Thread(target=read) for _ in range(3)]
            for thread in (*putting, *reading):
                thread.start()
            for thread in putting:
                thread.join()
            for _ in reading:
                engine.put_tasks(-1, timeout=LIMIT_S)
            for thread in reading:
                thread.join()
        assert failed == []
        assert sorted(taken) == list(range(count * each))
        host = engine._host
        assert host is not None
        assert len(os.listdir(f"/proc/{host.pid}/fd")) < 2 * (count + 3) + 20


def test_threads_that_end_give_their_connections_back() -> None:
    with EngineWorkerQueue(("0.0.0.0", 0), is_server=True) as engine:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(30):
            thread = threading.Thread(target=engine.num_tasks)
            thread.start()
            thread.join()
        assert len(os.listdir("/proc/self/fd")) <= before
