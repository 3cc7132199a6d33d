"""The percentile-filtered query (SCAAR Algorithm 1).

Line 7 as printed compares a contribution with the threshold of a probability, and r > r_alpha would
keep the top (100 - alpha)%. The prose and Fig. 4 keep the confident words among the top alpha% by
contribution, as does this module. The number of words is rounded up, and at least one word remains
before the uncertain ones are dropped; the paper prints no rounding.
"""

import math
from fractions import Fraction

from scaar.core.errors import InvalidRequest
from scaar.core.queries.formulation import Formulated, FormulationRule, by_contribution, of_draft
from scaar.core.types import EvidenceKind, QueryRequest, WordOrder, WordRule


def formulate(request: QueryRequest, room: int) -> Formulated:
    """Return the confident words among the top alpha percent of the draft by contribution.

    Raises:
        InvalidRequest: a word has no contribution.
    """
    words = request.words
    for position, word in enumerate(words):
        if word.contribution is None or math.isnan(word.contribution):
            raise InvalidRequest.of(
                f"words[{position}].contribution",
                "pfq needs a contribution in [0, 1] of every word",
            )
    ranked = by_contribution(words, range(len(words)))
    top = ranked[: cut_off(request.settings.alpha, len(words))]
    confident = [position for position in top if not words[position].uncertain]
    if request.settings.word_order is WordOrder.TEXT:
        confident.sort()
    return of_draft(words, confident, room)


def cut_off(alpha: float, words: int) -> int:
    """Return the number of words in the top alpha percent by contribution, at least 1."""
    # Use the decimal of the request: 1.1 * 1000 / 100 is slightly above 11 in floats.
    return max(1, math.ceil(Fraction(str(alpha)) / 100 * words))


PFQ = FormulationRule(
    formulate,
    frozenset({EvidenceKind.CONTRIBUTIONS}),
    needs_draft=True,
    settings=frozenset({"alpha", "word_order"}),
    includes_question=True,
    masks=True,
    otherwise=WordRule.MAX_WORDS,
)
