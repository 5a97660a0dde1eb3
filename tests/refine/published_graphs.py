"""The small models of published steps under the configurations in which model and spec are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models import buffers_shipped, calls_shipped, drain_shipped, update_shipped, wave_shipped
from models.graph import Difference, Named, build, compare, named
from tests.refine.tlc_graph import function, tlc_graph

__all__ = ("MODULES", "Published", "compared")


@dataclass(frozen=True)
class Published:
    """A module of ``tla/`` and its model.

    Attributes:
        path: The module, in ``tla/``.
        model: Python module with ``State``, ``Config``, ``RACES``, ``PROMISE``, ``fairness`` and the model.
        unguarded: The configuration without any guard.
    """

    path: str
    model: Any
    unguarded: Any

    @property
    def name(self) -> str:
        """The module's name, which is the model's too."""
        return self.path.rpartition("/")[2].removesuffix(".tla")

    @property
    def protocol(self) -> str:
        """The protocol that closes these races."""
        return self.path.partition("/")[0]

    @property
    def configs(self) -> dict[str, Any]:
        """What is compared: the first one in every verification."""
        return {"guarded": self.model.Config(), "without any guard": self.unguarded}

    def made(self, config: Any) -> Any:
        """Return the model under a configuration."""
        return getattr(self.model, self.name)(config)


_MODULES = (
    Published(
        "pause/DrainShipped.tla",
        drain_shipped,
        drain_shipped.Config(loop_runs_on=False, only_live=False, waits_for_device=False, owner_ends=False),
    ),
    Published(
        "pause/UpdateShipped.tla",
        update_shipped,
        update_shipped.Config(holds=False, needs_no_lock=False, one_authority=False, waiting_may_stay=False),
    ),
    Published("pause/WaveShipped.tla", wave_shipped, wave_shipped.Config(two_phases=False, epochs=False, agreed=False)),
    Published(
        "status/BuffersShipped.tla",
        buffers_shipped,
        buffers_shipped.Config(looks_again=False, owner_waits=False, both_detach=False),
    ),
    Published(
        "status/CallsShipped.tla",
        calls_shipped,
        calls_shipped.Config(serialised=False, tells_failures=False, keyed=False),
    ),
)
MODULES: dict[str, Published] = {module.name: module for module in _MODULES}


def compared(module: Published, config: Any) -> tuple[Named[Any], Difference[Any]]:
    """Return TLC's graph, and what the model's graph lacks or has too much."""
    state = module.model.State

    def decode(found: Mapping[str, Any]) -> Any:
        values = {
            name: function(item, len(item)) if isinstance(item, Mapping) else item for name, item in found.items()
        }
        return state(**values)

    wanted = tlc_graph(module.path, config.constants(), state._fields, decode)
    return wanted, compare(wanted, named(build(module.made(config))))
