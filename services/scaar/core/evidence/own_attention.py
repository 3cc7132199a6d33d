"""The attention that a draft receives in itself, as in the code of DRAGIN's authors."""

from dataclasses import replace

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.types import AttendRequest, Attention, AttentionKind, Capability


async def _gather(draft: Draft, sources: Sources) -> Attention:
    """Return what the tokens of the draft receive, with spans from the start of the sentence."""
    whole = draft.whole
    request = AttendRequest(
        "", whole.text, whole.token_ids, AttentionKind.MAX_THEN_MEAN, whole.ended
    )
    found = await sources.attend(request)
    tokens = found.tokens[found.prompt_tokens :]
    moved = (
        replace(token, start=token.start - whole.start, end=token.end - whole.start)
        for token in tokens
    )
    return Attention(tuple(moved), 0, received=found.received)


OWN_ATTENTION = Provider(_gather, frozenset({Capability.ATTENTION}))
