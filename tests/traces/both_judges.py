"""Both judges over the same runs: what happened is accepted by both, what is altered rejected at one event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from models.acceptance import Verdict as ModelVerdict
from tests.traces.events import Event, lines_of
from tests.traces.schema import SCHEMA, problem
from tla.trace import Verdict

__all__ = ("agreed", "counts_of_fitting", "judge_both", "objections")

Run: TypeAlias = list[Event]


def agreed(by_model: Iterable[ModelVerdict], by_tlc: Iterable[Verdict]) -> list[tuple[str, str]]:
    """Return for each run what is wrong with it, as each judge says it; ("", "") if it is accepted.

    AssertionError: they do not agree, on the verdict or on how much of a run is allowed.
    """
    answers = []
    for one, other in zip(by_model, by_tlc, strict=True):
        if (one.accepted, None if one.accepted else one.events) != (other.accepted, other.position):
            raise AssertionError(f"the judges do not agree: {one}; {other}")
        answers.append(("", "") if one.accepted else (str(one), str(other)))
    return answers


def judge_both(
    accept: Callable[[list[str]], Sequence[ModelVerdict]],
    judge: Callable[[Sequence[Run]], Sequence[Verdict]],
    good: Sequence[Run],
    altered: Mapping[str, Run],
    seed: int = 0,
) -> list[ModelVerdict]:
    """Have the model and, in one call, TLC judge runs that happened and runs that did not.

    Return the model's verdicts on those that happened.
    AssertionError: a good run is rejected, or an altered one accepted, or the judges do not agree.
    """
    runs = [*good, *altered.values()]
    verdicts = []
    for run in runs:
        (verdict,) = accept(lines_of(run))
        verdicts.append(verdict)
    wrong = objections(verdicts, judge(runs), altered)
    assert not wrong, f"seed {seed}: {wrong}"
    return verdicts[: len(good)]


def counts_of_fitting(accept: Callable[[list[str]], Sequence[ModelVerdict]], runs: Mapping[int, Run]) -> Counter[str]:
    """Have the model judge random runs, by their seeds. Return how often each action was accepted.

    AssertionError: a run is rejected, or an event of it does not fit the schema.
    """
    counts: Counter[str] = Counter()
    for seed, run in runs.items():
        (verdict,) = accept(lines_of(run))
        assert verdict.accepted, f"seed {seed}: {verdict}"
        assert [text for event in run if (text := problem(event, SCHEMA))] == []
        counts += verdict.counts
    return counts


def objections(by_model: Sequence[ModelVerdict], by_tlc: Sequence[Verdict], altered: Collection[str]) -> list[str]:
    """Return what is wrong with the verdicts on good runs and, after these, on the altered ones.

    Both judges have to accept what is good, and to reject what was altered at the same event.
    """
    try:
        answers = agreed(by_model, by_tlc)
    except AssertionError as error:
        return [str(error)]
    good = len(answers) - len(altered)
    found = [f"rejected: {answer}" for answer in answers[:good] if answer != ("", "")]
    return found + [
        f"accepted: {name}" for name, answer in zip(altered, answers[good:], strict=True) if not all(answer)
    ]
