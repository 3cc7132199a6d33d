"""The attention within a draft alone, without the prompt, as the code of DRAGIN's authors."""

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.types import AttendRequest, Attention, Capability


async def _gather(draft: Draft, sources: Sources) -> Attention:
    ids = draft.sentence.token_ids or ()
    return await sources.attend(AttendRequest("", draft.sentence.text, ids))


OWN_ATTENTION = Provider(_gather, frozenset({Capability.ATTENTION}))
