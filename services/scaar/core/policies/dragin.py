"""DRAGIN (Su et al., ACL 2024): retrieve for words with high entropy and high attention.

The trigger is RIND (Eq. 1 to 5), which spares stop words. The query (QFS, section 3.2) consists of
the words of question and answer to which the first such word attends most. The answer is cut before
the sentence, as in the authors' code.
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Moment, QuerySettings

DRAGIN = Preset(
    name="dragin",
    moments=(Moment.UNCERTAIN_DRAFT,),
    trigger="rind",
    query=QuerySettings("attention", include_question=False),
)
