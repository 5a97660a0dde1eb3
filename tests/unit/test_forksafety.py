"""What is registered is told in a forked child, once, and never in the parent."""

from __future__ import annotations

import subprocess
import sys
import tempfile

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


OPENING = """
import os, socket, sys, threading
from fdcomm.forksafety import no_fork
from fdcomm.errors import AuthError
from fdcomm.runtime import SYSTEM
from fdcomm.wire import Wire

def forked():
    pid = os.fork()
    if pid == 0:
        threading.Event().wait()
    return pid

# A fork in the middle of a handshake: the child must not keep the connection open.
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
raised = []

def connect():
    try:
        Wire(sys.argv[1], b"key", SYSTEM)
    except AuthError as error:
        raised.append(error)

client = threading.Thread(target=connect)
client.start()
server, _ = listener.accept()
child = forked()
try:
    server.sendall(b"\\0\\0\\0\\4what")  # no challenge: the client gives up, and closes
    client.join()
    assert raised
    server.settimeout(20)
    assert server.recv(100) == b"", "the child has the connection"
finally:
    os.kill(child, 9)
    os.waitpid(child, 0)

# A fork waits for the end of the block.
order, about = [], threading.Event()

def fork():
    about.set()
    pid = forked()
    order.append("forked")
    os.kill(pid, 9)
    os.waitpid(pid, 0)

with no_fork():
    forker = threading.Thread(target=fork)
    forker.start()
    about.wait()
    forker.join(0.2)
    order.append("opened")
forker.join()
assert order == ["opened", "forked"], order
print("good")
"""


def test_what_is_being_opened_does_not_get_into_a_child() -> None:
    with tempfile.TemporaryDirectory(prefix="fdcomm-fork-") as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", OPENING, f"{folder}/listener"],
            cwd=ROOT,
            timeout=LIMIT_S,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.stdout, done.stderr) == ("good\n", "")
