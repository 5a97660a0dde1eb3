"""Rules that ruff does not have: file length, ``__all__``, asserts, silent handlers, sleeps, paths of a machine."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT, modules, name_of, text_files, tree

LONGEST = 320

# path -> (its own limit, why)
LONGER: dict[str, tuple[int, str]] = {"fdcomm/errors.py": (360, "every error in one place")}

# Tests never order things by sleeping. These sleep for another reason.
MAY_SLEEP = {
    "tests/verify/samples.py": "a check that hangs on purpose, to be ended by the pool",
    "tests/bench/reader.py": "both sides poll alike, as FastDeploy's worker loop does",
    "tests/bench/path/shipped.py": "the same",
    "tests/bench/peers/fastdeploy_queue.py": "the same",
    "tests/races/shipped.py": "the published protocol polls, so its re-enactment does",
    "tests/races/shipped_cache.py": "the same",
    "tests/races/shipped_gate.py": "the same",
}

# First folders of absolute paths that mean the same on every machine.
_COMMON_FOLDERS = {"bin", "dev", "etc", "lib", "proc", "run", "sys", "tmp", "usr", "var"}
_ABSOLUTE = re.compile(r"""(?:(?<=[\s"'`(=])|^)/([A-Za-z][\w.-]*)/[\w.-]""", re.MULTILINE)


def _where(path: Path, node: ast.stmt | ast.expr | ast.ExceptHandler) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_files_are_short() -> None:
    long = {}
    for path in text_files():
        name = str(path.relative_to(ROOT))
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if path.suffix in (".py", ".tla") and lines > LONGER.get(name, (LONGEST,))[0]:
            long[name] = lines
    assert long == {}, "split it: one file, one thing"


@pytest.mark.parametrize("listed", [LONGER, MAY_SLEEP])
def test_lists_of_exceptions_are_current(listed: dict[str, object]) -> None:
    assert [name for name in listed if not (ROOT / name).exists()] == []


def _order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that ruff gives ``__all__``."""
    kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
    return kind, name


@pytest.mark.parametrize("package", ["fdcomm", "models", "tla"])
def test_all_is_true_and_sorted(package: str) -> None:
    for path in modules(package):
        if path.name == "__main__.py" or not tree(path).body[1:]:
            continue
        module = importlib.import_module(name_of(path))
        public = getattr(module, "__all__", None)
        assert isinstance(public, tuple), f"{name_of(path)} needs an __all__ (a tuple)"
        assert list(public) == sorted(set(public), key=_order), name_of(path)
        assert [name for name in public if not hasattr(module, name)] == [], name_of(path)


def test_what_the_package_offers_is_documented() -> None:
    fdcomm = importlib.import_module("fdcomm")
    offered = [getattr(fdcomm, name) for name in fdcomm.__all__]
    assert [thing.__name__ for thing in offered if isinstance(thing, type) and not (thing.__doc__ or "").strip()] == []


def test_no_assert_in_what_ships() -> None:
    found = [_where(p, n) for p in modules("fdcomm") for n in ast.walk(tree(p)) if isinstance(n, ast.Assert)]
    assert found == [], "python -O removes it: raise a typed error"


def test_no_handler_is_silent() -> None:
    found = []
    for package in ("fdcomm", "models", "tla", "tests"):
        for path in modules(package):
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.Try):
                    # With an "else" the error is what is expected, and its absence is what is handled.
                    found += [_where(path, h) for h in node.handlers if _is_empty(h.body) and not node.orelse]
                elif isinstance(node, ast.ExceptHandler) and node.type is None:
                    found.append(_where(path, node))
    assert found == [], "name the errors, and use contextlib.suppress where nothing is to be done"


def _is_empty(body: list[ast.stmt]) -> bool:
    return all(
        isinstance(stmt, ast.Pass) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))
        for stmt in body
    )


def _sleeps(path: Path) -> list[str]:
    bare = any(
        isinstance(node, ast.ImportFrom) and node.module == "time" and any(a.name == "sleep" for a in node.names)
        for node in ast.walk(tree(path))
    )
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == "time.sleep" or (bare and called == "sleep"):
                found.append(_where(path, node))
    return found


def test_tests_do_not_sleep() -> None:
    found = [place for path in modules("tests") for place in _sleeps(path)]
    assert [place for place in found if place.rpartition(":")[0] not in MAY_SLEEP] == [], "wait for the event itself"


def test_the_sleep_check_sees_a_sleep() -> None:
    assert _sleeps(ROOT / "tests" / "verify" / "samples.py") != []


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = []
    for path in text_files():
        for match in _ABSOLUTE.finditer(path.read_text(encoding="utf-8")):
            if match[1] not in _COMMON_FOLDERS:
                found.append(f"{path.relative_to(ROOT)}: {match[0]}")
    assert found == []


@pytest.mark.parametrize(("text", "found"), [('x = "/ho" "me/a"', 0), ("see /" + "home/me/x", 1), ("/dev/shm/x", 0)])
def test_the_folder_check_tells_paths_apart(text: str, found: int) -> None:
    assert len([m for m in _ABSOLUTE.finditer(text) if m[1] not in _COMMON_FOLDERS]) == found
