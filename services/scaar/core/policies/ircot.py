"""IRCoT (Trivedi et al., 2022): retrieve for every sentence, and keep what was found.

The query is the sentence before; passages accumulate up to 15 (IRCoT section 4), the oldest are
dropped first.
"""

from scaar.core.policies.preset import RETRIEVING, Preset
from scaar.core.types import Formulation, QuerySettings, When

IRCOT = Preset(
    name="ircot",
    when=When.EVERY_SENTENCE,
    query=QuerySettings(Formulation.LAST_SENTENCE, include_question=False),
    max_passages=15,
    adjustable=RETRIEVING | {"max_passages"},
)
