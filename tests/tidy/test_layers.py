"""Imports run one way: the layers of ``docs/design.md``, and nobody shares code who is compared."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, imports, modules, name_of

# What a pure protocol object may import: no I/O, no threads, no clock.
CORE_MAY_IMPORT = {"__future__", "collections", "dataclasses", "enum", "heapq", "itertools", "typing", "fdcomm.errors"}

# Packages that need the extra `zmq`: pyzmq and msgspec.
EXTRA = {"zsocket", "mailbox", "mq", "link", "drop_in_zmq"}

# The test tools for other people's code know the runtime that they replace and nothing that they test.
TESTING_MAY_IMPORT = {"fdcomm.errors", "fdcomm.runtime", "fdcomm.testing"}


def _layers() -> list[list[str]]:
    text = (ROOT / "docs" / "design.md").read_text()
    block = next(block for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if "<-" in block)
    return [[name.strip() for name in layer.split(",")] for layer in block.split("<-")]


def _layer_of(module: str) -> int | None:
    """Return the layer of ``fdcomm.<part>...``; None when the design does not place it."""
    part = module.split(".")[1]
    return next((number for number, names in enumerate(_layers()) if part in names), None)


def _places(package: str) -> list[Path]:
    return [path for path in modules(package) if path != ROOT / package / "__init__.py"]


def test_the_design_names_the_layers() -> None:
    assert len(_layers()) >= 6
    assert _layers()[0][0] == "errors"


def test_every_module_of_fdcomm_has_a_layer() -> None:
    homeless = {name_of(path) for path in _places("fdcomm") if _layer_of(name_of(path)) is None}
    assert {name for name in homeless if not name.startswith("fdcomm.testing")} == set(), "place it in docs/design.md"


def test_imports_of_fdcomm_follow_the_layers() -> None:
    wrong = []
    for path in _places("fdcomm"):
        mine = _layer_of(name_of(path))
        for line, module in imports(path):
            if mine is None or not module.startswith("fdcomm.") or module.startswith("fdcomm.testing"):
                continue
            theirs = _layer_of(module)
            if theirs is None or theirs > mine:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
    assert wrong == []


def test_nothing_that_ships_imports_the_test_tools() -> None:
    users = [name_of(path) for path in _places("fdcomm") if any("fdcomm.testing" in name for _, name in imports(path))]
    assert [name for name in users if not name.startswith("fdcomm.testing")] == []


def test_the_test_tools_know_only_the_runtime() -> None:
    wrong = {
        f"{name_of(path)}: {name}"
        for path in modules("fdcomm")
        if name_of(path).startswith("fdcomm.testing")
        for _, name in imports(path)
        if name.startswith("fdcomm") and not _within(name, TESTING_MAY_IMPORT)
    }
    assert wrong == set()


def test_the_core_is_pure() -> None:
    wrong = {
        f"{name_of(path)}: {name}"
        for path in modules("fdcomm")
        if name_of(path).startswith("fdcomm.core")
        for _, name in imports(path)
        if not _within(name, CORE_MAY_IMPORT | {"fdcomm.core"})
    }
    assert wrong == set()


def _within(name: str, allowed: set[str]) -> bool:
    return any(name == root or name.startswith(root + ".") for root in allowed)


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("fdcomm", ("models", "tla", "tests")), ("models", ("fdcomm", "tests")), ("tla", ("fdcomm", "tests"))],
)
def test_what_is_compared_shares_nothing(package: str, forbidden: tuple[str, ...]) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules(package)
        for line, name in imports(path)
        if name.split(".")[0] in forbidden
    ]
    assert wrong == []


@pytest.mark.parametrize("package", ["fdcomm", "models"])
def test_only_the_standard_library_is_needed(package: str) -> None:
    foreign = {
        f"{name_of(path)}: {name}"
        for path in modules(package)
        for _, name in imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names | {package, "__future__"}
    }
    assert {name for name in foreign if not _is_for_types(name)} == set()


def _is_for_types(name: str) -> bool:
    """What only the type checker imports. Signals are numpy arrays: the caller brings numpy. Or of the extra `zmq`."""
    if name.split(".")[1].rstrip(":") in EXTRA:
        return name.partition(": ")[2].split(".")[0] in ("zmq", "msgspec")
    return name.startswith("fdcomm.signals.") and name.partition(": ")[2] in ("numpy", "numpy.typing")


def test_the_checks_are_not_blind() -> None:
    seen = {name for _, name in imports(ROOT / "fdcomm" / "core" / "dispatch.py")}
    assert "fdcomm.errors" in seen
    assert "fdcomm.host.refusals" in {name for _, name in imports(ROOT / "fdcomm" / "host" / "channel.py")}
    order = [_layer_of(f"fdcomm.{part}") or 0 for part in ("errors", "core", "trace", "host", "worker_queue")]
    assert order == sorted(set(order))
    assert not _within("threading", CORE_MAY_IMPORT)
    assert not _within("fdcomm.errorsX", CORE_MAY_IMPORT)
