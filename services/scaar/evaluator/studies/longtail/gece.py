"""GECE, the generative expected calibration error: the degree to which a question is long-tail.

Li et al., "On the Role of Long-tail Knowledge in Retrieval Augmented Large Language Models", ACL
2024:

    GECE = |METEOR(prediction, reference) - mean token probability| / (alpha * E[grad] . grad)

with alpha the average word frequency of the instance and grad the gradient of its loss by the
feed-forward weights of the last four layers. It needs a reference answer, so it can label a
data set, but not judge a new question. A question whose product is 0 or less ranks as most
long-tail.
"""

import enum
import math
from collections.abc import Sequence
from typing import assert_never

from scaar.evaluator.studies.longtail.records import Label, Parts


class Variant(enum.StrEnum):
    """GECE, and its authors' ablations."""

    GECE = "gece"
    WITHOUT_STATISTICS = "without_statistics"
    """Without the word frequency."""
    WITHOUT_SEMANTICS = "without_semantics"
    """Without the gradients."""
    GAP = "gap"
    """Without either: the difference of METEOR and probability."""


def gece(parts: Parts, variant: Variant = Variant.GECE) -> float:
    """Return the measure, from 0; infinite if the product of gradients is used and not above 0."""
    gap = abs(parts.meteor - parts.probability)
    divisor = 1.0
    if variant in (Variant.GECE, Variant.WITHOUT_STATISTICS):
        if parts.product <= 0:
            return math.inf
        divisor *= parts.product
    if variant in (Variant.GECE, Variant.WITHOUT_SEMANTICS):
        divisor *= parts.frequency
    return gap / divisor


def ranks(parts: Sequence[Parts], variant: Variant = Variant.GECE) -> tuple[int, ...]:
    """Return the rank of each, from 1 for the most long-tail.

    Infinite values are ordered by their product, lowest first; ties keep their order.
    """
    scores = [gece(each, variant) for each in parts]

    def place(number: int) -> tuple[float, float]:
        infinite = math.isinf(scores[number])
        return -scores[number], parts[number].product if infinite else 0.0

    order = sorted(range(len(parts)), key=place)
    found = [0] * len(parts)
    for rank, number in enumerate(order, 1):
        found[number] = rank
    return tuple(found)


def count_of(share: float, questions: int) -> int:
    """Return the number of questions of a share, at least 1."""
    return max(1, math.floor(share * questions + 0.5))


def called_long_tail(
    labels: Sequence[Label], variant: Variant, *, share: float
) -> tuple[bool, ...]:
    """Return whether a variant of GECE calls each question long-tail.

    ``share`` is the share of the labelling.
    """
    limit = count_of(share, len(labels))
    match variant:
        case Variant.GECE:
            return tuple(each.long_tail for each in labels)
        case Variant.WITHOUT_STATISTICS:
            return tuple(each.without_statistics <= limit for each in labels)
        case Variant.WITHOUT_SEMANTICS:
            return tuple(each.without_semantics <= limit for each in labels)
        case Variant.GAP:
            return tuple(rank <= limit for rank in ranks([each.parts for each in labels], variant))
        case _:
            assert_never(variant)
