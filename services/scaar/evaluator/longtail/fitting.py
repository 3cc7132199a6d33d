"""A gate's proxy learned from labels: a logistic regression of three weights.

It is learned on the development half, and what it is worth is measured on the test half, whose
entities it has not seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scaar.core.errors import InvalidRequest
from scaar.core.gates.proxy import Evidence, GateProxy
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.halves import Half, half_of
from scaar.evaluator.longtail.detection import auroc, precision_at
from scaar.evaluator.longtail.gece import Variant, called_long_tail, count_of
from scaar.evaluator.longtail.records import Label, Labelling
from scaar.evaluator.records import Question

MOST_WORDS = 50_000
"""How many words, the most frequent, a proxy brings; the others are as rare as the rest are."""
RIDGE = 1.0
"""What weights are held to 0 by, so that labels that are parted exactly have some."""
_STEPS = 100

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A proxy, and what it finds of the labels on the test half; None where that has one kind."""

    proxy: GateProxy
    development: int
    test: int
    precision: float | None
    auroc: float | None


def fit_proxy(
    labelling: Labelling,
    questions: Sequence[Question],
    labels: Sequence[Label],
    statistics: WordStatistics,
    *,
    seed: int,
    by: Variant = Variant.GECE,
) -> Fitted:
    """The proxy of labels; its threshold passes as many questions as the labels call long-tail.

    The labels are those of GECE, or ``by`` what is left of it without a part.

    Raises:
        InvalidRequest: the development half has questions of one kind alone.
    """
    halves = [half_of(question.entity, seed=seed) for question in questions]
    brought = cut(statistics)
    evidence = [_evidence(each, brought) for each in labels]
    features = np.array([each.features for each in evidence])
    truths = np.array(called_long_tail(labels, by, share=labelling.share))
    learning = np.array([half is Half.DEVELOPMENT for half in halves])
    if len({*truths[learning].tolist()}) < 2:
        text = f"of its {int(learning.sum())} questions to learn from all or none are long-tail"
        raise InvalidRequest.of("labels", f"{text}: label more questions")
    bias, weights = regression(features[learning], truths[learning].astype(np.float64))
    fitted = GateProxy(labelling.model, "", brought, bias, weights, 1.0)
    scores = np.array([fitted.probability(each) for each in evidence])
    # Between the last question that is to pass and the first that is not.
    most = count_of(labelling.share, int(learning.sum()))
    ordered = np.sort(scores[learning])[::-1]
    threshold = float(ordered[most - 1] + ordered[min(most, len(ordered) - 1)]) / 2
    tested, both = ~learning, len({*truths[~learning].tolist()}) == 2
    return Fitted(
        proxy=replace(fitted, threshold=threshold),
        development=int(learning.sum()),
        test=int(tested.sum()),
        precision=precision_at(scores[tested], truths[tested], labelling.share) if both else None,
        auroc=auroc(scores[tested], truths[tested]) if both else None,
    )


def regression(features: _Floats, truths: _Floats) -> tuple[float, tuple[float, float, float]]:
    """Bias and weights of the most likely logistic model, its weights held to 0 by a ridge.

    Found by Newton's method over standardised features, and given for the features as they are.
    """
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    ridge = np.diag([0.0, *[RIDGE] * features.shape[1]])
    found = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (likely - truths) + ridge @ found
        curve = (design * (likely * (1 - likely))[:, None]).T @ design + ridge
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
        found -= step
        if np.abs(step).max() < 1e-10:
            break
    first, second, third = (float(each) for each in found[1:] / spread)
    return float(found[0] - (found[1:] / spread) @ mean), (first, second, third)


def cut(statistics: WordStatistics, *, most: int = MOST_WORDS) -> WordStatistics:
    """The most frequent words; those that are left out count as unseen."""
    if len(statistics.frequencies) <= most:
        return statistics
    kept = sorted(statistics.frequencies.items(), key=lambda each: (-each[1], each[0]))[:most]
    return replace(statistics, frequencies=dict(kept))


def learned_from(
    labelling: Labelling, fitted: Fitted, by: Variant = Variant.GECE
) -> Mapping[str, object]:
    """What a proxy's file tells of where it comes from."""
    return {
        "data set": labelling.dataset.name,
        "questions": labelling.dataset.questions,
        "checksum": labelling.dataset.checksum,
        "model revision": labelling.revision,
        "labels by": by.value,
        "share": labelling.share,
        "development": fitted.development,
        "test": fitted.test,
        "precision on test": fitted.precision,
        "AUROC on test": fitted.auroc,
    }


def _evidence(label: Label, statistics: WordStatistics) -> Evidence:
    return Evidence(
        statistics.average(label.question), statistics.rarest(label.question), label.confidence
    )
