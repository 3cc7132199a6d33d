"""Log record of every answer."""

import logging

from scaar.core.plurals import counted
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    PassagesRetrieved,
    QueryBuilt,
)
from scaar.runtime.logs import content_of
from scaar.telemetry.answers import failure_of

_LOGGER = logging.getLogger("scaar.answers")


class AnswerLog:
    """An :class:`~scaar.telemetry.answers.AnswerWatch` that logs how the answer ended.

    Question, queries, passages and answer are recorded only with ``content``.
    """

    def __init__(self, request: AnswerRequest, *, content: bool) -> None:
        self._request = request
        self._content = content
        self._queries: list[str] = []
        self._passages: list[str] = []
        self._finished = False

    def on_event(self, event: AnswerEvent) -> None:
        match event:
            case QueryBuilt(query=query) if self._content:
                self._queries.append(query.text)
            case PassagesRetrieved(passages=passages) if self._content:
                self._passages += [passage.text for passage in passages]
            case AnswerFinished(answer=answer):
                self._finished = True
                usage = answer.usage
                self._log(
                    f"{answer.end.value}, {counted(usage.retrievals, 'retrieval')}, "
                    f"{counted(usage.generated_tokens, 'token')}, {usage.latency_ms:.1f} ms",
                    answer.text,
                )
            case _:
                pass

    def on_end(self, error: BaseException | None) -> None:
        if not self._finished:
            self._log(failure_of(error), "")

    def _log(self, end: str, text: str) -> None:
        words = content_of(
            question=self._request.last_question,
            queries=self._queries,
            passages=self._passages,
            answer=text,
        )
        policy = self._request.policy.label
        extra = dict(words) if self._content else None
        _LOGGER.info("answer with policy %s: %s", policy, end, extra=extra)
