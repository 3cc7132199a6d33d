"""A policy: one retrieval before the answer, and one for every sentence with weak words."""

from scaar.extensions import Moment, Preset, QuerySettings

WEAKEST_NAMES = Preset(
    name="weakest_names",
    moments=(Moment.BEFORE_ANSWER, Moment.UNCERTAIN_DRAFT),
    trigger="weakest_words",
    query=QuerySettings("names", include_question=True),
)
