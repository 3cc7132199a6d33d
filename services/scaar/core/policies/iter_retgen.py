"""ITER-RETGEN (Shao et al., EMNLP Findings 2023): the whole answer is written again in each round.

The query of a round is the question and the answer of the previous round; the prompt has the
passages of the round and the question alone.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

ITER_RETGEN = Preset(
    name="iter_retgen",
    moments=(Moment.BEFORE_ANSWER, Moment.AFTER_ANSWER),
    query=QuerySettings("full_context", include_question=True, max_words=1024),
    rounds=3,
)
