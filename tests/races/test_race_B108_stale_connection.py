"""B108: after the host is restarted at its address, a new client of the same process uses the dead connection.

The standard proxies keep one connection per address and thread for as long as the process lives. Ours belong to
handles: the old handle says that its host is gone, and a new one works.
"""

import pytest

from fdcomm import EngineWorkerQueue
from fdcomm.errors import HostLostError
from tests.races.race import Race
from tests.races.variants import Ours, Shipped

pytestmark = pytest.mark.multiproc


def shipped(variant: Shipped) -> str:
    variant.engine().put_tasks("A")
    variant.restart()
    try:
        variant.engine().put_tasks("B")
    except (OSError, EOFError) as error:
        return f"a new client of the new host fails: {type(error).__name__}"
    return ""


def ours(variant: Ours) -> str:
    engine = variant.engine()
    engine.put_tasks("A")
    variant.server.cleanup()
    with EngineWorkerQueue(("0.0.0.0", variant.port), is_server=True, num_client=variant.ranks):
        try:
            engine.put_tasks("B")
        except HostLostError:
            pass
        else:
            return "a handle of the old host puts without a word"
        with EngineWorkerQueue(("0.0.0.0", variant.port), num_client=variant.ranks, client_id=0) as fresh:
            fresh.put_tasks("C")
            got = fresh.get_tasks()[0]
            return "" if got == ["C"] else f"the new handle reads {got}"


RACE = Race(("B108",), shipped, ours, "a new client of the new host fails")


def test_shipped_fails() -> None:
    assert RACE.symptom in RACE.on_shipped()


def test_ours_passes() -> None:
    assert RACE.on_ours() == ""
