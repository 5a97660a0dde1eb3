"""The contract, read as data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ("contract",)

ROOT = Path(__file__).resolve().parents[2]


def contract(protocol: str) -> dict[str, Any]:
    """Return ``spec/<protocol>.toml``."""
    with (ROOT / "spec" / f"{protocol}.toml").open("rb") as file:
        spec: dict[str, Any] = tomllib.load(file)
    return spec
