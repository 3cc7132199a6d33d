"""Errors of missing indexes without the names of the others, which belong to other tenants."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from scaar.core.errors import NotFound
from scaar.core.ports import Answerer
from scaar.core.types import AnswerEvent, AnswerRequest
from scaar.evaluator.execution.scorers import Answerers, Controls


class UnlistedIndexes:
    """An :class:`Answerer` whose error for a missing index names that index only.

    The orchestrator lists the indexes that the evaluator may read, and tenants read the errors of
    their evaluations.
    """

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        try:
            async with aclosing(self._answerer.stream_answer(request)) as events:
                async for event in events:
                    yield event
        except NotFound as error:
            if (index := error.metadata.get("index")) is None:
                raise
            raise NotFound(f"no index {index!r}", index=index) from error


def with_unlisted_indexes(answerers: Answerers) -> Answerers:
    """Return the answerers, none of which lists indexes."""
    controls: Controls = {name: UnlistedIndexes(each) for name, each in answerers.controls.items()}
    return Answerers(UnlistedIndexes(answerers.answerer), controls)
