"""Look, write, verify, look again: the project's own policy for answers from documents.

Passages for the question are retrieved before the answer, as in ``single_round``. The answer is
checked by what was read (:mod:`scaar.core.triggers.unsupported`). If it says what no passage has,
or that the model does not know, the next passages for the question follow those that were read, and
the answer is written again. An answer that still says what no passage has is not given.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import ExcludeSeen, Moment, QuerySettings

VERIFIED = Preset(
    name="verified",
    moments=(Moment.BEFORE_ANSWER, Moment.AFTER_ANSWER),
    trigger="unsupported",
    query=QuerySettings("question", include_question=False),
    rounds=2,
    max_passages=12,
    exclude_seen=ExcludeSeen.SEEN,
)
