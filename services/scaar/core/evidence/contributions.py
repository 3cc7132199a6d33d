"""The contribution of every unit of a draft; a token has that of its word (SCAAR Eq. 1)."""

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.types import ScoreRequest


async def _gather(draft: Draft, sources: Sources) -> tuple[float, ...]:
    request = ScoreRequest(draft.question, tuple(word.text for word in draft.words))
    contributions = await sources.score(request)
    if draft.units is draft.words or len(contributions) != len(draft.words):
        return contributions
    return tuple(contributions[at] for at in draft.words_of_units)


CONTRIBUTIONS = Provider(_gather)
