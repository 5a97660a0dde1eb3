"""What is claimed of the status protocol, and the situations in which the claims say something."""

from __future__ import annotations

from collections.abc import Callable

from models.kernel import Action
from models.liveness import Fair, LeadsTo
from models.status_state import AWAY, CLEARED, CLEARING, DEAD, LIVE, LOST, NORMAL, UPDATING, Config, State

__all__ = ("action_properties", "fairness", "invariants", "liveness", "sometimes", "sometimes_steps")


def _done(s: State, k: int, goal: str) -> bool:
    return s.word[k] == (CLEARED if goal == "clear" else NORMAL) and not s.partial[k]


def invariants(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return the properties of single states."""
    everyone = [(k, p) for k in config.real for p in config.parts_of(k)]

    def type_ok(s: State) -> bool:
        return (
            len(s.goals) == len(s.outcome) == s.asked
            and set(s.goals) <= {"clear", "update"}
            and set(s.outcome) <= {"open", "done", "failed", "late"}
            and set(s.word) <= {NORMAL, UPDATING, CLEARING, CLEARED}
            and s.changing <= set(config.real)
            and all(report.part in config.parts_of(k) for k, reports in enumerate(s.reports) for report in reports)
            and all(s.status[k][p] in (AWAY, LIVE, DEAD, LOST) for k, p in everyone)
            and all(0 <= s.doing[k][p] <= s.asked for k, p in everyone)
            and all(s.holds[k][p] in ("full", "empty", "mixed") for k, p in everyone)
        )

    def holding(word: int, content: str) -> Callable[[State], bool]:
        return lambda s: all(
            s.holds[k][p] == content
            for k, p in everyone
            if s.word[k] == word and not s.partial[k] and s.status[k][p] == LIVE
        )

    def changes_for_one(s: State) -> bool:
        return "open" not in s.outcome[:-1] and (not s.changing or (bool(s.outcome) and s.outcome[-1] == "open"))

    return {
        "TypeOK": type_ok,
        "NormalMeansFull": holding(NORMAL, "full"),
        "ClearedMeansEmpty": holding(CLEARED, "empty"),
        "ChangesForOne": changes_for_one,
    }


def action_properties(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return the properties of single steps."""
    components = config.real

    def before(j: int, k: int, goal: str) -> bool:
        stages = j // config.per_stage, k // config.per_stage
        return stages[0] < stages[1] if goal == "clear" else stages[0] > stages[1]

    def in_stages(s: State, action: Action, t: State) -> bool:
        return all(
            _done(s, j, t.goals[-1]) for k in t.changing - s.changing for j in components if before(j, k, t.goals[-1])
        )

    def done_is_done(s: State, action: Action, t: State) -> bool:
        return all(
            all(_done(s, k, s.goals[n]) for k in components)
            for n, outcome in enumerate(s.outcome)
            if outcome == "open" and t.outcome[n] == "done"
        )

    def end_stays(s: State, action: Action, t: State) -> bool:
        return all(
            t.outcome[n] == outcome or (outcome == "open" and t.asked == s.asked) for n, outcome in enumerate(s.outcome)
        )

    return {"InStages": in_stages, "DoneIsDone": done_is_done, "EndStays": end_stays}


def fairness(config: Config, *, timed: bool = True) -> list[Fair[State]]:
    """The host notices what is gone and does what follows.

    ``timed``: and the asking call knows its time limit. Otherwise parts come, take, and report.
    """
    everyone = [(k, p) for k in config.real for p in config.parts_of(k)]
    names = ("NextStage", "Finish", "Fail", "Expire") if timed else ("NextStage", "Finish", "Fail")
    found: list[Fair[State]] = [Fair(name, lambda s, a, name=name: a.name == name) for name in names]  # type: ignore[misc]
    found += [
        Fair(f"Settle({k})", lambda s, a, k=k: a.name == "Settle" and a.param("component") == k)  # type: ignore[misc]
        for k in config.real
    ]
    for name in ("Fence",) if timed else ("Fence", "Join", "Take", "Report"):
        found += [
            Fair(
                f"{name}({k}, {p})",
                lambda s, a, name=name, k=k, p=p: (  # type: ignore[misc]
                    a.name == name and (a.param("component"), a.param("part")) == (k, p)
                ),
            )
            for k, p in everyone
        ]
    return found


def liveness(config: Config) -> dict[str, list[LeadsTo[State]]]:
    """Return the liveness properties: families over the requests. They differ in what is assumed."""
    numbers = range(config.max_asked or 0)
    return {name: [_ends(name, n) for n in numbers] for name in ("RequestsEnd", "WorkEnds")}


def _ends(name: str, n: int) -> LeadsTo[State]:
    def is_open(s: State) -> bool:
        return n < s.asked and s.outcome[n] == "open"

    return LeadsTo(f"{name}(number={n + 1})", is_open, lambda s: not is_open(s))


def sometimes(config: Config) -> dict[str, Callable[[State], bool]]:
    """Return situations that the configuration must reach; without them the properties would say little."""
    found: dict[str, Callable[[State], bool]] = {
        "everything was cleared": lambda s: all(_done(s, k, "clear") for k in config.real),
        "a request has failed": lambda s: "failed" in s.outcome,
        "a part does what nobody waits for": lambda s: any(
            number and s.outcome[number - 1] != "open" for doing in s.doing for number in doing
        ),
    }
    if config.max_asked is None or config.max_asked > 1:
        found["all was restored after a clear"] = lambda s: (
            s.outcome[:2] == ("done", "done") and s.goals[:2] == ("clear", "update")
        )
        found["a failed clear was made good"] = lambda s: s.outcome[:2] == ("failed", "done")
    if config.mortal and config.returns:
        found["a part came back while its component was cleared"] = lambda s: any(
            word == CLEARED and partial for word, partial in zip(s.word, s.partial, strict=True)
        )
    return found


def sometimes_steps(config: Config) -> dict[str, Callable[[State, Action, State], bool]]:
    """Return steps that the configuration must be able to take."""
    found: dict[str, Callable[[State, Action, State], bool]] = {}
    if config.max_asked is None or config.max_asked > 1:
        found["a late report is dropped"] = lambda s, a, t: a.name == "Report" and s.reports == t.reports
    if config.components > config.per_stage:
        found["a second stage begins"] = lambda s, a, t: a.name == "NextStage"
    if config.mortal:
        found["a loss counts as failure"] = lambda s, a, t: a.name == "Fence" and s.reports != t.reports
    return found
