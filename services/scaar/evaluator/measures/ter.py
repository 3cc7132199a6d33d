"""The complement of TER: 1 minus the translation edit rate, at least 0.

Snover et al., "A Study of Translation Edit Rate with Targeted Human Annotation", AMTA 2006, as
sacreBLEU computes it for a sentence: the edits (insertions, deletions, substitutions and shifts of
words) that turn the answer into the reference, divided by the words of the reference. TER is lower
for better answers and has no maximum, hence the complement. In lower case.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from scaar.evaluator.measures.libraries import needs

if TYPE_CHECKING:
    from sacrebleu.metrics.ter import TER


def ter_complement(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 minus TER, at least 0, the best over the answers; 0 for an empty answer."""
    if not prediction.strip():
        return 0.0
    scores = (_ter().sentence_score(prediction, [answer]).score for answer in answers)
    return max(0.0, 1.0 - min(scores, default=100.0) / 100)


@cache
def _ter() -> "TER":
    with needs("sacrebleu"):
        from sacrebleu.metrics.ter import TER
    return TER()
