"""ROUGE-1 and ROUGE-L: F1 over words, and over the longest common subsequence of words.

Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004; as rouge-score, Google's port
of the original, computes them without stemming. Its words are runs of a to z and 0 to 9 in lower
case; other letters separate words and are ignored.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from scaar.evaluator.measures.libraries import needs

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


def rouge1(prediction: str, answers: Sequence[str]) -> float:
    """Return the F1 over single words in [0, 1], the best over the answers."""
    return _best("rouge1", prediction, answers)


def rouge_l(prediction: str, answers: Sequence[str]) -> float:
    """Return the F1 over the longest common subsequence in [0, 1], the best over the answers."""
    return _best("rougeL", prediction, answers)


def _best(kind: str, prediction: str, answers: Sequence[str]) -> float:
    scores = (_scorer(kind).score(answer, prediction)[kind].fmeasure for answer in answers)
    return max(map(float, scores), default=0.0)


@cache
def _scorer(kind: str) -> "RougeScorer":
    with needs("rouge-score"):
        from rouge_score.rouge_scorer import RougeScorer
    return RougeScorer([kind], use_stemmer=False)
