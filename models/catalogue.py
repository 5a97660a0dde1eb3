"""The models that the command line knows: what each is, and a fault for each of its guards.

A new protocol adds its line to ``CATALOGUE``; modules are imported when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from models.explore import Path, explore
from models.graph import build
from models.kernel import Model
from models.liveness import Fair, LeadsTo, leads_to

__all__ = ("CATALOGUE", "Listed", "broken_liveness", "counterexample")


@dataclass(frozen=True)
class Listed:
    """One protocol's model.

    Attributes:
        model: ``module:class`` of the model, made from a configuration.
        bugs: ``module:name`` of the table guard -> fault (``config``, ``violates``, ``liveness``, perhaps ``timed``).
        properties: The module with ``liveness`` and ``fairness``; "" where TLC alone checks them.
        timed: Fairness may or may not count time limits.
        of_model: These two take the model, and give lists.
    """

    model: str
    bugs: str
    properties: str = ""
    timed: bool = False
    of_model: bool = False

    def make(self, config: Any) -> Model[Any]:
        """Return the model under a configuration."""
        made: Callable[[Any], Model[Any]] = _named(self.model)
        return made(config)

    def default(self) -> Any:
        """Return the configuration in which nothing is said."""
        return import_module(self.model.partition(":")[0]).Config()

    def faults(self) -> Mapping[str, Any]:
        """Return the fault of each guard."""
        found: Mapping[str, Any] = _named(self.bugs)
        return found

    def promises(self, config: Any) -> list[str]:
        """Return the names of what must happen in the end."""
        return list(self.liveness(config)) if self.properties else []

    def liveness(self, config: Any) -> Mapping[str, list[LeadsTo[Any]]]:
        """Return what must happen in the end."""
        module = import_module(self.properties)
        if not self.of_model:
            found: Mapping[str, list[LeadsTo[Any]]] = module.liveness(config)
            return found
        return {prop.name: [prop] for prop in module.liveness(self.make(config))}

    def fairness(self, config: Any, *, timed: bool) -> list[Fair[Any]]:
        """Return what is assumed for that."""
        fairness = import_module(self.properties).fairness
        of = self.make(config) if self.of_model else config
        found: list[Fair[Any]] = fairness(of, timed=timed) if self.timed else fairness(of)
        return found


def _named(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


CATALOGUE: dict[str, Listed] = {
    "dispatch": Listed("models.dispatch:Dispatch", "models.dispatch_bugs:BUGS", "models.dispatch_liveness"),
    "bitmask": Listed("models.bitmask:Bitmask", "models.bitmask_bugs:BUGS"),
    "gate": Listed("models.gate:Gate", "models.gate_bugs:BUGS", "models.gate_properties", timed=True),
    "barrier": Listed("models.barrier:Barrier", "models.barrier_bugs:BUGS", "models.barrier_properties"),
    "pause": Listed("models.pause:Pause", "models.pause_bugs:BUGS", "models.pause_properties"),
    "control": Listed("models.control:Control", "models.control_bugs:BUGS", "models.control_properties", timed=True),
    "link": Listed("models.link:Link", "models.link_bugs:BUGS", "models.link_properties"),
    "mailbox": Listed("models.mailbox:Mailbox", "models.mailbox_bugs:BUGS", "models.mailbox_properties"),
    "status": Listed("models.status:Status", "models.status_bugs:BUGS", "models.status_properties", timed=True),
    "readiness": Listed(
        "models.readiness:Readiness", "models.readiness_bugs:BUGS", "models.readiness_properties", timed=True
    ),
    "rearrange": Listed(
        "models.rearrange:Rearrange", "models.rearrange_bugs:BUGS", "models.rearrange_properties", timed=True
    ),
    "layerwise": Listed(
        "models.layerwise:Layerwise", "models.layerwise_bugs:BUGS", "models.layerwise_properties", timed=True
    ),
    "blocks": Listed("models.blocks:Blocks", "models.blocks_bugs:BUGS", "models.blocks_properties"),
    "fmq": Listed("models.fmq:Fmq", "models.fmq_bugs:BUGS", "models.fmq_properties"),
    "transfer": Listed("models.transfer:Transfer", "models.transfer_bugs:BUGS", "models.transfer_properties"),
    "signal": Listed("models.signal:Signal", "models.signal_bugs:BUGS", "models.signal_properties"),
    "ring": Listed("models.ring:Ring", "models.ring_bugs:BUGS", "models.ring", of_model=True),
    "ring.wait": Listed("models.ring_wait:RingWait", "models.ring_bugs:WAIT", "models.ring_wait", of_model=True),
    "ring.place": Listed("models.ring_place:RingPlace", "models.ring_bugs:PLACE", "models.ring_place", of_model=True),
    "ring.bias": Listed("models.ring_bias:RingBias", "models.ring_bugs:BIAS", "models.ring_bias", of_model=True),
    "ring.last": Listed("models.ring_last:RingLast", "models.ring_bugs:LAST", "models.ring_last", of_model=True),
    "ring.overflow": Listed(
        "models.ring_overflow:RingOverflow", "models.ring_bugs:OVERFLOW", "models.ring_overflow", of_model=True
    ),
    "meeting": Listed("models.meeting:Meeting", "models.meeting_bugs:BUGS", "models.meeting_properties", of_model=True),
    "word": Listed("models.word:Word", "models.word_bugs:WORD", "models.word", of_model=True),
    "word.add": Listed("models.word_counter:Counter", "models.word_bugs:COUNTER"),
    "word.sequence": Listed(
        "models.word_sequence:Sequence", "models.word_bugs:SEQUENCE", "models.word_sequence", of_model=True
    ),
    "word.lock": Listed("models.word_lock:IpcLock", "models.word_bugs:LOCK", "models.word_lock", of_model=True),
}


def broken_liveness(listed: Listed, config: Any, *, timed: bool = True) -> dict[str, tuple[str, Path[Any]]]:
    """Return each liveness property that fails, with what is said of it and a behaviour."""
    if not listed.properties:
        return {}
    fair = listed.fairness(config, timed=timed)
    graph = build(listed.make(config))
    broken: dict[str, tuple[str, Path[Any]]] = {}
    for name, properties in listed.liveness(config).items():
        for prop in properties:
            if name not in broken and (lasso := leads_to(graph, prop, fair)) is not None:
                broken[name] = (f"{prop.name}: {lasso}", lasso.path)
    return broken


def counterexample(listed: Listed, guard: str) -> tuple[str, Path[Any]] | None:
    """Return what fails without the guard, and a shortest behaviour in which it does; None when nothing does."""
    bug = listed.faults()[guard]
    if bug.liveness:
        # Without limits on time a wait may last; where the fault is about limits they count.
        return broken_liveness(listed, bug.config, timed=getattr(bug, "timed", False)).get(bug.violates)
    found = explore(listed.make(bug.config), only={bug.violates}).violation
    return None if found is None else (str(found), found.path)
