"""P1.9: a put that waits gives the lock back between two polls, and a later put of another thread overtakes it."""

import functools
import threading

from fdcomm import EngineWorkerQueue
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    late, rank0 = variant.client(0), variant.reader(0)
    got: list[str] = []
    todo = [lambda: late.put_tasks("called second"), lambda: None]

    def between_polls(step: str) -> None:
        if step == "put.poll" and todo:
            got.extend(rank0.get_tasks()[0])
            todo.pop(0)()

    early = variant.client(0, hook=between_polls)
    early.put_tasks("full")
    early.put_tasks("called first")
    got.extend(rank0.get_tasks()[0])
    return "" if got == ["full", "called first", "called second"] else f"the order of arrival is {got[1:]}"


def ours(variant: Ours) -> str:
    engine, rank0 = variant.engine(), variant.reader(0)
    engine.put_tasks("full")
    names = [f"called {number}" for number in range(5)]
    threads = [threading.Thread(target=engine.put_tasks, args=(name,)) for name in names]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        wait_until(f"put call {number} waits", functools.partial(_waits, engine, number))
    got = [rank0.get_tasks(timeout=WATCHDOG_S)[0][0] for _ in range(1 + len(names))]
    for thread in threads:
        thread.join(WATCHDOG_S)
    return "" if got == ["full", *names] else f"the order of arrival is {got[1:]}"


def _waits(engine: EngineWorkerQueue, number: int) -> bool:
    return engine.statistics().waiting_puts == number


RACE = Race(("P1.9",), shipped, ours, "['called second', 'called first']", ranks=1, data_path="host")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
