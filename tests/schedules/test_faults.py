"""The fault injector: each kind, at the chosen passage and at no other, also in an armed child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fdcomm.errors import ConfigError
from fdcomm.testing.faults import VARIABLE, Fault, FaultInjected, FaultRuntime, as_text, from_text

_ROOT = Path(__file__).resolve().parents[2]
_WATCHDOG_S = 60.0

_CHILD = """
from fdcomm.testing.faults import FaultRuntime
runtime = FaultRuntime.from_environment()
for number in range(1, 4):
    runtime.point("other")
    print("before", number, flush=True)
    runtime.point("here")
print("end", flush=True)
"""


def _child(*faults: Fault) -> subprocess.Popen[str]:
    environment = {**os.environ, VARIABLE: as_text(faults), "PYTHONPATH": str(_ROOT)}
    return subprocess.Popen([sys.executable, "-c", _CHILD], env=environment, stdout=subprocess.PIPE, text=True)


def test_nothing_happens_without_faults() -> None:
    with _child() as child:
        output, _ = child.communicate(timeout=_WATCHDOG_S)
    assert output.splitlines() == ["before 1", "before 2", "before 3", "end"]
    assert child.returncode == 0


def test_kill_at_the_second_passage() -> None:
    with _child(Fault("here", "kill", hit=2)) as child:
        output, _ = child.communicate(timeout=_WATCHDOG_S)
    assert output.splitlines() == ["before 1", "before 2"]
    assert child.returncode == -signal.SIGKILL


def test_stop_and_continue() -> None:
    with _child(Fault("here", "stop")) as child:
        try:
            _, status = os.waitpid(child.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status)
            os.kill(child.pid, signal.SIGCONT)
            output, _ = child.communicate(timeout=_WATCHDOG_S)
        finally:
            child.kill()
    assert output.splitlines()[-1] == "end"


def test_raise_once() -> None:
    runtime = FaultRuntime([Fault("p", "raise", hit=2)])
    runtime.point("p")
    with pytest.raises(FaultInjected, match="p, passage 2"):
        runtime.point("p")
    runtime.point("p")
    assert runtime.passages("p") == 3


def test_interrupt_and_tell_at_the_next_passage() -> None:
    told: list[str] = []
    runtime = FaultRuntime(tell=told.append)
    for _ in range(3):
        runtime.point("p")
    runtime.arm_next("p", "tell")
    runtime.arm_next("q", "interrupt")
    runtime.point("p")
    runtime.point("p")
    assert told == ["p"]
    with pytest.raises(KeyboardInterrupt, match="q"):
        runtime.point("q")
    runtime.point("q")


def test_pause_until_released() -> None:
    runtime = FaultRuntime([Fault("p", "pause")])
    passed: list[str] = []

    def pass_it() -> None:
        runtime.point("p")
        passed.append("p")

    thread = threading.Thread(target=pass_it, daemon=True)
    thread.start()
    assert runtime.wait_until_reached("p", _WATCHDOG_S)
    assert passed == []
    runtime.point("p")  # only the first passage pauses
    runtime.release("p")
    thread.join(_WATCHDOG_S)
    assert passed == ["p"]


def test_text_and_back() -> None:
    faults = (Fault("call.sent", "kill", hit=3), Fault("GetTasks.done", "stop"))
    assert from_text(as_text(faults)) == faults
    assert from_text(" a=raise ; b:2=pause;") == (Fault("a", "raise"), Fault("b", "pause", hit=2))
    assert from_text("") == ()


@pytest.mark.parametrize("text", ["here", "here=explode", "here:0=kill", "here:x=kill", "here:=kill", "=kill"])
def test_a_wrong_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        FaultRuntime.from_environment({VARIABLE: text})


def test_only_a_pause_can_be_released() -> None:
    with pytest.raises(ConfigError, match="no pause is armed"):
        FaultRuntime([Fault("p", "raise")]).release("p")
