"""A sentence filter for tests."""

from scaar.core.sentence_filter.features import FEATURES
from scaar.core.sentence_filter.learned_filter import FeatureWeight, Labelling, LearnedFilter

OVERLAP_FILTER = LearnedFilter(
    Labelling.STRINC,
    threshold=0.5,
    intercept=0.0,
    weights=tuple(FeatureWeight(0.5, 1.0, 4.0 if each == "overlap" else 0.0) for each in FEATURES),
    digest="c0ffee",
)
"""Keeps the sentences that have at least half of the question's words."""
