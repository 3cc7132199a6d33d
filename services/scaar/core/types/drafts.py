"""Judgements of given drafts."""

from dataclasses import dataclass

from scaar.core.types.answers import Provenance, Usage
from scaar.core.types.events import SentenceJudged
from scaar.core.types.queries import Query


@dataclass(frozen=True, slots=True)
class DraftJudgement:
    """The judgement of a draft.

    ``sentences`` are the judged ones, up to the first for which the policy would retrieve, whose
    ``query`` follows. ``concluding`` is whether the judgement ended at a sentence with the answer
    phrase. ``question`` is the standalone question of a conversation; empty if it was not
    rewritten.
    """

    sentences: tuple[SentenceJudged, ...]
    query: Query | None
    concluding: bool
    usage: Usage
    provenance: Provenance
    question: str = ""

    @property
    def retrieving(self) -> bool:
        """Whether the policy would retrieve for the last one of the sentences."""
        return self.query is not None
