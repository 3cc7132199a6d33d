"""Requests of ``/v1/chat/completions``."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from scaar.gateway.conversation import MAX_ITEMS, ConversationMessage, conversation_of
from scaar.gateway.options import Options, ScaarOptions, Temperature
from scaar.gateway.parameters import (
    IGNORED,
    AnswerParameters,
    NoAlternatives,
    TokenLimit,
    answer_parameters,
)
from scaar.gateway.tools import Tools, ignored_tools

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


class ChatRequest(Options):
    """A conversation whose last message is the question.

    Fields that only change how a text is sampled, stored or billed are accepted and ignored, since
    answers are decoded greedily and nothing is stored. Fields that ask for what scaar does not do
    are rejected, unless it need not be done: tools that the model may call are ignored.
    """

    model: str = Field(max_length=256)
    messages: list[ConversationMessage] = Field(min_length=1, max_length=MAX_ITEMS)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_tokens: TokenLimit = None
    max_completion_tokens: TokenLimit = None
    stop: StopSequences | None = None
    temperature: Temperature = None
    top_p: float | None = Field(default=None, ge=0, le=1)
    n: Literal[1] | None = None
    logprobs: bool | None = None
    top_logprobs: NoAlternatives = None
    response_format: ResponseFormat | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    functions: list[Any] | None = None
    function_call: Any = None
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

    def parameters(self, *, default_index: str, tools: Tools, task: str = "") -> AnswerParameters:
        """Return the parameters of the answer.

        ``tools`` holds if the request does not choose; ``task`` is the header of a task.

        Raises:
            InvalidRequest: naming the field.
            NotFound: the model does not exist.
        """
        tools = self.scaar.tools or tools
        ignored = [
            *ignored_tools("tools", self.tools, self.tool_choice, tools),
            *ignored_tools("functions", self.functions, self.function_call, tools),
        ]
        return answer_parameters(
            self.model,
            conversation_of(self.messages, "messages"),
            self.scaar,
            max_tokens={
                "max_completion_tokens": self.max_completion_tokens,
                "max_tokens": self.max_tokens,
            },
            default_index=default_index,
            ignored=ignored,
            task=task,
            logprobs=bool(self.logprobs),
        )

    @property
    def stop_sequences(self) -> tuple[str, ...]:
        """The stop sequences."""
        return tuple(self.stop or ())
