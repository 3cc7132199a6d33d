"""ETC with the trigger of its authors' code, for parity.

See :mod:`scaar.core.triggers.etc_reference` for the differences from the paper. The query is that
of ``etc``. The code uses content words only and adds up the attention of all words that triggered;
here the attention of the first one to all words counts.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

ETC_REFERENCE = Preset(
    name="etc_reference",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="etc_reference",
    query=QuerySettings("attention", include_question=False),
)
