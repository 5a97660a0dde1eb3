"""A handler of a real rank runs over its limit and writes on: nobody who has a block sees a byte of it."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fdcomm import BlockLists, EngineCacheQueue, PauseControl, TransferClient, TransferFailedError
from fdcomm.blocks import Lease
from fdcomm.trace import Recorder
from fdcomm.transfer_tasks import TransferTasks
from models.dispatch_trace import accept_file
from tests.conformance.waiting import Background, until
from tests.faults.blocks_child import SIZE, Child

pytestmark = pytest.mark.multiproc

LIMIT_S = 60.0
HANDLER_S = 1.0
"""Far more than any handler takes that does not go on and on."""
MINE = bytes([200]) * SIZE
"""What owners write; the rank writes smaller bytes."""


class Scene:
    """A host, two ranks, and lists of two device and two host blocks, whose bytes are in a file that ranks map."""

    def __init__(self, folder: Path) -> None:
        self.stack = contextlib.ExitStack()
        self.file = folder / "memory"
        self.file.write_bytes(bytes(4 * SIZE))
        self.record = folder / "blocks.ndjson"
        self.recorder = Recorder(self.record)
        self.lists = BlockLists(2, 2, recorder=self.recorder)
        self.mine: list[Lease] = []
        self.ranks: list[Child] = []

    def __enter__(self) -> Scene:
        with contextlib.ExitStack() as stack:
            self.memory = stack.enter_context(mmap.mmap(stack.enter_context(open(self.file, "r+b")).fileno(), 0))
            self.server = stack.enter_context(EngineCacheQueue(("0.0.0.0", 0), is_server=True, num_client=2))
            stack.callback(self.kill_all)
            for rank in (0, 1):
                self.ranks.append(Child("rank", self.server.get_server_port(), rank, HANDLER_S, self.file))
            self.client = TransferClient(TransferTasks(self.server), self.lists, PauseControl(self.server))
            stack.enter_context(self.client)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exc: object) -> None:
        with self.stack:
            self.lists.check()
        self.recorder.close()
        if exc[0] is None:
            (verdict,) = accept_file(str(self.record))
            assert verdict.accepted, str(verdict)

    def kill_all(self) -> None:
        """End the ranks."""
        for child in self.ranks:
            child.kill()

    def block(self, number: int) -> bytes:
        """Return the bytes of a block."""
        return self.memory[number * SIZE : (number + 1) * SIZE]

    def own(self, lease: Lease) -> None:
        """Somebody has blocks, and fills them."""
        self.mine.append(lease)
        for block in lease.ids:
            self.memory[block * SIZE : (block + 1) * SIZE] = MINE

    def own_all(self) -> None:
        """Somebody takes every block that is free."""
        kinds: Any = ("device", "host")
        for kind in kinds:
            while self.lists.can_allocate(1, kind):
                self.own(self.lists.allocate(1, kind))

    def writes_on(self, block: int) -> None:
        """Wait until the rank has written to the block twice more."""
        for _ in (1, 2):
            before = self.block(block)
            until(lambda before=before: self.block(block) != before)  # type: ignore[misc]

    def spoiled(self) -> list[int]:
        """Return the blocks of which somebody has a lease, and that have other bytes than his."""
        return [block for lease in self.mine for block in lease.ids if self.block(block) != MINE]

    def overrun(self) -> int:
        """Issue a swap at which rank 1 runs over its limit; return its target. The client has been told."""
        source, target = self.lists.allocate(), self.lists.allocate(1, "host")
        swap = self.client.issue((1, target.ids), "swap", source, target)
        self.ranks[1].expect("writes")
        with pytest.raises(TransferFailedError) as found:
            swap.wait(LIMIT_S)
        assert found.value.missing == (1,)
        assert swap.lease is source
        self.own(source)
        return target.ids[0]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with Scene(tmp_path) as made:
        yield made


def test_lists_that_do_not_look_give_out_what_a_rank_writes_to(scene: Scene) -> None:
    """As it was: the target is free with the result."""
    handle = scene.client._receiver.handle

    def believing(result: Any) -> None:
        handle(replace(result, running=()))

    scene.client._receiver.handle = believing  # type: ignore[method-assign]
    target = scene.overrun()
    scene.own_all()
    assert target in [block for lease in scene.mine for block in lease.ids]
    until(lambda: scene.spoiled() == [target])
    scene.ranks[1].let_go()


@pytest.mark.parametrize("killed", [False, True])
def test_the_target_is_nobodys_until_the_rank_has_ended(scene: Scene, killed: bool) -> None:
    target = scene.overrun()
    scene.own_all()
    found = scene.lists.statistics()
    assert (found.device_free, found.host_free, found.leased, found.late) == (0, 0, 3, 1)
    assert scene.client.statistics().late == (1,)
    scene.writes_on(target)
    assert scene.spoiled() == []
    waiting = Background(lambda: scene.lists.allocate(1, "host", timeout=LIMIT_S))
    scene.writes_on(target)
    assert waiting.is_running()
    if killed:
        scene.ranks[1].kill()  # its process has ended: the host says so
    else:
        scene.ranks[1].let_go()
    last = waiting.value()
    scene.own(last)
    assert last.ids == (target,)
    if not killed:  # the rank has gone on
        for lease in scene.mine[:2]:
            scene.lists.free(lease)
        again = scene.client.issue("task", "swap", scene.lists.allocate())
        assert again.wait(LIMIT_S).value == ["rank 0", "rank 1"]
        scene.mine = scene.mine[2:]
    assert scene.spoiled() == []
    assert (scene.client.statistics().settled, scene.lists.statistics().late) == (1, 0)


def test_a_reset_waits_for_the_rank_that_writes(scene: Scene) -> None:
    target = scene.overrun()
    resetting = Background(lambda: scene.client.reset(timeout=LIMIT_S))
    until(lambda: scene.lists.statistics().phase == "resetting")
    scene.writes_on(target)
    assert (resetting.is_running(), scene.lists.generation) == (True, 0)
    scene.ranks[1].let_go()
    assert resetting.value() == 1
    scene.mine = []
    scene.own_all()
    assert [lease.ids for lease in scene.mine] == [(0,), (1,), (2,), (3,)]
    again = Background(lambda: scene.client.reset(timeout=LIMIT_S))
    assert again.value() == 2  # every rank has come to a pause since, and ended what it did
    assert scene.spoiled() == []
