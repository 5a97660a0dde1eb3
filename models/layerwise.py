"""The layerwise protocol as ``spec/layerwise.toml`` has it: the table of each rank, one atomic action per call.

Written from the contract, not from the code. With a guard taken away (``Config.guards``) it is the faulty protocol
that the guard prevents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from models import layerwise_properties as properties
from models.kernel import Action, Model, Step, replaced, replaced_within
from models.layerwise_state import Config, Done, Guards, Progress, State, Task, initial_state

__all__ = ("Config", "Done", "Guards", "Layerwise", "Progress", "State", "Task")

Steps: TypeAlias = Iterator[Step[State]]


class Layerwise(Model[State]):
    """Next-state relation of the contract under one configuration."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.guards = self.config.guards
        self.name = self.guards.title("layerwise")
        self.actions = {
            "OnProgress": self.on_progress,
            "OnCacheInfo": self.on_cache_info,
            "NextReady": self.next_ready,
            "OnEnd": self.on_end,
            "ExpireTask": self.expire_task,
            "ExpireEarly": self.expire_early,
            "NextDone": self.next_done,
        }
        self.invariants = properties.invariants(self.config)
        self.action_properties = properties.action_properties(self.config)
        self.sometimes = properties.sometimes(self.config)
        self.sometimes_steps = properties.sometimes_steps(self.config)

    def initial(self) -> Iterable[State]:
        """Nothing is computed, and nothing has come."""
        return (initial_state(self.config),)

    def later(self, a: int, b: int) -> bool:
        """Is step a later than step b?"""
        if not self.guards.SerialSteps:
            return a > b
        return 0 < 2 * ((a - b) % self.config.modulus) < self.config.modulus

    def is_newer(self, now: Progress, kept: Progress) -> bool:
        """Is progress further than what is kept?"""
        return not kept or self.later(now[0], kept[0]) or (now[0] == kept[0] and now[1] > kept[1])  # type: ignore[misc]

    def is_before_info(self, s: State, rank: int, task: int) -> bool:
        """Has neither the task's info come, nor a later one of the slot?"""
        seen = s.seen[rank][self.config.slot(task)]
        return seen == -1 or self.later(self.config.step(task), seen)

    # -- the two streams -----------------------------------------------------------------------------------------

    def on_progress(self, s: State) -> Steps:
        """The device has computed a layer of a task. Layers may be skipped, and old news may come again."""
        for rank in range(self.config.ranks):
            for task in range(1, self.config.tasks + 1):
                for layer in range(self.config.layers):
                    label = Action("OnProgress", (("rank", rank), ("task", task), ("layer", layer)))
                    yield label, self._progress(s, rank, task, layer)

    def _progress(self, s: State, rank: int, task: int, layer: int) -> State:
        slot, step = self.config.slot(task), self.config.step(task)
        computed = tuple(
            max(before, layer + 1)
            if other == task
            else self.config.layers
            if other < task and self.config.slot(other) == slot and other not in s.ended[rank]
            else before
            for other, before in enumerate(s.computed[rank], 1)
        )
        tasks = tuple(x._replace(ready=self._ready(x, task, layer)) for x in s.tasks[rank])
        early, news = s.early, (step, layer)
        is_ahead = self.is_before_info(s, rank, task) and step not in s.gone[rank][slot]
        is_wanted = not self.guards.LatestWins or self.is_newer(news, early[rank][slot])
        if self.guards.KeepsEarly and is_ahead and is_wanted:
            early = replaced_within(early, rank, slot, news)
        return s._replace(
            computed=replaced(s.computed, rank, computed), tasks=replaced(s.tasks, rank, tasks), early=early
        )

    def _ready(self, x: Task, task: int, layer: int) -> int:
        config = self.config
        if config.slot(x.task) != config.slot(task) or x.failed:
            return x.ready
        if x.task == task or not self.guards.StepTagged:
            return max(x.ready, layer + 1)
        return config.layers if self.later(config.step(task), config.step(x.task)) else x.ready

    def on_cache_info(self, s: State) -> Steps:
        """The next info reaches a rank."""
        infos = self.config.infos
        for rank in range(self.config.ranks):
            if s.given[rank] == len(infos) or len(s.tasks[rank]) >= self.config.capacity:
                continue
            task = infos[s.given[rank]]
            slot, step = self.config.slot(task), self.config.step(task)
            early, told = s.early, s.told
            kept, gone = early[rank][slot], s.gone[rank][slot]
            ready = 0
            if kept:
                is_later = self.later(kept[0], step)
                if kept[0] == step or not self.guards.StepTagged:
                    ready = kept[1] + 1
                elif is_later:
                    ready = self.config.layers
                if self.later(step, kept[0]):
                    told = replaced(told, rank, told[rank] | {self._task_of(slot, kept[0])})
                if not is_later:
                    early = replaced_within(early, rank, slot, ())
            entry = Task(task, 0, 0 if step in gone else ready, step in gone)
            yield (
                Action("OnCacheInfo", (("rank", rank),)),
                s._replace(
                    given=replaced(s.given, rank, s.given[rank] + 1),
                    tasks=replaced(s.tasks, rank, (*s.tasks[rank], entry)),
                    early=early,
                    seen=replaced_within(s.seen, rank, slot, step),
                    gone=replaced_within(s.gone, rank, slot, frozenset(g for g in gone if self.later(g, step))),
                    told=told,
                ),
            )

    def _task_of(self, slot: int, step: int) -> int:
        config = self.config  # the tasks of a recorded run may have equal steps in different slots
        tasks = range(1, config.tasks + 1)
        return next(task for task in tasks if (config.slot(task), config.step(task)) == (slot, step))

    # -- sending -------------------------------------------------------------------------------------------------

    def next_ready(self, s: State) -> Steps:
        """All layers that may be sent of the oldest task that has some."""
        for rank in range(self.config.ranks):
            for index, x in enumerate(s.tasks[rank]):
                if not x.failed and x.ready > x.sent:
                    tasks = replaced(s.tasks[rank], index, x._replace(sent=x.ready))
                    yield Action("NextReady", (("rank", rank),)), s._replace(tasks=replaced(s.tasks, rank, tasks))
                    break

    # -- ends ----------------------------------------------------------------------------------------------------

    def _over(self, s: State, rank: int, slot: int, step: int) -> tuple[tuple[frozenset[int], ...], ...]:
        if not self.guards.GoneStaysGone:
            return s.gone
        return replaced_within(s.gone, rank, slot, s.gone[rank][slot] | {step})

    def on_end(self, s: State) -> Steps:
        """Somebody gives the task up."""
        for rank in range(self.config.ranks):
            for task in sorted(self.config.aborted - s.ended[rank]):
                slot, step = self.config.slot(task), self.config.step(task)
                tasks = tuple(x._replace(failed=True) if x.task == task else x for x in s.tasks[rank])
                gone, early = s.gone, s.early
                kept = early[rank][slot]
                if self.is_before_info(s, rank, task):
                    gone = self._over(s, rank, slot, step)
                    is_own = self.guards.EndForgets and bool(kept) and kept[0] == step  # type: ignore[misc]
                    if is_own or not self.guards.EndKeepsNewer:
                        early = replaced_within(early, rank, slot, ())
                yield (
                    Action("OnEnd", (("rank", rank), ("task", task))),
                    s._replace(
                        ended=replaced(s.ended, rank, s.ended[rank] | {task}),
                        tasks=replaced(s.tasks, rank, tasks),
                        gone=gone,
                        early=early,
                    ),
                )

    def expire_task(self, s: State) -> Steps:
        """The next layer of a task was not computed in time."""
        if not (self.config.expiry and self.guards.ExpiresTask):
            return
        for rank in range(self.config.ranks):
            for index, x in enumerate(s.tasks[rank]):
                if not x.failed and x.ready < self.config.layers:
                    tasks = replaced(s.tasks[rank], index, x._replace(failed=True))
                    label = Action("ExpireTask", (("rank", rank), ("task", x.task)))
                    yield label, s._replace(tasks=replaced(s.tasks, rank, tasks))

    def expire_early(self, s: State) -> Steps:
        """The info of early progress did not come in time."""
        if not (self.config.expiry and self.guards.ExpiresEarly):
            return
        for rank in range(self.config.ranks):
            for slot, kept in enumerate(s.early[rank]):
                if kept:
                    yield (
                        Action("ExpireEarly", (("rank", rank), ("slot", slot))),
                        s._replace(
                            early=replaced_within(s.early, rank, slot, ()),
                            gone=self._over(s, rank, slot, kept[0]),
                            told=replaced(s.told, rank, s.told[rank] | {self._task_of(slot, kept[0])}),
                        ),
                    )

    def next_done(self, s: State) -> Steps:
        """The oldest task is finished, sent or failed: one collective call for each info, in their order."""
        for rank in range(self.config.ranks):
            tasks = s.tasks[rank]
            for index, x in enumerate(tasks if not self.guards.AgreedOrder else tasks[:1]):
                if x.failed or x.sent == self.config.layers:
                    done = s.done
                    if not x.failed or self.guards.FailedTakePart:
                        done = replaced(done, rank, (*done[rank], Done(x.task, x.sent, x.failed)))
                    rest = (*tasks[:index], *tasks[index + 1 :])
                    yield (
                        Action("NextDone", (("rank", rank),)),
                        s._replace(tasks=replaced(s.tasks, rank, rest), done=done),
                    )
                    break
