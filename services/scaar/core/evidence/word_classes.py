"""The class of every unit of a draft; a token has that of its word."""

import asyncio

from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.text import word_classes


async def _gather(draft: Draft, sources: Sources) -> tuple[word_classes.WordClass, ...]:
    await asyncio.to_thread(word_classes.load)
    classes = word_classes.word_classes([word.text for word in draft.words])
    return tuple(classes[at] for at in draft.words_of_units)


WORD_CLASSES = Provider(_gather)
