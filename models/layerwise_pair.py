"""The words of layer-wise progress, store by store and load by load (``tla/layerwise/LayerPair.tla``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from models.kernel import Action, Model, Step

__all__ = ("NOTHING", "PACKED", "PLAIN", "SHIPPED", "Config", "LayerPair", "State", "Words")

Pair: TypeAlias = tuple[int, int]
NOTHING: Pair = (-1, -1)
PACKED, PLAIN, SHIPPED = "packed", "plain", "shipped"
_LOADS = {PACKED: ("packed",), PLAIN: ("step", "layer"), SHIPPED: ("layer", "step")}


class Words(NamedTuple):
    """What is shared."""

    step: int
    layer: int
    packed: Pair


class State(NamedTuple):
    """All variables of the spec."""

    computed: int
    words: Words
    writing: tuple[str, ...]
    loads: tuple[str, ...]
    got: Pair
    again: bool
    result: Pair


@dataclass(frozen=True)
class Config:
    """Constants of the spec. With ``layer_first`` False the step is stored before the layer."""

    layers: int = 2
    reports: int = 5
    modulus: int = 8
    first: int = 7
    mortal: bool = True
    reader: str = PACKED
    layer_first: bool = True

    def pair(self, number: int) -> Pair:
        """Return what a report says."""
        return (self.first + (number - 1) // self.layers) % self.modulus, (number - 1) % self.layers

    def constants(self) -> dict[str, Any]:
        """Return the constants under their names in the spec."""
        return {
            "L": self.layers,
            "Reports": self.reports,
            "Modulus": self.modulus,
            "First": self.first,
            "Mortal": self.mortal,
            "Reader": self.reader,
            "LayerFirst": self.layer_first,
        }


class LayerPair(Model[State]):
    """Next-state relation."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.name = f"progress words, {self.config.reader} reader"
        self.actions = {
            "Compute": self.compute,
            "Store": self.store,
            "Die": self.die,
            "Read": self.read,
            "Load": self.load,
        }
        self.invariants = {"NeverAhead": self.never_ahead}
        self.action_properties = {}
        if self.config.reader == PACKED:
            self.invariants["OnePair"] = self.one_pair
            self.action_properties["NeverBack"] = self.never_back
        self.sometimes = {
            "a step is read to its end": lambda s: s.result[1] == self.config.layers - 1,
            "steps have wrapped": lambda s: 0 <= s.result[0] < self.config.first,
        }
        self.sometimes_steps = {}

    def initial(self) -> Iterable[State]:
        """Nothing was reported."""
        return (State(0, Words(-1, -1, NOTHING), (), (), NOTHING, False, NOTHING),)

    # -- writer --------------------------------------------------------------------------------------------------

    def compute(self, s: State) -> Iterator[Step[State]]:
        """A layer is computed, and its report begins."""
        if not s.writing and s.computed < self.config.reports:
            stores = ("layer", "step", "packed") if self.config.layer_first else ("step", "layer", "packed")
            yield Action("Compute"), s._replace(computed=s.computed + 1, writing=stores)

    def store(self, s: State) -> Iterator[Step[State]]:
        """One store."""
        if s.writing:
            step, layer = pair = self.config.pair(s.computed)
            stored = {
                "step": s.words._replace(step=step),
                "layer": s.words._replace(layer=layer),
                "packed": s.words._replace(packed=pair),
            }
            yield Action("Store"), s._replace(words=stored[s.writing[0]], writing=s.writing[1:])

    def die(self, s: State) -> Iterator[Step[State]]:
        """The writer dies; its successor goes on with the next report."""
        if self.config.mortal and s.writing:
            yield Action("Die"), s._replace(writing=())

    # -- reader --------------------------------------------------------------------------------------------------

    def read(self, s: State) -> Iterator[Step[State]]:
        """A read begins."""
        if not s.loads:
            yield Action("Read"), s._replace(loads=_LOADS[self.config.reader], got=NOTHING, again=False)

    def load(self, s: State) -> Iterator[Step[State]]:
        """One load. The published reader looks a second time when it has seen the last layer."""
        if not s.loads:
            return
        word = s.loads[0]
        got = s.words.packed
        if word == "step":
            got = (s.words.step, s.got[1])
        elif word == "layer":
            got = (s.got[0], s.words.layer)
        s = s._replace(got=got, loads=s.loads[1:])
        if not s.loads:
            if self.config.reader == SHIPPED and not s.again and got[1] == self.config.layers - 1:
                s = s._replace(loads=_LOADS[SHIPPED], again=True)
            else:
                s = s._replace(result=got)
        yield Action("Load"), s

    # -- claims --------------------------------------------------------------------------------------------------

    def later(self, a: int, b: int) -> bool:
        """Is step a later than step b?"""
        return 0 < 2 * ((a - b) % self.config.modulus) < self.config.modulus

    def never_ahead(self, s: State) -> bool:
        """No read says of a layer that it is computed before it is."""
        step, layer = s.result
        if -1 in s.result:
            return True
        if not s.computed:
            return False
        now = self.config.pair(s.computed)
        return self.later(now[0], step) or (now[0] == step and layer <= now[1])

    def one_pair(self, s: State) -> bool:
        """What a read returns was reported as such."""
        return s.result == NOTHING or any(s.result == self.config.pair(n) for n in range(1, s.computed + 1))

    def never_back(self, s: State, action: Action, t: State) -> bool:
        """Reads of one reader never go back."""
        del action
        if s.result in (NOTHING, t.result):
            return True
        (step, layer), (was, had) = t.result, s.result
        return self.later(step, was) or (step == was and layer > had)
