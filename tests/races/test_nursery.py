"""Processes from the nursery are like processes of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.races.nursery import Born, born

pytestmark = pytest.mark.multiproc


def _asked(child: Born, **order: object) -> object:
    child.stdin.write(json.dumps(order).encode() + b"\n")
    return json.loads(child.stdout.readline())["result"]


def _close(child: Born) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def test_each_has_a_tracker_of_its_own_that_ends_with_it() -> None:
    name = f"fdcomm-nursery-{os.getpid()}"
    children = [born("tests.races.signal_child", errors=True) for _ in range(2)]
    for child in children:
        _asked(child, variant="shipped", name=f"{name}-{child.pid}")
        _asked(child, do="create", args=[1], stop_at="")
    trackers = {_asked(child, do="tracker", args=[], stop_at="") for child in children}
    assert len(trackers - {None}) == 2
    for child in children:
        child.stdin.close()  # an orderly end
        child.wait()
        assert child.stderr is not None
        child.stderr.read()  # the tracker has ended, too
        assert not (Path("/dev/shm") / f"{name}-{child.pid}").exists(), "the tracker has not cleaned up"
        _close(child)


def test_a_killed_one_is_gone_and_the_next_one_comes() -> None:
    first = born("tests.races.signal_child")
    first.kill()
    first.wait()
    first.kill()  # has nothing to do
    assert first.stdout.read() == b""
    second = born("tests.races.signal_child")
    assert second.pid != first.pid
    second.stdin.close()
    second.wait()
    _close(first)
    _close(second)
