"""A tool that answers questions with adaptive retrieval."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import ArgsSchema, BaseTool, ToolException
from pydantic import BaseModel, Field

from langchain_scaar.connection import ScaarConnection
from langchain_scaar.passages import url_of
from scaar.client import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    ScaarError,
    SentenceAccepted,
    TokenDrafted,
)

Artifact = dict[str, Any]
# Parts of the answer itself, which the artifact has in another form.
_NO_DECISIONS = (AnswerStarted, AnswerFinished, SentenceAccepted, TokenDrafted)


class ScaarQuestion(BaseModel):
    """The arguments of the tool."""

    question: str = Field(
        description="A standalone question, which can be understood without the conversation."
    )


class ScaarAnswer(ScaarConnection, BaseTool):
    """Answer a question from the passages of an index, with citations.

    The content is the text of the answer and the list of its sources. The artifact has ``answer``
    (the short form, empty for the form ``text``), ``text``, ``citations`` (offsets into the text,
    the passages that the sentence was written from, and those that support it), ``passages``,
    ``decisions`` (the events of the answer, in their order), ``usage``, ``request_id``, and
    ``abstained`` and ``degraded``. Errors of scaar are a ``ToolException``, which
    ``handle_tool_error=True`` returns to the model as content.
    """

    name: str = "scaar_answer"
    description: str = (
        "Answers a question from the passages of a document index, and cites them. "
        "Use it for facts that you are not sure of."
    )
    args_schema: ArgsSchema | None = ScaarQuestion
    response_format: str = "content_and_artifact"  # type: ignore[assignment]

    index: str = ""
    """Name of the index; empty for the default index of the orchestrator."""
    policy: str = ""
    """Name of the policy; empty for the default policy of the orchestrator."""
    settings: Mapping[str, float | str] = Field(default_factory=dict)
    """Settings of the policy, such as ``{"theta": 0.25}``."""
    filters: Mapping[str, str | Sequence[str]] = Field(default_factory=dict)
    """Values that passages must have, by metadata field."""
    answer: str = "text"
    """Form of the answer: ``text`` is the text as the model writes it, ``short`` ends with a
    conclusion, from which the artifact has the short answer."""
    on_failure: str = "fail"
    """``accept_draft``: keep the model's draft of a sentence if retrieval for it fails."""
    url_field: str = "url"
    """Metadata field of passages with their URL."""

    def _run(
        self, question: str, run_manager: CallbackManagerForToolRun | None = None
    ) -> tuple[str, Artifact]:
        try:
            with (
                self._opened() as scaar,
                scaar.stream_answer(question, **self._request()) as events,
            ):
                return self._result(list(events))
        except ScaarError as error:
            raise ToolException(str(error)) from error

    async def _arun(
        self, question: str, run_manager: AsyncCallbackManagerForToolRun | None = None
    ) -> tuple[str, Artifact]:
        try:
            async with (
                self._aopened() as scaar,
                scaar.stream_answer(question, **self._request()) as events,
            ):
                return self._result([each async for each in events])
        except ScaarError as error:
            raise ToolException(str(error)) from error

    def _request(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "policy": self.policy,
            "filters": self.filters,
            "on_failure": self.on_failure,
            "answer": self.answer,
            "omit_drafted_tokens": True,
            **self.settings,
        }

    def _result(self, events: Sequence[AnswerEvent]) -> tuple[str, Artifact]:
        finished = events[-1]
        assert isinstance(finished, AnswerFinished)
        answer = finished.answer
        passages = {
            each.id: {
                "id": each.id,
                "title": each.title,
                "text": each.text,
                "url": url_of(each, self.url_field),
            }
            for each in answer.passages
        }
        citations = [
            {
                "start": each.start,
                "end": each.end,
                "text": each.accepted.text,
                "passage_ids": list(each.accepted.passage_ids),
                "supporting_passage_ids": list(each.accepted.supporting_passage_ids),
            }
            for each in events
            if isinstance(each, SentenceAccepted) and each.accepted.passage_ids
        ]
        artifact = {
            "answer": answer.answer,
            "text": answer.text,
            "citations": citations,
            "passages": list(passages.values()),
            "decisions": [
                _decision(each) for each in events if not isinstance(each, _NO_DECISIONS)
            ],
            "usage": asdict(answer.usage),
            "request_id": answer.provenance.request_id,
            "abstained": answer.abstained is not None,
            "degraded": answer.degraded,
        }
        # As JSON, which checkpoints of agents need.
        return _content(answer, list(passages.values())), json.loads(json.dumps(artifact))


def _content(answer: Answer, passages: Sequence[Mapping[str, str]]) -> str:
    """Return the text of the answer and its sources."""
    text = answer.text.strip()
    sources = [f"- {' '.join(each['title'].split())} {each['url']}".rstrip() for each in passages]
    return "\n".join([text, "", "Sources:", *sources]) if sources else text


def _decision(event: AnswerEvent) -> dict[str, Any]:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
    return {"event": name, **asdict(event)}
