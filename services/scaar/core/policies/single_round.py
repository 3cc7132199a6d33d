"""SR-RAG: passages for the question are retrieved once and stay for the whole answer."""

from scaar.core.policies.preset import GATED, Preset
from scaar.core.types import Formulation, QuerySettings, When

SINGLE_ROUND = Preset(
    name="single_round",
    when=When.ONCE,
    query=QuerySettings(Formulation.QUESTION, include_question=False),
    adjustable=GATED | {"top_k"},
)
