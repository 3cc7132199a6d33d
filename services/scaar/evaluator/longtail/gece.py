"""GECE, the generative expected calibration error: how much of the long tail a question is.

Li et al., "On the Role of Long-tail Knowledge in Retrieval Augmented Large Language Models", ACL
2024:

    GECE = |METEOR(prediction, reference) - mean token probability| / (alpha * E[grad] . grad)

with alpha the average word frequency of the instance and grad the gradient of its loss by the
feed-forward weights of the last four layers. It needs a reference, so it labels a data set; it
cannot judge a question that nobody has answered. A product of 0 or less cannot be divided by: such
a question ranks as most long-tail.
"""

import enum
import math
from collections.abc import Sequence
from typing import assert_never

from scaar.evaluator.longtail.records import Label, Parts


class Variant(enum.StrEnum):
    """GECE, and what its authors leave out of it to see what each part is worth."""

    GECE = "gece"
    WITHOUT_STATISTICS = "without_statistics"
    """Without the word frequency."""
    WITHOUT_SEMANTICS = "without_semantics"
    """Without the gradients."""
    GAP = "gap"
    """Without either: how far METEOR and probability are apart."""


def gece(parts: Parts, variant: Variant = Variant.GECE) -> float:
    """The measure, from 0; infinite where the gradients' product, if it counts, is not above 0."""
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
    """The rank of each, from 1 for the most long-tail.

    Of infinite ones the least product goes first; what is equal stands in the order given.
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
    """How many of the questions a share of them is, at least one."""
    return max(1, math.floor(share * questions + 0.5))


def called_long_tail(
    labels: Sequence[Label], variant: Variant, *, share: float
) -> tuple[bool, ...]:
    """Whether GECE, or what is left of it without a part, calls each question long-tail.

    ``share`` is that of the labelling.
    """
    most = count_of(share, len(labels))
    match variant:
        case Variant.GECE:
            return tuple(each.long_tail for each in labels)
        case Variant.WITHOUT_STATISTICS:
            return tuple(each.without_statistics <= most for each in labels)
        case Variant.WITHOUT_SEMANTICS:
            return tuple(each.without_semantics <= most for each in labels)
        case Variant.GAP:
            return tuple(rank <= most for rank in ranks([each.parts for each in labels], variant))
        case _:
            assert_never(variant)
