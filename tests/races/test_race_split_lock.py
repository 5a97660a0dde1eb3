"""split-lock: a clear by one holder removes the file that others have open, and two processes hold "the" lock."""

from tests.races.word_race import LockRace, OurLocks, ShippedLocks


def shipped(variant: ShippedLocks) -> str:
    holder, waiting = variant.open(), variant.open()
    holder.acquire()
    if waiting.acquire():
        return "the lock does not exclude"
    holder.clear()
    comes_later = variant.open()
    both = waiting.acquire(), comes_later.acquire()
    return "two hold the lock" if all(both) else ""


def ours(variant: OurLocks) -> str:
    holder, waiting = variant.open(), variant.open()
    holder.acquire()
    if waiting.try_acquire():
        return "the lock does not exclude"
    holder.clear()
    comes_later = variant.open()
    if not waiting.try_acquire():
        return "who waited does not get the lock"
    if comes_later.try_acquire():
        return "two hold the lock"
    comes_later.clear()
    if variant.open().try_acquire():
        return "the clear of another one takes the lock away"
    return ""


RACE = LockRace(("split-lock",), shipped, ours, "two hold the lock")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
