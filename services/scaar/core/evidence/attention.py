"""The attention of a draft's tokens, requested from the model if they do not carry it."""

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.loop.attention import of_last, sound
from scaar.core.types import AttendRequest, Attention, Capability


async def attention_of(draft: Draft, sources: Sources) -> Attention:
    """Return the attention that the draft's tokens pay to prompt, answer and draft.

    The draft begins with the sentence, and ends with it unless attention spans the whole draft.
    """
    sentence, so_far, whole = draft.sentence, draft.so_far, draft.whole
    if sentence.attention is not None and sentence.draft is None:
        return sound(sentence.attention)
    text, ids = whole.text[whole.start :], whole.token_ids[whole.tokens_before :]
    ids = (*so_far.token_ids, *ids) if so_far.token_ids is not None and ids else ()
    request = AttendRequest(draft.prompt, so_far.text + text, ids)
    return of_last(await sources.attend(request), len(text))


ATTENTION = Provider(attention_of, frozenset({Capability.ATTENTION}))
