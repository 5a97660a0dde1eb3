"""Checks values against the part of JSON Schema that ``spec/trace.schema.json`` uses; any other word is an error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

__all__ = ("SCHEMA", "problem")

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parents[2] / "spec" / "trace.schema.json").read_text(encoding="utf-8")
)

_SILENT = {"$schema", "$defs", "title", "description"}
_TYPES: dict[str, type] = {"object": dict, "array": list, "integer": int, "boolean": bool, "string": str}


def problem(value: Any, schema: dict[str, Any], at: str = "event") -> str:
    """Return what is wrong with a value, or ""."""
    for word, rule in schema.items():
        if word in _SILENT:
            continue
        found = _check(word, rule, value, schema, at)
        if found:
            return found
    return ""


def _check(word: str, rule: Any, value: Any, schema: dict[str, Any], at: str) -> str:
    if word == "$ref":
        return problem(value, SCHEMA["$defs"][rule.removeprefix("#/$defs/")], at)
    if word == "oneOf":
        found = [problem(value, branch, at) for branch in rule]
        return "" if found.count("") == 1 else f"{at}: fits {found.count('')} kinds of events: {'; '.join(found)}"
    if word == "type":
        fits = isinstance(value, _TYPES[rule]) and not (rule == "integer" and isinstance(value, bool))
        return "" if fits else f"{at}: {value!r} is not of type {rule}"
    if word == "const":
        return "" if value == rule and type(value) is type(rule) else f"{at}: {value!r} is not {rule!r}"
    if word == "enum":
        return "" if value in rule else f"{at}: {value!r} is none of {rule}"
    if word == "pattern":
        return "" if re.search(rule, value) else f"{at}: {value!r} does not fit {rule}"
    if word == "minimum":
        return "" if value >= rule else f"{at}: {value!r} is below {rule}"
    if word == "required":
        missing = [name for name in rule if name not in value]
        return f"{at}: {missing} missing" if missing else ""
    if word == "additionalProperties" and rule is False:
        more = [name for name in value if name not in schema["properties"]]
        return f"{at}: {more} not expected" if more else ""
    if word == "properties":
        found = [problem(value[name], part, f"{at}.{name}") for name, part in rule.items() if name in value]
        return next((text for text in found if text), "")
    if word == "items":
        found = [problem(item, rule, f"{at}[{index}]") for index, item in enumerate(value)]
        return next((text for text in found if text), "")
    raise ValueError(f"the check does not know {word}: {rule!r}")
