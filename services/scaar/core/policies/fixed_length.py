"""FL-RAG (as DRAGIN measures RETRO and IC-RALM): retrieve for every window of n tokens.

The query is the last tokens written. The papers print no n; 16 fits the counts of DRAGIN's
Table 2, and 25 tokens are its query.
"""

from scaar.core.policies.preset import RETRIEVING, Preset
from scaar.core.types import Formulation, QuerySettings, When

FIXED_LENGTH = Preset(
    name="fixed_length",
    when=When.EVERY_WINDOW,
    query=QuerySettings(Formulation.LAST_N_TOKENS, include_question=False, last_n_tokens=25),
    window_tokens=16,
    adjustable=RETRIEVING | {"window_tokens"},
)
