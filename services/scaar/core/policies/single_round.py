"""SR-RAG: passages for the question are retrieved once and used for the whole answer."""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

SINGLE_ROUND = Preset(
    name="single_round",
    moments=(Moment.BEFORE_ANSWER,),
    query=QuerySettings("question", include_question=False),
)
