"""DRAGIN as its authors' code runs it, for parity: the attention of the draft alone.

See :mod:`scaar.core.triggers.rind_reference` and
:mod:`scaar.core.queries.attention_reference` for the differences from the paper.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

DRAGIN_REFERENCE = Preset(
    name="dragin_reference",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="rind_reference",
    query=QuerySettings("attention_reference", include_question=False),
)
