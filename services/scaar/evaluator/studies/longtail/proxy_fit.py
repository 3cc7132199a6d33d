"""The fit of a gate's proxy to labels: a logistic regression with three weights.

It is fitted on the development split and measured on the test split, which has other entities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.gates.proxy import Evidence, GateProxy
from scaar.core.gates.word_statistics import WordStatistics
from scaar.evaluator.records import Question
from scaar.evaluator.splits import Split, split_of
from scaar.evaluator.statistics.detection import auroc
from scaar.evaluator.statistics.regression import fit_logistic
from scaar.evaluator.studies.longtail.detection import precision_at
from scaar.evaluator.studies.longtail.gece import Variant, called_long_tail, count_of
from scaar.evaluator.studies.longtail.records import Label, Labelling

MAX_WORDS = 50_000
"""Maximum number of words of a proxy, the most frequent ones; others count as unseen."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A proxy, and its scores on the test split; None if that split has labels of one kind."""

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
    """Fit a proxy whose threshold passes as many questions as the labels call long-tail.

    The labels are those of GECE or of its variant ``by``.

    Raises:
        InvalidRequest: the development split has questions of one kind only.
    """
    splits = [split_of(question.entity, seed=seed) for question in questions]
    words = most_frequent(statistics)
    evidence = [_evidence(each, words) for each in labels]
    features = np.array([each.inputs for each in evidence])
    truths = np.array(called_long_tail(labels, by, share=labelling.share))
    learning = np.array([split is Split.DEVELOPMENT for split in splits])
    if len({*truths[learning].tolist()}) < 2:
        text = f"all or none of its {int(learning.sum())} development questions are long-tail"
        raise InvalidRequest.of("labels", f"{text}: label more questions")
    found = fit_logistic(features[learning], truths[learning].astype(np.float64))
    bias, (first, second, third) = found.unscaled()
    fitted = GateProxy(labelling.model, "", words, bias, (first, second, third), 1.0)
    scores = np.array([fitted.probability(each) for each in evidence])
    # Midway between the last question that passes and the first that does not.
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


def most_frequent(statistics: WordStatistics, *, max_words: int = MAX_WORDS) -> WordStatistics:
    """Return the statistics of the most frequent words; others count as unseen."""
    if len(statistics.frequencies) <= max_words:
        return statistics
    kept = sorted(statistics.frequencies.items(), key=lambda each: (-each[1], each[0]))[:max_words]
    return replace(statistics, frequencies=dict(kept))


def describe_fit(
    labelling: Labelling, fitted: Fitted, by: Variant = Variant.GECE
) -> Mapping[str, object]:
    """Return the provenance of a proxy for its file."""
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
