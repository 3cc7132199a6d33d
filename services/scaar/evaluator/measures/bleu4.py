"""Smoothed BLEU-4 of single answers: a short answer without a common 4-gram still scores.

Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002, as
sacreBLEU computes it for a sentence (Post, WMT 2018): in lower case, a count of 0 smoothed
exponentially (Chen and Cherry, WMT 2014, method 3), and for an answer with fewer than four words
the n-grams that it has. So an identical answer scores 1 whatever its length, and an answer without
a common word scores 0.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from scaar.evaluator.measures.libraries import needs

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU


def bleu4_smoothed(prediction: str, answers: Sequence[str]) -> float:
    """Return the smoothed sentence BLEU-4 in [0, 1], the best over the answers."""
    scores = (_bleu().sentence_score(prediction, [answer]).score for answer in answers)
    # Rounding may carry a perfect score past 100.
    return min(1.0, max(scores, default=0.0) / 100)


@cache
def _bleu() -> "BLEU":
    with needs("sacrebleu"):
        from sacrebleu.metrics.bleu import BLEU
    return BLEU(lowercase=True, smooth_method="exp", effective_order=True)
