"""P15.4: the flag is made under the engine's process id, and looked for under its port."""

import os
from multiprocessing.shared_memory import SharedMemory

import pytest

from fdcomm import ConfigError, Readiness
from tests.races.readiness_race import ReadinessOurs, ReadinessRace
from tests.races.shipped_readiness import ShippedReadiness

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedReadiness) -> str:
    made = SharedMemory(f"fdcomm_race_cache_ready.{os.getpid()}", create=True, size=4)
    try:
        SharedMemory("fdcomm_race_cache_ready.9923")
    except FileNotFoundError as error:
        return f"who looks for the flag hears {type(error).__name__}"
    finally:
        made.close()
        made.unlink()
    return ""


def ours(engine: ReadinessOurs) -> str:
    part = engine.start("cache", 0)  # the address of the queue is all that both sides share
    part.ready()
    if Readiness(engine.queues["cache", 0]).health()[0].health != "ready":
        return "the other side does not see that the part is ready"
    try:
        part.wait("cache_ready.9923")
    except ConfigError as error:
        return "" if "cache, worker" in str(error) else f"a wrong name: {error}"
    return "a wait for a name that nobody has declared has returned"


RACE = ReadinessRace(("P15.4",), shipped, ours, "FileNotFoundError")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
