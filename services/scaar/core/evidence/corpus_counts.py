"""How often the entities of a draft occur in a corpus, alone and together."""

import asyncio

from scaar.core.errors import CapabilityMissing
from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.evidence.sentence_counts import SentenceCounts
from scaar.core.text import word_classes
from scaar.core.text.entities import WINDOW, statement_of


async def _gather(draft: Draft, sources: Sources) -> SentenceCounts:
    """Return the counts.

    Raises:
        CapabilityMissing: there are no corpus counts.
    """
    corpus = sources.corpus_counts
    if corpus is None:
        raise CapabilityMissing(
            "the orchestrator has no corpus counts", missing="corpus_counts_file"
        )
    await asyncio.to_thread(word_classes.load)
    statement = statement_of(draft.question, [word.text for word in draft.words])
    if not statement.entities:
        return SentenceCounts(statement)
    texts = [statement.text(span) for span in statement.entities]
    heads = statement.heads if statement.head is None else texts[:1]
    tails = texts[len(texts) - len(statement.tails) :]
    pairs = [(head, tail) for tail in tails for head in heads]
    async with sources.budget.within(sources.stage):
        counts = await corpus.count(texts)
        found = await corpus.count_together(pairs, window=WINDOW) if pairs else ()
    size = len(heads)
    together = tuple(max(found[at : at + size]) for at in range(0, len(found), size))
    return SentenceCounts(statement, counts, together)


CORPUS_COUNTS = Provider(_gather)
