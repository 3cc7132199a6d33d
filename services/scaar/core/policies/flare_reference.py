"""FLARE as its authors run it on 2WikiMultihopQA.

Code: jzbjyb/FLARE, src/openai_api.py; settings: configs/2wikihop_flare_config.json. Passages for
the question are retrieved before the first sentence (``look_ahead_pre_retrieval: first``). Passages
stay in the prompt, for drafts too, until those of the next retrieval replace them (``ctx_increase:
replace``). A draft is uncertain if the probability of some token is below 0.8; the query is the
draft without the tokens below 0.4.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Granularity, Moment, QuerySettings

FLARE_REFERENCE = Preset(
    name="flare_reference",
    moments=(Moment.BEFORE_ANSWER, Moment.UNCERTAIN_DRAFT),
    trigger="flare",
    granularity=Granularity.TOKEN,
    query=QuerySettings("current_sentence", include_question=False),
    mask_below=0.4,
    top_k=2,
    max_passages=2,
)
