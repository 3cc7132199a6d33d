"""The model asks: it requests searches in the tags of a dialect, and reads their results.

The loop of Search-R1, R1-Searcher and Search-o1, with the tags of each
(:mod:`scaar.core.prompts.dialects`).
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

MODEL_ASKS = Preset(
    name="model_asks",
    moments=(Moment.ON_REQUEST,),
    query=QuerySettings("question", include_question=False),
)
