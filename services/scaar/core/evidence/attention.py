"""The attention of a draft's tokens, requested from the model if they do not carry it."""

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.loop.attention import of_last, sound
from scaar.core.types import AttendRequest, Attention, Capability


async def attention_of(draft: Draft, sources: Sources) -> Attention:
    """Return the attention that the draft's tokens pay to prompt, answer and draft."""
    sentence, so_far = draft.sentence, draft.so_far
    if sentence.attention is not None:
        return sound(sentence.attention)
    ids = sentence.token_ids or ()
    ids = (*so_far.token_ids, *ids) if so_far.token_ids is not None and ids else ()
    request = AttendRequest(draft.prompt, so_far.text + sentence.text, ids)
    return of_last(await sources.attend(request), len(sentence.text))


ATTENTION = Provider(attention_of, frozenset({Capability.ATTENTION}))
