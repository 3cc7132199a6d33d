"""Sub-exact match: whether the normalised prediction contains one of the answers.

Jin et al., "FlashRAG: A Modular Toolkit for Efficient Retrieval-Augmented Generation Research", WWW
2025, where it is called accuracy; Mallen et al. (ACL 2023) and Asai et al. (ICLR 2024) report it
too. The answer is a substring of characters, also inside a word: India is in Indianapolis. An
answer that normalises to nothing, such as the letter A, must be matched exactly.
"""

from collections.abc import Sequence

from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.normalisation import normalised


def sub_exact_match(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the normalised prediction contains one of the normalised answers, else 0."""
    text = normalised(prediction)
    contained = any(bare in text for answer in answers if (bare := normalised(answer)))
    return float(contained) or exact_match(prediction, answers)
