"""Importing single modules of large packages, without what the packages import when they are imported whole."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from importlib.machinery import PathFinder
from types import ModuleType

from tests.bench.path.subject import Missing

__all__ = ("hollow", "needs", "version")


def needs(how: str, *modules: str) -> None:
    """Raise Missing, with ``how`` to install, if one of the top-level modules is not there. Imports none of them."""
    if missing := [name for name in modules if importlib.util.find_spec(name) is None]:
        raise Missing(f"{' and '.join(missing)} not found; {how}")


def hollow(name: str, *, path: str | None = None) -> ModuleType:
    """Put a package into ``sys.modules`` without running its ``__init__.py``, and return it.

    Its submodules are then imported from its folder as ever: their files run unmodified, under their own names.

    Args:
        name: Full name; the packages above have to be imported, or hollow, already.
        path: Folder that has the package; None looks where Python would.

    Raises:
        ImportError: There is no such package.
    """
    if name in sys.modules:
        return sys.modules[name]
    above, _, last = name.rpartition(".")
    places = [path] if path is not None else list(sys.modules[above].__path__) if above else None
    spec = PathFinder.find_spec(name, places)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"no package {name} in {places or 'sys.path'}")
    module = ModuleType(name)
    module.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = module
    if above:
        setattr(sys.modules[above], last, module)
    return module


def version(distribution: str, otherwise: str = "?") -> str:
    """Return the version of an installed distribution; ``otherwise`` if there is none."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return otherwise
