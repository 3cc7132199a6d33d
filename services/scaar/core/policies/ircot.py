"""IRCoT (Trivedi et al., 2022): retrieve for every sentence, and accumulate the passages.

The query is the previous sentence. Passages accumulate (IRCoT section 4) up to ``max_passages``;
the oldest are dropped first.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

IRCOT = Preset(
    name="ircot",
    moments=(Moment.BEFORE_SENTENCE,),
    query=QuerySettings("last_sentence", include_question=False),
    max_passages=15,
)
