"""The shipping programs with one line changed: each guard of the contract taken away, and mistakes beside them.

``FAULTS`` names a configuration in which the change can be seen.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from fdcomm.signals import creating, steps
from tests.conformance.signal_edges import SMALL
from tests.conformance.signal_world import Programs

__all__ = ("FAULTS", "changed")

_CREATE, _STEPS = "fdcomm.signals.creating", "fdcomm.signals.steps"
_TWO, _ALONE, _ATTACH = SMALL

# name -> configuration, module, what stands there, what stands there instead.
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "GuardTaken": (_TWO, _CREATE, 'take_guard(files, "TakeGuard")', 'take_guard(files, "TakeGuard", shared=True)'),
    "OwnerChecked": (_TWO, _CREATE, "allowed = stale or own or plan.replace", "allowed = True"),
    "LockFirst": (_TWO, _CREATE, "if not files.lock(made):", "if False:"),
    "FillFirst": (_ALONE, _CREATE, "            plan.fill(segment.data())\n", ""),
    "InodeChecked": (_TWO, _STEPS, "here = segment.has_name()", "here = True"),
    "Supersedes": (_TWO, _CREATE, "            if work.old is not None:\n", "            if False:\n"),
    "ClearMarks": (_TWO, _STEPS, "runtime.store(segment.words, SUCCESSOR, UNLINKED)", "pass"),
    "LinkFirst": (
        _ALONE,
        _CREATE,
        "if work.seen is not None:\n                files.rename",
        "if True:\n                files.rename",
    ),
    "TempDropped": (
        _ALONE,
        _CREATE,
        'files.unlink(plan.name + NEW)\n            yield "DropTemp"\n            made',
        "made",
    ),
    "a stale mark stays": (
        _ALONE,
        _CREATE,
        "if trailer.successor != 0:\n                #",
        "if False:\n                #",
    ),
    "the stale file's lock is let go too early": (
        _ALONE,
        _CREATE,
        "stale, own = files.lock(seen),",
        "stale, own = False,",
    ),
    "the guard is kept": (
        _TWO,
        _CREATE,
        '        files.close(guard)\n        yield "DropGuard"',
        '        yield "DropGuard"',
    ),
    "other software's file is replaced": (
        _ALONE,
        _CREATE,
        "return None if plan.replace else _in_use(plan.name, reason)",
        "return None",
    ),
    "no space leaves the new file": (
        _TWO,
        _CREATE,
        'yield "NoSpace"\n                files.unlink(plan.name + NEW)',
        'yield "NoSpace"',
    ),
    "a second name stays": (
        _TWO,
        _CREATE,
        'yield "Publish"\n                files.unlink(plan.name + NEW)',
        'yield "Publish"',
    ),
    "clear lets the lock go first": (
        _TWO,
        _STEPS,
        "here = segment.has_name()",
        "here = segment.has_name(); segment.release()",
    ),
    "an attacher does not look again": (
        _ATTACH,
        _STEPS,
        "    if fd is None:\n        # One",
        "    if False:\n        # One",
    ),
    "an attacher keeps the guard": (
        _ATTACH,
        _STEPS,
        'files.close(guard)\n        yield "DropGuard"\n    if fd',
        'yield "DropGuard"\n    if fd',
    ),
    "an attacher takes what it finds": (
        _ALONE,
        _STEPS,
        'return _different(plan.name, "has no trailer',
        'return None\n            _different(plan.name, "has no trailer',
    ),
}


def changed(fault: str) -> Programs:
    """Return the programs with that fault."""
    _, module, old, new = FAULTS[fault]
    programs: dict[str, Callable[..., Any]] = {
        "create": creating.create,
        "attach": steps.attach,
        "clear": steps.clear,
    }
    source = inspect.getsource(importlib.import_module(module))
    if source.count(old) != 1:
        raise AssertionError(f"{fault}: {old!r} stands {source.count(old)} times in {module}")
    names: dict[str, Any] = {"__name__": f"{module} with a fault"}
    exec(compile(source.replace(old, new), f"<{fault}>", "exec"), names)
    for name in programs:
        if name in names:
            programs[name] = names[name]
    if module == _STEPS:
        programs["create"] = creating.create
    return programs
