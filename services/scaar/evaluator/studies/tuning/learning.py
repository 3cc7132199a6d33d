"""The fit of learned triggers to labelled drafts."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import numpy as np

from scaar.core.types import LearnedTrigger
from scaar.evaluator.statistics.regression import fit_logistic
from scaar.evaluator.studies.tuning.candidates import BLACK_BOX
from scaar.evaluator.studies.tuning.labels import LabelledDraft

MIN_OF_A_KIND = 10
"""The minimum number of drafts with the label, and of drafts without it."""
_DIGITS = 8


def fit_learned(labelled: Sequence[LabelledDraft], label: str) -> LearnedTrigger | None:
    """Return the logistic model of a label over the signals; None with too few of one kind."""
    drafts, labels = [each.draft for each in labelled], [each.has_label for each in labelled]
    positive = sum(labels)
    if min(positive, len(labels) - positive) < MIN_OF_A_KIND:
        return None
    names = tuple(name for name in BLACK_BOX if all(name in each.signals for each in drafts))
    features = np.array([[each.signals[name] for name in names] for each in drafts])
    fitted = fit_logistic(features, np.array(labels, dtype=np.float64))
    found = LearnedTrigger(
        signal_names=names,
        means=_rounded(fitted.means),
        scales=_rounded(fitted.scales),
        coefficients=_rounded(fitted.coefficients),
        intercept=_rounded([fitted.intercept])[0],
        label=label,
    )
    content = json.dumps(asdict(found), sort_keys=True, separators=(",", ":"))
    return replace(found, digest=hashlib.sha256(content.encode()).hexdigest())


def _rounded(numbers: Iterable[float]) -> tuple[float, ...]:
    return tuple(float(f"{each:.{_DIGITS}g}") for each in numbers)
