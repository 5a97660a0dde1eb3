"""P7.8: the API server gives up, and its request stays in the words."""

import pytest

from fdcomm.errors import CommTimeoutError
from fdcomm.status import http_code
from tests.races.shipped_status import ShippedStatus
from tests.races.status_race import StatusOurs, StatusRace

pytestmark = pytest.mark.multiproc


def shipped(words: ShippedStatus) -> str:
    first = words.clear(polls=20)  # no worker acts on it
    first.run()
    codes = []
    for later in (words.clear(polls=20), words.update()):
        later.run()
        codes.append(later.result)
    if (first.result, *codes) != (404, 400, 403):
        return ""
    return f"after {first.result} the answers are {codes} for ever, although nobody works on anything"


def ours(engine: StatusOurs) -> str:
    clear = engine.ask("clear", timeout=0.05)
    error = clear.error()
    if not isinstance(error, CommTimeoutError) or http_code(error) != 404 or "kv_cache: part 0, 1" not in str(error):
        return f"a clear without parts ends with {error!r}"
    return engine.works()


RACE = StatusRace(("P7.8",), shipped, ours, "although nobody works")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
