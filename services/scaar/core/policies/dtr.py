"""Decide Then Retrieve (Chen et al., arXiv 2601.03908): retrieve by two paths for unsure answers.

The answer from the model's memory is accepted if its mean surprisal is below theta. Otherwise the
question and a passage that the model writes for it are searched for, and the answer is written
again from the passages with the largest cos(theta_1 + theta_2).
"""

from scaar.core.policies.preset import Preset
from scaar.core.types import Fusion, Moment, QuerySettings

DTR = Preset(
    name="dtr",
    moments=(Moment.AFTER_ANSWER,),
    trigger="surprisal_mean",
    query=QuerySettings("pseudo_passage", include_question=False, max_words=256),
    rounds=2,
    fusion=Fusion.ANGLES,
)
