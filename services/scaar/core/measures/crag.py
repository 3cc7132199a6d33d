"""The score of CRAG: 1 for a correct answer, 0 for none, -1 for a wrong one.

Yang et al., "CRAG - Comprehensive RAG Benchmark", NeurIPS 2024. An answer that contains "I don't
know" counts as none, as in the official script, and so does an empty one. The official script asks
a language model about answers that differ from the accepted ones; this measure compares normalised
answers only (:mod:`scaar.core.measures.exact_match`), so a paraphrase counts as wrong.
"""

from collections.abc import Sequence

from scaar.core.measures.exact_match import exact_match

_NONE = ("i don't know", "i do not know")
_INVALID = "invalid"


def crag(prediction: str, answers: Sequence[str]) -> float:
    """Return 1 if the prediction is one of the answers, 0 if it abstains, else -1.

    Without accepted answers the score is 0.
    """
    text = prediction.lower().replace("\u2019", "'")
    if not text.strip() or not answers or any(phrase in text for phrase in _NONE):
        return 0.0
    # The accepted answer to a question with a false premise is "invalid question".
    invalid = _INVALID in text and any(_INVALID in answer.lower() for answer in answers)
    return 1.0 if invalid or exact_match(prediction, answers) else -1.0
