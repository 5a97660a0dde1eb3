"""What clients and ranks do so that a host passes every fault point of the control protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fdcomm.control import ControlClient, ControlServer
from fdcomm.errors import CommTimeoutError, FdcommError, StaleAnswerError
from tests.faults.remote import LIMIT_S

__all__ = ("CONTROL_POINTS", "control_act")

CONTROL_POINTS = (
    *("Join.done", "Leave.done", "Fence.done", "Vanish.done", "Reappear.done", "Ask.enter", "Ask.done"),
    *("Take.enter", "Take.done", "Answer.enter", "Answer.done", "RefuseLate.done"),
    *("Collect.done", "EndLost.done", "EndTimeout.done", "Withdraw.done"),
)


def _told(error: type[FdcommError], call: Callable[[], Any]) -> None:
    try:
        answer = call()
    except error:
        return
    raise AssertionError(f"a call that must raise {error.__name__} returned {answer!r}")


def control_act(stage: Any) -> None:
    """Run until the host dies: then some call raises HostLostError."""
    client = ControlClient(stage.engine)
    zero, one = stage.open(0), stage.open(1)

    def take(queue: Any) -> Any:
        return ControlServer(queue).take(timeout=LIMIT_S)

    def ask(what: str) -> None:
        stage.wait(lambda: client.ask(what, timeout=LIMIT_S))

    ask("all answer")
    for queue in (zero, one):
        take(queue).answer()
    stage.waited()
    _told(CommTimeoutError, lambda: client.ask("nobody answers", timeout=0))
    ask("cancelled")
    request = take(zero)
    client.cancel()
    stage.waited()
    _told(StaleAnswerError, request.answer)
    stage.lose(one, "control")
    ask("one is gone")
    take(zero).answer()
    stage.waited()
    back = stage.open(1)
    back.get_tasks()
    stage.lose(back, "control")
    stage.close(zero)
