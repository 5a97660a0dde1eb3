"""The machines of what extends dispatch run, and everything occurs in them."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.stateful.item_driver import APIS, ItemDriver, ItemHost
from tests.stateful.item_machine import run_items
from tests.stateful.rounds import unseen

pytestmark = pytest.mark.multiproc

ALWAYS = {"Join", "Leave", "Crash", "Connect", "Disconnect", "CrashProducer", "PutTasks", "PutLost", "PutTimeout"}


@pytest.mark.parametrize("protocol", APIS)
def test_a_real_host_and_the_model_agree(protocol: str) -> None:
    limit = min(settings().max_examples, 200)
    run_items(protocol, settings(stateful_step_count=30, max_examples=limit, report_multiple_bugs=False))


@pytest.mark.parametrize("protocol", APIS)
def test_every_action_occurs(protocol: str) -> None:
    options = settings(settings.get_profile("ci"), stateful_step_count=40, max_examples=40, report_multiple_bugs=False)
    wanted = ALWAYS | ({"ClearRank", "ClearProducer", "Post", "Take", "Gone"} if protocol == "bitmask" else set())
    assert unseen(lambda chosen: run_items(protocol, chosen), options, wanted) == set()


def test_a_host_that_does_something_else_is_noticed() -> None:
    host = ItemHost("bitmask", 2, 3)
    try:
        driver = ItemDriver(host)
        driver.do("PutTasks", 0)
        driver.observer.clear_transfer_task()  # the model does not know of it
        with pytest.raises(AssertionError):
            driver.compare()
        driver.close()
    finally:
        host.close()
