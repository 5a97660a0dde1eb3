"""The files that the tidy tests look at, and helpers over their syntax trees."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

__all__ = ("ROOT", "imports", "modules", "name_of", "text_files", "tree")

ROOT = Path(__file__).resolve().parents[2]

_TEXT = {".py", ".pyi", ".tla", ".cfg", ".toml", ".md", ".json", ".yml", ".yaml", ".txt", ".sh", ""}
_SKIPPED = {".git", ".venv", ".venvs", ".hypothesis", "build", "dist", "results", "__pycache__", "states"}


def modules(package: str) -> list[Path]:
    """Return the Python files of a top-level package."""
    return sorted(path for path in (ROOT / package).rglob("*.py") if "__pycache__" not in path.parts)


def text_files() -> list[Path]:
    """Return every text file of the checkout, generated folders left out."""
    found = []
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        skipped = any(part in _SKIPPED or part.endswith((".egg-info", "_cache")) for part in parts)
        if not skipped and path.is_file() and path.suffix in _TEXT:
            found.append(path)
    return found


@functools.cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """Return a module's dotted name: ``fdcomm/core/dispatch.py`` -> ``fdcomm.core.dispatch``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield ``(line, module)`` for every import, wherever it stands, with relative ones made absolute."""
    package = name_of(path) if path.name == "__init__.py" else name_of(path).rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]) if base else ".".join(above)
            for alias in node.names:
                # ``from fdcomm.host import service`` names a module, ``from fdcomm.errors import X`` does not.
                inner = ROOT.joinpath(*base.split("."), alias.name)
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                yield node.lineno, f"{base}.{alias.name}" if is_module else base
