"""B07: a reader that waits for work asks again and again; each question is a round trip.

Ours waits in one call. What is counted is calls, not time.
"""

import threading

from fdcomm import EngineWorkerQueue
from fdcomm.runtime import SystemRuntime
from tests.races.pipes import WATCHDOG_S
from tests.races.race import Race, wait_until
from tests.races.variants import Ours, Shipped

LOOKS = 100


def shipped(variant: Shipped) -> str:
    """As a worker does: look, and look again. Over the manager each look is a round trip."""
    rank0 = variant.reader(0)
    calls = [0]
    callmethod = rank0._exist_value._callmethod

    def counted(*args: object, **kwargs: object) -> object:
        calls[0] += 1
        return callmethod(*args, **kwargs)  # type: ignore[arg-type]

    rank0._exist_value._callmethod = counted  # type: ignore[method-assign, assignment]
    for _ in range(LOOKS):
        assert not rank0.exist_tasks()
    return f"{LOOKS} idle looks are {calls[0]} round trips" if calls[0] >= LOOKS else ""


class _Counter(SystemRuntime):
    def __init__(self) -> None:
        self.sent = 0

    def point(self, name: str) -> None:
        self.sent += name == "call.sent"


def ours(variant: Ours) -> str:
    counter = _Counter()
    address = ("0.0.0.0", variant.port)
    engine = variant.engine()
    with EngineWorkerQueue(address, num_client=1, client_id=0, role="reader", runtime=counter) as rank0:
        before = counter.sent
        for _ in range(LOOKS):
            rank0.exist_tasks()
        if counter.sent != before:
            return f"{LOOKS} idle looks are {counter.sent - before} round trips"
        got: list[object] = []
        thread = threading.Thread(target=lambda: got.extend(rank0.get_tasks(timeout=WATCHDOG_S)[0]))
        thread.start()
        wait_until("the reader waits", lambda: counter.sent > before)
        for _ in range(LOOKS):
            engine.num_tasks()
        waiting = counter.sent
        engine.put_tasks("A")
        thread.join(WATCHDOG_S)
        # A thread's first call opens its connection with one message more.
        return "" if got == ["A"] and counter.sent == waiting <= before + 2 else f"{counter.sent - before} messages"


RACE = Race(("B07",), shipped, ours, f"{LOOKS} idle looks are {LOOKS} round trips", ranks=1, data_path="host")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
