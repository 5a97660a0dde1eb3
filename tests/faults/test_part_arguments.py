"""Every argument of the parts of a group: a wrong one is a ConfigError before it is sent, and the handle goes on.

An argument that only the host would meet could end the handle: what cannot be pickled or hashed breaks a call off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fdcomm import (
    ConfigError,
    ControlClient,
    ControlServer,
    EngineWorkerQueue,
    FdcommError,
    PauseControl,
    Readiness,
    RearrangeControl,
    StatusCoordinator,
    StatusPart,
)
from fdcomm.aio import (
    AsyncControlClient,
    AsyncPauseControl,
    AsyncReadiness,
    AsyncStatusCoordinator,
)

pytestmark = pytest.mark.multiproc

Call = Callable[["World", Any], object]


class World:
    """A host with everything in it that can be asked for, and a rank."""

    def __init__(self, engine: EngineWorkerQueue, rank: EngineWorkerQueue, rearrange: RearrangeControl) -> None:
        self.engine, self.rank, self.rearrange = engine, rank, rearrange
        self.status, self.readiness, self.control = StatusCoordinator(engine), Readiness(engine), ControlClient(engine)
        self.part, self.process, self.server = StatusPart(rank, "cache"), Readiness(rank), ControlServer(rank)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with contextlib.ExitStack() as undo:
        engine = undo.enter_context(EngineWorkerQueue(("127.0.0.1", 0), is_server=True, num_client=1))
        rank = undo.enter_context(EngineWorkerQueue(engine.address, num_client=1, client_id=0))
        world = World(engine, rank, undo.enter_context(RearrangeControl(engine.address)))
        world.status.declare([("cache", 0, 1)])
        world.readiness.declare([("cache", 1)])
        assert world.rearrange.status().phase == "FREE"  # a thread's first call of a handle opens its connection
        assert world.process.health()[0].health == "away"
        yield world


_NOTHING: tuple[Any, ...] = ([], {}, object(), 1.5, lambda: None)
_FUNCTIONS = (*_NOTHING[:-1], 5, "x", True)
_FLAGS = (*_NOTHING, 5, "x", None)
_TEXTS = (*_NOTHING, 5, None, True, b"x")
_LISTS: tuple[Any, ...] = (5, "x", b"x", object(), [5], [[]], 1.5)
_SECONDS = (*_NOTHING[:3], "x", -1, True, float("nan"))

CALLS: dict[str, tuple[Call, tuple[Any, ...]]] = {
    "status, no handle": (lambda _, x: StatusCoordinator(x), (*_NOTHING, None)),
    "part, no handle": (lambda _, x: StatusPart(x, "cache"), (*_NOTHING, None)),
    "readiness, no handle": (lambda _, x: Readiness(x), (*_NOTHING, None)),
    "client, no handle": (lambda _, x: ControlClient(x), (*_NOTHING, None)),
    "server, no handle": (lambda _, x: ControlServer(x), (*_NOTHING, None)),
    "pause, no handle": (lambda _, x: PauseControl(x), (*_NOTHING, None)),
    "pause, asyncio, no handle": (lambda _, x: AsyncPauseControl(x), (*_NOTHING, None)),
    "status.declare": (lambda w, x: w.status.declare(x), (5, "x", object(), [5], [("cache",)], [("cache", [], 1)])),
    "status.declare, unpicklable": (lambda w, x: w.status.declare([("cache", 0, x)]), (_NOTHING[-1], True, -1)),
    "status.mirror component": (lambda w, x: w.status.mirror(x, "words"), _TEXTS),
    "status.mirror name": (lambda w, x: w.status.mirror("cache", x), _TEXTS),
    "status.mirror suffix": (lambda w, x: w.status.mirror("cache", "words", x), (*_NOTHING, True)),
    "status.mirror directory": (lambda w, x: w.status.mirror("cache", "words", directory=x), (*_NOTHING, 5, "")),
    "status.clear progress": (lambda w, x: w.status.clear(progress=x), _FUNCTIONS),
    "status.clear every": (lambda w, x: w.status.clear(every=x), _SECONDS),
    "status.serve does": (lambda w, x: w.part.serve(x, lambda: True), (*_NOTHING[2:], [], None, {"clear": 5})),
    "status.serve stop": (lambda w, x: w.part.serve({}, x), _FUNCTIONS),
    "readiness.declare": (lambda w, x: w.readiness.declare(x), (*_LISTS, [("cache",)], [("cache", 1, "worker")])),
    "readiness.declare needs": (lambda w, x: w.readiness.declare([("cache", 1, x)]), (*_LISTS, [lambda: None])),
    "readiness.declare parts": (lambda w, x: w.readiness.declare([("cache", x)]), (*_NOTHING, "x", True, -1)),
    "readiness.mirror component": (lambda w, x: w.readiness.mirror(x, "words"), _TEXTS),
    "readiness.mirror name": (lambda w, x: w.readiness.mirror("cache", x), _TEXTS),
    "readiness.mirror suffix": (lambda w, x: w.readiness.mirror("cache", "words", x), (*_NOTHING, True)),
    "readiness.wait": (lambda w, x: w.readiness.wait(x), (5, b"x", object(), [5], [[]], [lambda: None])),
    "readiness.check": (lambda w, x: w.readiness.check(x), _TEXTS),
    "readiness.wait progress": (lambda w, x: w.readiness.wait("cache", progress=x), _FUNCTIONS),
    "readiness.wait restarts": (lambda w, x: w.readiness.wait("cache", timeout=0, restarts=x), _FLAGS),
    "readiness.starting fraction": (lambda w, x: w.process.starting("cache", fraction=x), (True, [], "x", 2, -0.5)),
    "control.ask token": (lambda w, x: w.control.ask("x", token=x), (*_NOTHING, "x", None, True)),
    "control.ask partial": (lambda w, x: w.control.ask("x", partial=x), _FLAGS),
    "control.ask progress": (lambda w, x: w.control.ask("x", progress=x), _FUNCTIONS),
    "control.ask every": (lambda w, x: w.control.ask("x", every=x), _SECONDS),
    "control.cancel": (lambda w, x: w.control.cancel(x), (*_NOTHING, "x", True)),
    "control.serve handler": (lambda w, x: w.server.serve(x, lambda: True), _FUNCTIONS),
    "control.serve stop": (lambda w, x: w.server.serve(print, x), _FUNCTIONS),
    "rearrange.request": (lambda w, x: w.rearrange.request(x), (*_LISTS, [lambda: None], ["a", "a"], [""])),
    "rearrange.status": (lambda w, x: w.rearrange.status(seen=x), (*_NOTHING, "x", None, True)),
    "rearrange.peer_ready": (lambda w, x: w.rearrange.peer_ready(1, x), _TEXTS),
    "rearrange.peer_failed": (lambda w, x: w.rearrange.peer_failed(1, x, "gone"), _TEXTS),
    "rearrange.report": (lambda w, x: w.rearrange.report(1, x), _FLAGS),
    "rearrange.update": (lambda w, x: w.rearrange.update(x), (*_NOTHING, 0, True, "x")),
}


@pytest.mark.parametrize("what", CALLS)
def test_a_wrong_argument_is_refused_and_the_handle_goes_on(world: World, what: str) -> None:
    call, wrong = CALLS[what]
    for value in wrong:
        with pytest.raises(ConfigError):
            call(world, value)
    assert world.status.words() == {"cache": 0}
    assert world.readiness.health()[0].health == "away"
    assert world.control.statistics().asked == 0
    assert world.rearrange.status().phase == "FREE"
    assert world.part._queue is world.rank


def test_asyncio_refuses_the_same(world: World) -> None:
    async def main() -> None:
        control, status = AsyncControlClient(world.engine), AsyncStatusCoordinator(world.engine)
        readiness = AsyncReadiness(world.engine)
        async with control, status, readiness:
            wrong: dict[str, Callable[[Any], Any]] = {
                "ask every": lambda x: control.ask("x", every=x),
                "ask progress": lambda x: control.ask("x", progress=x),
                "clear every": lambda x: status.clear(every=x),
                "wait": readiness.wait,
            }
            for what, call in wrong.items():
                for value in (5.5j, object(), {"x": []} if what != "wait" else [5]):
                    with pytest.raises(ConfigError):
                        await call(value)

    asyncio.run(main())
    assert world.control.statistics().asked == 0


def test_a_numpy_number_is_taken(world: World) -> None:
    np = pytest.importorskip("numpy")
    assert world.control.cancel(np.int64(3)) == ()
    assert world.rearrange.status(seen=np.int32(-1)).phase == "FREE"
    world.status.declare([("cache", 0, 1)])
    world.readiness.declare([("cache", np.int64(1))])
    with pytest.raises(FdcommError, match=r"words\.7"):
        world.readiness.mirror("cache", "words", np.int16(7))
