"""Requests of ``/v1/responses``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field

from scaar.core.errors import CapabilityMissing, InvalidRequest, Violation
from scaar.gateway.options import Options, ScaarOptions, Temperature
from scaar.gateway.parameters import (
    IGNORED,
    AnswerParameters,
    MessageText,
    NoAlternatives,
    Turn,
    answer_parameters,
)


class InputMessage(Options):
    """A message of the conversation, or one that an earlier response returned."""

    role: Literal["system", "developer", "user", "assistant"]
    content: MessageText
    type: Literal["message"] = "message"
    id: str | None = None
    status: Any = IGNORED
    phase: Any = IGNORED


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
    input: str | list[InputMessage] = Field(max_length=1_048_576)
    instructions: str | None = None
    stream: bool | None = False
    max_output_tokens: int | None = Field(default=None, ge=1, le=8192)
    temperature: Temperature = None
    top_p: float | None = Field(default=None, ge=0, le=1)
    tools: list[Any] | None = Field(default=None, max_length=0)
    tool_choice: Literal["none", "auto"] | None = None
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

    def parameters(self, *, default_index: str) -> AnswerParameters:
        """Return the parameters of the answer.

        Raises:
            InvalidRequest: naming the field.
            NotFound: the model does not exist.
        """
        turns = [Turn("system", self.instructions)] if self.instructions else []
        if isinstance(self.input, str):
            turns.append(Turn("user", self.input))
        else:
            turns += [
                Turn("system" if each.role == "developer" else each.role, each.content)
                for each in self.input
            ]
        try:
            return answer_parameters(
                self.model,
                turns,
                self.scaar,
                max_tokens=self.max_output_tokens,
                default_index=default_index,
                logprobs=bool(self.include),
            )
        except InvalidRequest as error:
            raise InvalidRequest([_of_input(each) for each in error.violations]) from error


def _of_input(violation: Violation) -> Violation:
    """Return the violation; the conversation of this interface is its input."""
    return replace(violation, field="input") if violation.field == "messages" else violation


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
