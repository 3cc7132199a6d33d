"""The judgements that evaluations stored of their gates: what they detect, reach and cost.

An evaluation has ``no_retrieval`` and ``single_round`` without a gate, and policies behind gates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import InvalidRequest
from scaar.core.gates import ROUTERS
from scaar.core.types import GateJudged
from scaar.evaluator.records import Question, Score, Setting
from scaar.evaluator.results import Results
from scaar.evaluator.statistics.detection import Samples, auroc, entity_draws, estimated
from scaar.evaluator.statistics.estimate import Estimate, difference, estimate
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.answered import (
    CORRECT,
    QUALITY,
    baseline_labels,
    scored_by_setting,
)

NEVER, ALWAYS, ORACLE = "never", "always", "oracle"
_UNDEFINED = Estimate(None)


@dataclass(frozen=True, slots=True)
class Row:
    """What a choice of the questions to retrieve for reaches; numbers are means per question.

    ``random`` is the expected F1 of a random choice of as many questions, ``gain`` the F1 above it.
    ``auroc`` is that of a wrong answer without retrieval, by the judgement of a gate; undefined
    without a gate.
    """

    label: str
    f1: Estimate
    random: float
    gain: Estimate
    retrieved: float
    searches: float
    calls: float
    tokens: float
    auroc: Estimate


@dataclass(frozen=True, slots=True)
class FittedThreshold:
    """A threshold for a retrieval budget, and the share of the questions that reach it.

    ``gate_revision`` is that of the gate which judged them, empty for one without a file.
    """

    threshold: float
    questions: int
    retrieved: float
    gate_revision: str


def rows_of(evaluations: Sequence[Results], *, seed: int = 0) -> tuple[Row, ...]:
    """Return the rows of no and of every retrieval, of the oracle, and of every gate.

    The evaluations are of the same questions; the answers without a gate are those of the first.
    Intervals are those of bootstrap samples of whole entities.

    Raises:
        InvalidRequest: the questions differ, or an answer or a judgement is missing.
    """
    if len({each.evaluation.dataset.checksum for each in evaluations}) > 1:
        raise InvalidRequest.of("DIR", "the evaluations must be of the same questions")
    first = evaluations[0]
    scores = scored_by_setting(first)
    baselines = [scores[label] for label in baseline_labels(first)]
    kept = [q for q in first.questions if not any(each[q.id].failed for each in baselines)]
    never, always = (_columns([each[q.id] for q in kept]) for each in baselines)
    wrong = np.array([baselines[0][q.id].values[CORRECT] < 1 for q in kept])
    samples = entity_draws([q.entity for q in kept], wrong, seed=seed)
    baseline = never[0], always[0]
    rows = [
        _row(NEVER, never, baseline, samples),
        _row(ALWAYS, always, baseline, samples),
        _row(ORACLE, np.where(always[0] > never[0], always, never), baseline, samples),
    ]
    for results in evaluations:
        scores = scored_by_setting(results)
        for setting in results.evaluation.settings:
            if setting.policy.overrides.gate is not None:
                judged = judgements_of(results, setting, kept)
                scored = _columns([scores[setting.label][q.id] for q in kept])
                values = np.array([each.probability for each in judged])
                detection = estimated(auroc, values, wrong, samples)
                rows.append(_row(setting.label, scored, baseline, samples, detection))
    return tuple(rows)


def judgements_of(
    results: Results, setting: Setting, questions: Sequence[Question]
) -> list[GateJudged]:
    """Return the judgement of every question.

    Raises:
        InvalidRequest: one is missing, because its prediction failed.
    """
    found = {
        each.question_id: each.gate
        for each in results.predictions
        if each.setting == setting.label and each.gate is not None
    }
    if missing := [each.id for each in questions if each.id not in found]:
        text = f"{setting.label} has no judgement of {len(missing)} questions: retry them"
        raise InvalidRequest.of("DIR", text)
    return [found[each.id] for each in questions]


def fit_threshold(results: Results, gate: str, *, budget: float) -> FittedThreshold:
    """Return the threshold with which a gate retrieves for at most a share of the questions.

    TARG (Wang et al., arXiv 2511.09803, section 3.3) retrieves for judgements above tau =
    F^-1(1 - budget), where F is their empirical distribution; the threshold is the next number
    above tau, at most 1. Fewer questions reach it if several have the judgement tau, unless tau is
    the largest possible judgement, 1.

    Raises:
        InvalidRequest: the gate is a router, which has no threshold, or the evaluation has no
            setting with the gate, or lacks a judgement.
    """
    if gate in ROUTERS:
        raise InvalidRequest.of("--gate", f"{gate} has no threshold: it chooses among policies")
    settings = [s for s in results.evaluation.settings if s.policy.overrides.gate == gate]
    if not settings:
        raise InvalidRequest.of("DIR", f"the evaluation has no setting with the gate {gate}")
    judged = judgements_of(results, settings[0], results.questions)
    values = sorted(each.probability for each in judged)
    # Rounded, so that 10 questions at a budget of 0.9 leave out one and not two.
    tau = values[math.ceil(round((1 - budget) * len(values), 6)) - 1]
    threshold = min(1.0, math.nextafter(tau, 1.0))
    retrieved = sum(each >= threshold for each in values) / len(values)
    made = results.evaluation.provenance[settings[0].label]
    return FittedThreshold(threshold, len(values), retrieved, made.gate_revision)


def _columns(scores: Sequence[Score]) -> Floats:
    """Return the columns of the questions: F1, retrieved, searches, calls and tokens."""
    return np.array(
        [
            (
                each.values[QUALITY],
                each.usage.retrievals > 0,
                each.usage.searches,
                each.usage.llm_calls,
                each.usage.generated_tokens,
            )
            for each in scores
        ],
        dtype=np.float64,
    ).T


def _row(
    label: str,
    columns: Floats,
    baseline: tuple[Floats, Floats],
    samples: Samples,
    detection: Estimate = _UNDEFINED,
) -> Row:
    without, retrieved = baseline

    def f1_and_random(at: NDArray[np.intp]) -> tuple[float, float]:
        alone, share = without[at].mean(), columns[1, at].mean()
        random = alone + share * (retrieved[at].mean() - alone)
        return float(columns[0, at].mean()), float(random)

    everything = np.arange(len(without))
    f1, random = np.array([f1_and_random(each) for each in (everything, *samples)]).T
    share, searches, calls, tokens = (float(each.mean()) for each in columns[1:])
    return Row(
        label=label,
        f1=estimate(f1),
        random=float(random[0]),
        gain=difference(f1 - random),
        retrieved=share,
        searches=searches,
        calls=calls,
        tokens=tokens,
        auroc=detection,
    )
