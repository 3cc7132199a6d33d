"""From a conversation of a request to the parameters of an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from scaar.client.requests import filter_choices, policy_request
from scaar.core.errors import NotFound
from scaar.core.policies.requirements import needs_retriever
from scaar.core.types import (
    AnswerForm,
    AnswerRequest,
    BudgetLimits,
    Message,
    MessageRole,
    OnFailure,
    PolicyRequest,
    RequestKind,
    Rewrite,
)
from scaar.core.validation import (
    MAX_CONVERSATION_CHARACTERS,
    MAX_IGNORED,
    MAX_MESSAGES,
    MAX_TOKENS,
)
from scaar.gateway.conversation import Conversation, Turn
from scaar.gateway.model_names import ALONE, ModelName
from scaar.gateway.options import ScaarOptions
from scaar.gateway.tasks import is_task

IGNORED = Field(default=None, description="Accepted and ignored.")
TokenLimit = Annotated[int | None, Field(ge=1)]
"""Maximum number of tokens; one above the maximum of an answer is that maximum."""

NoAlternatives = Annotated[int | None, Field(ge=0, le=0)]
"""Number of alternatives of each token; none are returned."""


@dataclass(frozen=True, slots=True)
class AnswerParameters:
    """The request for an answer, and the model that its caller named."""

    model: str
    request: AnswerRequest


def answer_parameters(
    model: str,
    conversation: Conversation,
    options: ScaarOptions,
    *,
    max_tokens: Mapping[str, int | None],
    default_index: str,
    ignored: Sequence[str] = (),
    logprobs: bool = False,
    task: str = "",
) -> AnswerParameters:
    """Return the parameters of an answer to the last message.

    The messages of the system become one, before the others. Of more messages or characters than a
    conversation may have, the oldest messages are dropped. ``max_tokens`` has the limits by the
    names of their fields: the first one holds, up to the maximum of an answer, and a larger one is
    named as ignored. ``ignored`` are names besides those and the ones of the conversation. ``task``
    is the header of a task. A task is answered by the model alone.

    Raises:
        NotFound: the model does not exist.
    """
    named = ModelName.parse(model)
    if named.index not in ("", default_index) and not needs_retriever(PolicyRequest(named.policy)):
        # No answer would find out whether the index exists.
        name = ModelName(named.policy)
        raise NotFound(f"the model {model!r} does not exist: {name} does not use an index")
    budget = options.budget
    limits = {name: limit for name, limit in max_tokens.items() if limit}
    tokens = next(iter(limits.values()), budget.max_tokens) or BudgetLimits().max_tokens
    too_large = [name for name, limit in limits.items() if limit > MAX_TOKENS]
    messages = _messages(conversation.turns)
    alone = len(messages) == 1
    request = AnswerRequest(
        question=messages[0].content if alone else "",
        policy=policy_request(options.policy or named.policy, options.settings),
        index=options.index or named.index or default_index,
        budget=BudgetLimits(
            budget.max_sentences, min(tokens, MAX_TOKENS), budget.max_retrievals, budget.timeout_s
        ),
        prompt_profile=options.prompt_profile,
        on_failure=OnFailure(options.on_failure),
        filters=filter_choices(options.filters),
        messages=() if alone else messages,
        rewrite=Rewrite(options.rewrite),
        logprobs=logprobs,
        answer=AnswerForm(options.answer),
        ignored=(*ignored, *too_large, *conversation.ignored)[:MAX_IGNORED],
    )
    if is_task(request.last_question, task):
        request = replace(
            request,
            policy=PolicyRequest(ALONE.policy),
            rewrite=Rewrite.NEVER,
            answer=AnswerForm.TEXT,
            kind=RequestKind.TASK,
        )
    return AnswerParameters(model, request)


def _messages(turns: Sequence[Turn]) -> tuple[Message, ...]:
    system = "\n\n".join(each.text for each in turns if each.role == "system")
    head = (Message(MessageRole.SYSTEM, system),) if system else ()
    said = [Message(MessageRole(each.role), each.text) for each in turns if each.role != "system"]
    recent = said[-(MAX_MESSAGES - len(head)) :]
    room = MAX_CONVERSATION_CHARACTERS - len(system)
    sizes = accumulate(len(each.content) for each in reversed(recent))
    kept = max(1, sum(size <= room for size in sizes))
    return (*head, *recent[-kept:])
