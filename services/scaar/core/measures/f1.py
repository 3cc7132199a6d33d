"""F1 over words, the best over the answers.

As in the official HotpotQA script (Yang et al., EMNLP 2018): yes, no and noanswer score 0 unless
both are the same word. A prediction and an answer without any words score 0.
"""

from collections import Counter
from collections.abc import Sequence

from scaar.core.measures.normalisation import normalised

_WHOLE = frozenset({"yes", "no", "noanswer"})


def f1(prediction: str, answers: Sequence[str]) -> float:
    """The harmonic mean of word precision and recall in [0, 1], best over the answers."""
    return max((_f1(normalised(prediction), normalised(answer)) for answer in answers), default=0.0)


def _f1(prediction: str, answer: str) -> float:
    if prediction != answer and {prediction, answer} & _WHOLE:
        return 0.0
    predicted, wanted = prediction.split(), answer.split()
    common = (Counter(predicted) & Counter(wanted)).total()
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
