"""The sample of a comparison of gates: outcomes and features of every question as arrays."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import InvalidRequest
from scaar.evaluator.records import Question
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.answered import QUALITY, AnsweredQuestion

Positions = NDArray[np.intp]
MIN_QUESTIONS = 20
"""The minimum number of questions of a set, and of each kind that a gate is trained on."""


@dataclass(frozen=True, slots=True, eq=False)
class GateSample:
    """Questions in the order of their clusters, with what gates are trained and compared on.

    ``questions`` have unique ids, and the cluster as their entity: questions that share a
    supporting passage are in one cluster. ``without`` and ``retrieved`` are the F1 of both answers,
    ``wrong`` is 1 for a wrong answer without retrieval, and ``benefit`` is 1, 0 or -1.
    """

    questions: tuple[Question, ...]
    answered: tuple[AnsweredQuestion, ...]
    without: Floats
    retrieved: Floats
    wrong: Floats
    benefit: Floats

    @property
    def sets(self) -> tuple[str, ...]:
        """The names of the data sets, in the order of their first question."""
        return tuple(dict.fromkeys(each.dataset for each in self.answered))

    def of(self, dataset: str) -> Positions:
        """Return the positions of the questions of a data set."""
        return np.flatnonzero([each.dataset == dataset for each in self.answered])


def sample_of(answered: Sequence[AnsweredQuestion]) -> GateSample:
    """Return the sample of answered questions.

    Raises:
        InvalidRequest: a set has too few questions, or too few of a kind.
    """
    keyed = [
        replace(each.question, id=f"{each.dataset}/{each.question.id}", entity=cluster)
        for each, cluster in zip(answered, clusters(answered), strict=True)
    ]
    order = sorted(range(len(keyed)), key=lambda at: (keyed[at].entity, keyed[at].id))
    ordered = [answered[at] for at in order]
    found = GateSample(
        questions=tuple(keyed[at] for at in order),
        answered=tuple(ordered),
        without=np.array([each.without[QUALITY] for each in ordered]),
        retrieved=np.array([each.retrieved[QUALITY] for each in ordered]),
        wrong=np.array([float(each.wrong) for each in ordered]),
        benefit=np.array([float(each.benefit) for each in ordered]),
    )
    _check(found)
    return found


def clusters(answered: Sequence[AnsweredQuestion]) -> list[str]:
    """Return the cluster of each question: the first question that it is connected with.

    Two questions are connected if they have the same entity or share a supporting passage.
    """
    leaders = list(range(len(answered)))

    def leader(at: int) -> int:
        while leaders[at] != at:
            at = leaders[at]
        return at

    first: dict[str, int] = {}
    for at, each in enumerate(answered):
        entity = f"{each.dataset} {each.question.entity}"
        for key in (entity, *each.question.supports):
            other = leader(first.setdefault(key, at))
            mine = leader(at)
            leaders[max(mine, other)] = min(mine, other)
    names = [f"{each.dataset}/{each.question.id}" for each in answered]
    return [names[leader(at)] for at in range(len(answered))]


def counts_of(sample: GateSample, at: Positions) -> Mapping[str, float]:
    """Return the numbers of questions by outcome, and the mean scores of both answers."""
    benefit = sample.benefit[at]
    found: defaultdict[str, float] = defaultdict(float)
    found["questions"] = len(at)
    found["wrong"] = float(sample.wrong[at].sum())
    found["helped"], found["harmed"] = float((benefit > 0).sum()), float((benefit < 0).sum())
    found["without"], found["retrieved"] = (
        float(each[at].mean()) for each in (sample.without, sample.retrieved)
    )
    found["oracle"] = float(np.maximum(sample.without[at], sample.retrieved[at]).mean())
    return found


def _check(sample: GateSample) -> None:
    for name in sample.sets:
        found = counts_of(sample, sample.of(name))
        kinds = {
            "questions": found["questions"],
            "wrong answers without retrieval": found["wrong"],
            "right answers without retrieval": found["questions"] - found["wrong"],
        }
        for kind, count in kinds.items():
            if count < MIN_QUESTIONS:
                text = f"{name} must have at least {MIN_QUESTIONS} {kind}, not {count:g}"
                raise InvalidRequest.of("SOURCE", text)
        for kind in ("helped", "harmed"):
            if not found[kind]:
                text = f"{name} must have a question that retrieval {kind}"
                raise InvalidRequest.of("SOURCE", text)
