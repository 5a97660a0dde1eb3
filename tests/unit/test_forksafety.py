"""What is registered is told in a forked child, once, and never in the parent."""

from __future__ import annotations

import subprocess
import sys

from tests.faults.remote import LIMIT_S, ROOT

PROGRAM = """
import gc, os
from fdcomm.forksafety import close_in_child

class Thing:
    told = 0
    def after_fork_in_child(self):
        self.told += 1

def in_child(look):
    pid = os.fork()
    if pid == 0:
        os._exit(look())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def grandchild():
    return in_child(lambda: thing.told)

thing, other = Thing(), Thing()
close_in_child(thing)
close_in_child(other)
assert in_child(lambda: thing.told + 10 * other.told) == 11
assert thing.told == 0
assert in_child(grandchild) == 1, "told again in the child's child"
del other
gc.collect()
assert in_child(lambda: thing.told) == 1
print("good")
"""


def test_forked_children_are_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, timeout=LIMIT_S, capture_output=True, text=True, check=True
    )
    assert done.stdout == "good\n"
