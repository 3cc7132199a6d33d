"""FL-RAG (as DRAGIN measures RETRO and IC-RALM): retrieve for every window of n tokens.

The query is the last tokens written: 25, as in DRAGIN. The papers print no n; 16 fits the counts of
DRAGIN's Table 2.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

FIXED_LENGTH = Preset(
    name="fixed_length",
    moments=(Moment.BEFORE_WINDOW,),
    query=QuerySettings("last_n_tokens", include_question=False, last_n_tokens=25),
    window_tokens=16,
)
