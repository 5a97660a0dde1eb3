"""B11: the done list is empty, because a result has been taken from it and not been handled yet."""

from tests.races.cache_race import CacheOurs, CacheRace, CacheShipped
from tests.races.shipped_cache import relayed


def shipped(variant: CacheShipped) -> str:
    rank0, receiver, reset = variant.reader(0), variant.producer(), variant.producer()
    rank0.put_transfer_done_signal("swap 1")
    in_transit = relayed(receiver)
    return f"the reset sees an empty queue, and {in_transit} is not handled" if reset.result_queue_empty() else ""


def ours(variant: CacheOurs) -> str:
    rank0, receiver, reset = variant.reader(0), variant.producer(), variant.producer()
    rank0.put_transfer_done_signal("swap 1")
    if reset.result_queue_empty():
        return "a posted result counts as handled"
    taken = receiver.get_transfer_done_signal()
    if reset.result_queue_empty():
        return f"the reset sees an empty queue, and {taken} is not handled"
    if receiver.get_transfer_done_signal() is not None or not reset.result_queue_empty():
        return "the receiver has come back, and the result counts as not handled"
    rank0.put_transfer_done_signal("swap 2")
    receiver.get_transfer_done_signal()
    receiver.close()
    return "" if reset.result_queue_empty() else "a receiver that is gone holds its result for ever"


RACE = CacheRace(("B11",), shipped, ours, "the reset sees an empty queue, and ['swap 1'] is not handled")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
