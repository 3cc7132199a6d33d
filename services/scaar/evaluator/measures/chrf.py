"""chrF: F2 over the character n-grams of answer and reference.

Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015, as sacreBLEU
computes it for a sentence: n-grams of 1 to 6 characters without white space, and recall with twice
the weight of precision. In lower case, as the other measures.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from scaar.evaluator.measures.libraries import needs

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF


def chrf(prediction: str, answers: Sequence[str]) -> float:
    """Return chrF in [0, 1], the best over the answers."""
    scores = (_chrf().sentence_score(prediction, [answer]).score for answer in answers)
    return min(1.0, max(scores, default=0.0) / 100)


@cache
def _chrf() -> "CHRF":
    with needs("sacrebleu"):
        from sacrebleu.metrics.chrf import CHRF
    return CHRF(lowercase=True)
