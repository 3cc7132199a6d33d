"""A warning, once in a process, that an English scorer scores texts in another language."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from scaar.core.errors import ScaarError
from scaar.core.loop.loop import Ports
from scaar.core.ports import ContributionScorer, Retriever
from scaar.core.text.english import other_language
from scaar.core.types import (
    IndexDescription,
    PassageInContext,
    PassageRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
)

_LOGGER = logging.getLogger(__name__)
_ENGLISH = "english"


class LanguageWarning:
    """Warns at the first text of another language, if the scorer is of English."""

    def __init__(self, scorer: ContributionScorer) -> None:
        self._scorer = scorer
        self._done = False
        self.scores = False
        """Whether contributions have been computed, so that the language matters."""

    async def check(self, what: str, text: str) -> None:
        """Warn if the text is in another language; later texts are not read.

        A scorer that cannot be described now fails no answer.
        """
        if self._done or not self.scores or not (evidence := other_language(text)):
            return
        try:
            described = await self._scorer.describe_model()
        except ScaarError:
            return  # the next text is checked
        self._done = True
        if described.text_kind == _ENGLISH:
            _LOGGER.warning(
                "scorer %s is for English, and the %s may not be: %s; contributions and thresholds "
                "mean little in other languages (a policy such as flare uses none)",
                described.model,
                what,
                evidence,
            )


class _CheckedScorer:
    """A scorer whose questions are checked."""

    def __init__(self, scorer: ContributionScorer, warning: LanguageWarning) -> None:
        self._scorer, self._warning = scorer, warning

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        found = await self._scorer.score_contributions(requests)
        self._warning.scores = True
        for request in requests:
            await self._warning.check("question", request.question)
        return found

    async def describe_model(self) -> ScorerDescription:
        return await self._scorer.describe_model()


class _CheckedRetriever:
    """A retriever whose passages are checked."""

    def __init__(self, retriever: Retriever, warning: LanguageWarning) -> None:
        self._retriever, self._warning = retriever, warning

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        found = await self._retriever.retrieve(request)
        for passages in found.results:
            await self._warning.check("passages", " ".join(passage.text for passage in passages))
        return found

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        return await self._retriever.get_passage(request)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await self._retriever.list_indexes()

    async def describe_index(self, index: str) -> IndexDescription:
        return await self._retriever.describe_index(index)


def with_language_warning(ports: Ports) -> Ports:
    """Return the ports, which warn of a language that the scorer is not for."""
    warning = LanguageWarning(ports.scorer)
    return replace(
        ports,
        scorer=_CheckedScorer(ports.scorer, warning),
        retriever=_CheckedRetriever(ports.retriever, warning),
    )
