"""The fit of learned triggers to labelled drafts."""

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import numpy as np

from scaar.core.types import LearnedTrigger
from scaar.evaluator.statistics.regression import LogisticFit, fit_logistic, significant
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.tuning.candidates import BLACK_BOX, Label
from scaar.evaluator.studies.tuning.labels import LabelledDraft

MIN_OF_A_KIND = 10
"""The minimum number of drafts with the label, and of drafts without it."""
_DIGITS = 8


def fit_learned(labelled: Sequence[LabelledDraft], label: Label) -> LearnedTrigger | None:
    """Return the logistic model of a label over the signals; None with too few of one kind.

    The expected benefit of a retrieval is P(wrong) P(fixed) - P(right) P(harmed). For the label
    *benefit* the two products are fitted as such, because outside the lab nobody knows whether a
    draft is wrong. With too few harmed drafts, the second one is the same for every draft.
    """
    drafts = [each.draft for each in labelled]
    names = tuple(name for name in BLACK_BOX if all(name in each.signals for each in drafts))
    features = np.array([[each.signals[name] for name in names] for each in drafts])
    fitted = _fit(features, [each.has(label) for each in labelled])
    if fitted is None:
        return None
    found = LearnedTrigger(
        signal_names=names,
        means=_rounded(fitted.means),
        scales=_rounded(fitted.scales),
        coefficients=_rounded(fitted.coefficients),
        intercept=_rounded([fitted.intercept])[0],
        label=label,
    )
    if label is Label.BENEFIT:
        harmed = [each.harmed for each in labelled]
        harm = _fit(features, harmed)
        # By Laplace's rule of succession, so that no harm at all is finite too.
        odds = (sum(harmed) + 1) / (len(harmed) - sum(harmed) + 1)
        found = replace(
            found,
            harm_coefficients=_rounded(harm.coefficients if harm else np.zeros(len(names))),
            harm_intercept=_rounded([harm.intercept if harm else math.log(odds)])[0],
        )
    given = {name: value for name, value in asdict(found).items() if value is not None}
    content = json.dumps(given, sort_keys=True, separators=(",", ":"))
    return replace(found, digest=hashlib.sha256(content.encode()).hexdigest())


def _fit(features: Floats, labels: Sequence[bool]) -> LogisticFit | None:
    positive = sum(labels)
    if min(positive, len(labels) - positive) < MIN_OF_A_KIND:
        return None
    return fit_logistic(features, np.array(labels, dtype=np.float64))


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(significant(each, digits=_DIGITS) for each in numbers)
