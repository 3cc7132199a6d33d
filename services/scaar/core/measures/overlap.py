"""The words that a prediction and an answer share.

As in the official HotpotQA script (Yang et al., EMNLP 2018), yes, no and noanswer overlap only with
themselves. A prediction or an answer without words overlaps with nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scaar.core.measures.normalisation import normalised

_WHOLE = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True, slots=True)
class Overlap:
    """The share of predicted words in the answer, and of the answer's words predicted."""

    precision: float = 0.0
    recall: float = 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


NOTHING = Overlap()


def overlaps(prediction: str, answers: Sequence[str]) -> list[Overlap]:
    """Return the overlap of the prediction with each answer, normalised; never empty."""
    words = normalised(prediction)
    return [_overlap(words, normalised(answer)) for answer in answers] or [NOTHING]


def _overlap(prediction: str, answer: str) -> Overlap:
    if prediction != answer and {prediction, answer} & _WHOLE:
        return NOTHING
    predicted, expected = prediction.split(), answer.split()
    common = (Counter(predicted) & Counter(expected)).total()
    if common == 0:
        return NOTHING
    return Overlap(common / len(predicted), common / len(expected))
