"""B02: the exist flag is lowered apart from the emptying of the queue.

Shipped, between the two steps a reader without the lock sees tasks where there are none. And where the flag is
lowered after the lock is given back, a put in between is undone: its batch waits, and the flag says that there is none.

Ours: the store of the word is inside the critical section, so a put that comes in between is served after it.
"""

import threading

from tests.races.inside import Inside
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped


def shipped(variant: Shipped) -> str:
    engine = variant.engine()
    seen: list[bool] = []

    def look(step: str) -> None:
        if step == "get.lower":
            seen.append(engine.exist_tasks())

    engine.put_tasks("A")
    variant.client(0, hook=look).get_tasks()
    return "exist says True for an empty list" if seen == [True] else ""


def lost_wake_up(variant: Shipped) -> str:
    engine = variant.engine()

    def put_in_between(step: str) -> None:
        if step == "get.lower":
            engine.put_tasks("B")

    engine.put_tasks("A")
    variant.client(0, hook=put_in_between, lower_after_release=True).get_tasks()
    count = engine.num_tasks()
    return f"{count} batch waits, and exist says False" if count and not engine.exist_tasks() else ""


def ours(variant: Ours) -> str:
    """Inside the service: a put arrives at the very moment before the word is lowered."""
    inside = Inside(ranks=1)
    engine, rank0 = inside.client(0, "producer"), inside.client(0, "reader")
    putter = threading.Thread(target=engine.put_tasks, args=("B",))

    def put_in_between(word: int, value: int) -> None:
        if (word, value) == (0, 0) and putter.ident is None:
            putter.start()
            inside.runtime.put_arrived.wait(WATCHDOG_S)

    engine.put_tasks("A")
    inside.runtime.put_arrived.clear()
    inside.runtime.before_store = put_in_between
    rank0.get_tasks()
    putter.join(WATCHDOG_S)
    exist, got = bool(inside.words[0]), rank0.get_tasks()[0]
    inside.close()
    if not exist or got != ["B"]:
        return f"B was put, exist says {exist} and rank 0 reads {got}"
    return _lowered_by_the_last_reader(variant)


def _lowered_by_the_last_reader(variant: Ours) -> str:
    """The same through the real host: rounds of put and get, the word agrees with the queue after each."""
    engine, rank0 = variant.engine(), variant.reader(0)
    for number in range(50):
        putter = threading.Thread(target=engine.put_tasks, args=(number,))
        putter.start()
        wait_until("exist", rank0.exist_tasks)
        got = rank0.get_tasks()[0]
        putter.join(WATCHDOG_S)
        if got != [number] or rank0.exist_tasks():
            return f"round {number}: exist says {rank0.exist_tasks()} after rank 0 has read {got}"
    return ""


RACE = Race(("B02",), shipped, ours, "exist says True for an empty list", ranks=1)
LOST_WAKE_UP = Race(("B02",), lost_wake_up, ours, "1 batch waits, and exist says False", ranks=1)


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_lowering_after_the_lock_loses_a_wake_up() -> None:
    assert LOST_WAKE_UP.symptom in LOST_WAKE_UP.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
