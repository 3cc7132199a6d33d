"""F1 over words, the maximum over the answers.

Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016; with
the special rule for yes and no of HotpotQA (:mod:`scaar.core.measures.overlap`).
"""

from collections.abc import Sequence

from scaar.core.measures.overlap import overlaps


def f1(prediction: str, answers: Sequence[str]) -> float:
    """Return the harmonic mean of word precision and recall, the maximum over the answers."""
    return max(overlap.f1 for overlap in overlaps(prediction, answers))
