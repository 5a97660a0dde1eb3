"""From a listed configuration of what extends dispatch to the model under the same constants."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from models import bitmask, bitmask_shipped, done, flag_channel_shipped, item_channel
from models.kernel import Model
from tla.manifest import Entry
from tla.values import parse

__all__ = ("MODELS", "model_of")

_CONSTANT = re.compile(r"^ +(\w+) = (.+)$", re.MULTILINE)
_BOUNDS = {"N": "ranks", "P": "producers", "Depth": "depth", "MaxCalls": "max_calls", "MaxEpoch": "max_epoch"}
_BOUNDS |= {"PerProducer": "per_producer", "Leavers": "leavers", "Mortal": "mortal"}
_BOUNDS |= {"MortalProducers": "mortal_producers", "Quitters": "quitters"}
_CACHE = {"N": "ranks", "P": "producers", "MaxCalls": "max_calls", "MaxClears": "max_clears", "Mortal": "mortal"}
_FLAGS = {"N": "ranks", "MaxCalls": "max_calls", "MaxIdle": "max_idle", "OwnFlag": "own_flag", "Barrier": "barrier"}


def _bitmask(values: dict[str, Any]) -> Model[Any]:
    guards = bitmask.Guards(**{name: values.pop(name) for name in bitmask.Guards.names()})
    return bitmask.Bitmask(bitmask.Config(**{_BOUNDS[name]: value for name, value in values.items()}, guards=guards))


def _item(values: dict[str, Any]) -> Model[Any]:
    guards = {name: values.pop(name) for name in item_channel.Config().guards.names()}
    needs_nobody = values.pop("PutNeedsNobody")
    config = item_channel.Config(**{_BOUNDS[name]: value for name, value in values.items()})
    off = [name for name, value in guards.items() if not value]
    made = type(config.guards).without(*off)
    return item_channel.ItemChannel(
        item_channel.Config(**{**vars(config), "guards": made, "put_needs_nobody": needs_nobody})
    )


def _done(values: dict[str, Any]) -> Model[Any]:
    return done.Done(done.Config(len(values["Takers"]), values["MaxDone"], values["Most"], values["CountsInHand"]))


def _cache(values: dict[str, Any]) -> Model[Any]:
    names = _CACHE | {"Recheck": "recheck"}
    return bitmask_shipped.BitmaskShipped(
        bitmask_shipped.Config(**{names[key]: value for key, value in values.items()})
    )


def _flags(values: dict[str, Any]) -> Model[Any]:
    names = _FLAGS | {"FlagsStart": "flags_start", "EmptyPuts": "empty_puts"}
    config = flag_channel_shipped.Config(**{names[key]: value for key, value in values.items()})
    return flag_channel_shipped.FlagChannelShipped(config)


MODELS: dict[str, Callable[[dict[str, Any]], Model[Any]]] = {
    "MCBitmask": _bitmask,
    "Done": _done,
    "MCBitmaskShipped": _cache,
    "CacheInfo": _item,
    "Connect": _item,
    "CacheInfoShipped": _flags,
    "ConnectShipped": _flags,
}


def model_of(entry: Entry) -> Model[Any]:
    """Return the model of the entry."""
    text = entry.config_file.read_text(encoding="utf-8")
    return MODELS[entry.module]({name: parse(value) for name, value in _CONSTANT.findall(text)})
