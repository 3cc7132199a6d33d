"""The policies by name. To add a policy, add a module and a row in the table."""

from scaar.core.policies.dragin import DRAGIN
from scaar.core.policies.dragin_reference import DRAGIN_REFERENCE
from scaar.core.policies.dtr import DTR
from scaar.core.policies.dtr_reference import DTR_REFERENCE
from scaar.core.policies.etc import ETC
from scaar.core.policies.etc_reference import ETC_REFERENCE
from scaar.core.policies.filco import FILCO
from scaar.core.policies.fixed_length import FIXED_LENGTH
from scaar.core.policies.fixed_sentence import FIXED_SENTENCE
from scaar.core.policies.flare import FLARE
from scaar.core.policies.flare_reference import FLARE_REFERENCE
from scaar.core.policies.ircot import IRCOT
from scaar.core.policies.iter_retgen import ITER_RETGEN
from scaar.core.policies.mean_entropy import MEAN_ENTROPY
from scaar.core.policies.model_asks import MODEL_ASKS
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.policies.perplexity import PERPLEXITY
from scaar.core.policies.preset import Preset
from scaar.core.policies.quco import QUCO
from scaar.core.policies.scaar import SCAAR
from scaar.core.policies.self_rag import SELF_RAG
from scaar.core.policies.single_round import SINGLE_ROUND
from scaar.core.policies.verified import VERIFIED
from scaar.core.queries import FORMULATIONS
from scaar.core.registry import Registry
from scaar.core.triggers import TRIGGERS
from scaar.core.types import Moment

_COMBINED = (
    {Moment.BEFORE_ANSWER, Moment.UNCERTAIN_DRAFT},
    {Moment.BEFORE_ANSWER, Moment.AFTER_ANSWER},
)


def _problem(name: str, preset: Preset) -> str:
    if preset.name != name:
        return f"its name is {preset.name!r}"
    if preset.trigger is not None and preset.trigger not in TRIGGERS:
        return TRIGGERS.unknown(preset.trigger)
    if preset.trigger is None and Moment.UNCERTAIN_DRAFT in preset.moments:
        return "it needs a trigger, since it retrieves for uncertain drafts"
    if len(preset.moments) > 1 and set(preset.moments) not in _COMBINED:
        return f"its moments cannot be combined: {', '.join(preset.moments)}"
    if Moment.BEFORE_WINDOW in preset.moments and preset.window_tokens < 1:
        return "its window_tokens must be at least 1, since it retrieves before windows"
    query = preset.query.formulation
    return "" if query in FORMULATIONS else FORMULATIONS.unknown(query)


PRESETS = Registry(
    "policy",
    "scaar.policies",
    Preset,
    {
        preset.name: preset
        for preset in (
            NO_RETRIEVAL,
            SINGLE_ROUND,
            VERIFIED,
            FILCO,
            FIXED_LENGTH,
            FIXED_SENTENCE,
            IRCOT,
            ITER_RETGEN,
            DTR,
            DTR_REFERENCE,
            MODEL_ASKS,
            SELF_RAG,
            FLARE,
            FLARE_REFERENCE,
            DRAGIN,
            DRAGIN_REFERENCE,
            ETC,
            ETC_REFERENCE,
            MEAN_ENTROPY,
            PERPLEXITY,
            QUCO,
            SCAAR,
        )
    },
    problem=_problem,
)
