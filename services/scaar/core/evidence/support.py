"""Which words of a draft are new to the user's message, and whether a passage read has them."""

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.text.new_words import NewWord, new_words


async def _gather(draft: Draft, sources: Sources) -> tuple[NewWord, ...]:
    texts = (f"{passage.title} {passage.text}" for passage in draft.passages)
    return new_words(draft.units, draft.sentence.text, draft.message or draft.question, texts)


SUPPORT = Provider(_gather)
