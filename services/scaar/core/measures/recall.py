"""Recall over words, the maximum over the answers.

As in the official HotpotQA script (Yang et al., "HotpotQA: A Dataset for Diverse, Explainable
Multi-hop Question Answering", EMNLP 2018).
"""

from collections.abc import Sequence

from scaar.core.measures.overlap import overlaps


def recall(prediction: str, answers: Sequence[str]) -> float:
    """Return the share of the answer's words that are predicted, maximum over the answers."""
    return max(overlap.recall for overlap in overlaps(prediction, answers))
