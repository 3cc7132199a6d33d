"""Requests of ``/v1/responses``."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from scaar.core.errors import CapabilityMissing
from scaar.gateway.conversation import ConversationMessage, Input, conversation_of
from scaar.gateway.options import Options, ScaarOptions, Temperature
from scaar.gateway.parameters import (
    IGNORED,
    AnswerParameters,
    NoAlternatives,
    TokenLimit,
    answer_parameters,
)
from scaar.gateway.tools import Tools, ignored_tools


class TextFormat(Options):
    """Format of the text."""

    type: Literal["text"]


class TextOptions(Options):
    """Options of the text."""

    format: TextFormat | None = None
    verbosity: Any = IGNORED


class ResponsesRequest(Options):
    """A conversation whose last message is the question.

    Nothing is stored: a conversation continues by sending its messages again, and
    ``previous_response_id`` is rejected. Fields that only change how a text is sampled, stored or
    billed are accepted and ignored.
    """

    model: str = Field(max_length=256)
    input: Input
    instructions: str | None = None
    stream: bool | None = False
    max_output_tokens: TokenLimit = None
    temperature: Temperature = None
    top_p: float | None = Field(default=None, ge=0, le=1)
    tools: list[Any] | None = None
    tool_choice: Any = None
    text: TextOptions | None = None
    background: Literal[False] | None = None
    previous_response_id: None = None
    conversation: None = None
    include: list[Literal["message.output_text.logprobs"]] | None = None
    max_tool_calls: Any = IGNORED
    metadata: Any = IGNORED
    parallel_tool_calls: Any = IGNORED
    prompt_cache_key: Any = IGNORED
    reasoning: Any = IGNORED
    safety_identifier: Any = IGNORED
    service_tier: Any = IGNORED
    store: Any = IGNORED
    stream_options: Any = IGNORED
    top_logprobs: NoAlternatives = None
    truncation: Any = IGNORED
    user: Any = IGNORED
    scaar: ScaarOptions = ScaarOptions()

    def parameters(self, *, default_index: str, tools: Tools, task: str = "") -> AnswerParameters:
        """Return the parameters of the answer.

        ``tools`` holds if the request does not choose; ``task`` is the header of a task.

        Raises:
            InvalidRequest: naming the field.
            NotFound: the model does not exist.
        """
        given = self.input
        items = (
            [ConversationMessage(role="user", content=given)] if isinstance(given, str) else given
        )
        return answer_parameters(
            self.model,
            conversation_of(items, "input", system=self.instructions or ""),
            self.scaar,
            max_tokens={"max_output_tokens": self.max_output_tokens},
            default_index=default_index,
            ignored=ignored_tools("tools", self.tools, self.tool_choice, self.scaar.tools or tools),
            task=task,
            logprobs=bool(self.include),
        )


@contextmanager
def fields_of_responses() -> Iterator[None]:
    """Name the fields of the contract in errors as the fields of this interface."""
    try:
        yield
    except CapabilityMissing as error:
        if error.metadata.get("field") != "logprobs":
            raise
        metadata = {**error.metadata, "field": "include"}
        raise CapabilityMissing(error.message, **metadata) from error
