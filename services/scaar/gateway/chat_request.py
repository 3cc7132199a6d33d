"""Requests of ``/v1/chat/completions``."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError

from scaar.gateway.options import Options, ScaarOptions, Temperature
from scaar.gateway.parameters import (
    IGNORED,
    AnswerParameters,
    MessageText,
    NoAlternatives,
    Turn,
    answer_parameters,
)

StopSequences = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=256)]],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(max_length=16),
]
"""Texts before which an answer ends; one may be given without a list."""


class StreamOptions(Options):
    """Options of a stream."""

    include_usage: bool = False
    include_obfuscation: bool = False


class ResponseFormat(Options):
    """Format of the text."""

    type: Literal["text"]


class ChatMessage(Options):
    """A message of the conversation, or one that an earlier response returned.

    Only the assistant's has a refusal, which is its text if it has no content, annotations, and
    empty fields of what scaar does not write.
    """

    role: Literal["system", "developer", "user", "assistant"]
    refusal: str | None = None
    annotations: Any = IGNORED
    audio: None = None
    function_call: None = None
    tool_calls: list[Any] | None = Field(default=None, max_length=0)
    content: MessageText | None
    name: str | None = None

    @field_validator(
        *("refusal", "annotations", "audio", "function_call", "tool_calls"), mode="before"
    )
    @classmethod
    def _of_the_assistant(cls, given: object, info: ValidationInfo) -> object:
        if info.data.get("role", "assistant") != "assistant":
            raise PydanticKnownError("extra_forbidden")
        return given

    @field_validator("content")
    @classmethod
    def _text_or_refusal(cls, content: str | None, info: ValidationInfo) -> str | None:
        if content is None and info.data.get("refusal") is None:
            raise PydanticKnownError("string_type")
        return content

    @property
    def text(self) -> str:
        """The text of the message."""
        return self.content or self.refusal or ""


class ChatRequest(Options):
    """A conversation whose last message is the question.

    Fields that only change how a text is sampled, stored or billed are accepted and ignored, since
    answers are decoded greedily and nothing is stored. Fields that ask for what scaar does not do
    are rejected.
    """

    model: str = Field(max_length=256)
    messages: list[ChatMessage] = Field(min_length=1, max_length=4096)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=8192)
    max_completion_tokens: int | None = Field(default=None, ge=1, le=8192)
    stop: StopSequences | None = None
    temperature: Temperature = None
    top_p: float | None = Field(default=None, ge=0, le=1)
    n: Literal[1] | None = None
    logprobs: bool | None = None
    top_logprobs: NoAlternatives = None
    response_format: ResponseFormat | None = None
    tools: list[Any] | None = Field(default=None, max_length=0)
    tool_choice: Literal["none", "auto"] | None = None
    modalities: list[Literal["text"]] | None = None
    frequency_penalty: Any = IGNORED
    presence_penalty: Any = IGNORED
    logit_bias: Any = IGNORED
    metadata: Any = IGNORED
    parallel_tool_calls: Any = IGNORED
    prompt_cache_key: Any = IGNORED
    reasoning_effort: Any = IGNORED
    safety_identifier: Any = IGNORED
    seed: Any = IGNORED
    service_tier: Any = IGNORED
    store: Any = IGNORED
    user: Any = IGNORED
    verbosity: Any = IGNORED
    scaar: ScaarOptions = ScaarOptions()

    def parameters(self, *, default_index: str) -> AnswerParameters:
        """Return the parameters of the answer.

        Raises:
            InvalidRequest: naming the field.
            NotFound: the model does not exist.
        """
        turns = [
            Turn("system" if each.role == "developer" else each.role, each.text)
            for each in self.messages
        ]
        limit = self.max_completion_tokens or self.max_tokens
        return answer_parameters(
            self.model,
            turns,
            self.scaar,
            max_tokens=limit,
            default_index=default_index,
            logprobs=bool(self.logprobs),
        )

    @property
    def stop_sequences(self) -> tuple[str, ...]:
        """The stop sequences."""
        return tuple(self.stop or ())
