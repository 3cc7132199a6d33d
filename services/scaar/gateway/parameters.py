"""From a conversation of a request to the parameters of an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema

from scaar.client.requests import filter_choices, policy_request
from scaar.core.errors import InvalidRequest, NotFound
from scaar.core.policies.requirements import needs_retriever
from scaar.core.types import (
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    Message,
    MessageRole,
    OnFailure,
    PolicyRequest,
    Rewrite,
)
from scaar.core.validation import MAX_MESSAGES
from scaar.gateway.model_names import ModelName
from scaar.gateway.options import ScaarOptions

IGNORED = Field(default=None, description="Accepted and ignored.")
NoAlternatives = Annotated[int | None, Field(ge=0, le=0)]
"""Number of alternatives of each token; none are returned."""


def _text_of(content: object, info: ValidationInfo) -> object:
    """Return the text of a message, which may be a list of parts; they are joined by line breaks.

    ValueError if a part is no text. A refusal is text of the assistant.
    """
    if not isinstance(content, list):
        return content
    role = info.data.get("role")
    return "\n".join(_text_of_part(each, role) for each in content)


def _text_of_part(part: object, role: object) -> str:
    match part:
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return text
        case {"type": "refusal", "refusal": str(text)} if role == "assistant":
            return text
    raise ValueError("must be text: images, audio and files are not supported")


MessageText = Annotated[
    str,
    BeforeValidator(_text_of),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}),
]
"""The text of a message: a string, or parts of the types text, input_text and output_text.

The assistant's may be of the type refusal too. The message has its role before this field.
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """The role and the text of a message."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class AnswerParameters:
    """The request for an answer, and the model that its caller named."""

    model: str
    request: AnswerRequest


def answer_parameters(
    model: str,
    turns: Sequence[Turn],
    options: ScaarOptions,
    *,
    max_tokens: int | None,
    default_index: str,
    logprobs: bool = False,
) -> AnswerParameters:
    """Return the parameters of an answer to the last message.

    The system messages that begin the conversation become one. Of more than ``MAX_MESSAGES``
    messages, the oldest are dropped.

    Raises:
        InvalidRequest: the last message is not the user's.
        NotFound: the model does not exist.
    """
    named = ModelName.parse(model)
    if named.index not in ("", default_index) and not needs_retriever(PolicyRequest(named.policy)):
        # No answer would find out whether the index exists.
        name = ModelName(named.policy)
        raise NotFound(f"the model {model!r} does not exist: {name} does not use an index")
    budget = options.budget
    tokens = max_tokens or budget.max_tokens or BudgetLimits().max_tokens
    messages = _messages(turns)
    alone = len(messages) == 1
    request = AnswerRequest(
        question=messages[0].content if alone else "",
        policy=policy_request(options.policy or named.policy, options.settings),
        index=options.index or named.index or default_index,
        budget=BudgetLimits(budget.max_sentences, tokens, budget.max_retrievals, budget.timeout_s),
        prompt_profile=options.prompt_profile,
        on_failure=OnFailure(options.on_failure),
        filters=filter_choices(options.filters),
        messages=() if alone else messages,
        rewrite=Rewrite(options.rewrite),
        logprobs=logprobs,
        answer=AnswerForm(options.answer),
    )
    return AnswerParameters(model, request)


def _messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    if not turns or turns[-1].role != "user":
        raise InvalidRequest.of("messages", "the last message must be the user's question")
    first = next(at for at, each in enumerate(turns) if each.role != "system")
    system = "\n\n".join(each.text for each in turns[:first] if each.text.strip())
    head = (Message(MessageRole.SYSTEM, system),) if system else ()
    recent = turns[first:][-(MAX_MESSAGES - len(head)) :]
    return (*head, *(Message(MessageRole(each.role), each.text) for each in recent))
