"""Names and values of OpenTelemetry's semantic conventions for generative AI.

They are those of version 0.1.0 of open-telemetry/semantic-conventions-genai. The package
opentelemetry-semantic-conventions still has names of its own, all marked as moved there, in a
private module; hence this table.
"""

import json
from collections.abc import Iterable

from scaar.core.types import AnswerEnd, FinishReason, Message, RetrievedPassage

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
MODEL = "gen_ai.request.model"
MAX_TOKENS = "gen_ai.request.max_tokens"
STREAM = "gen_ai.request.stream"
TEMPERATURE = "gen_ai.request.temperature"
CHOICES = "gen_ai.request.choice.count"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_TOKEN_S = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
THINKING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
DATA_SOURCE = "gen_ai.data_source.id"
DOCUMENTS = "gen_ai.retrieval.documents"
QUERY = "gen_ai.retrieval.query.text"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
ERROR = "error.type"

INVOKE_AGENT = "invoke_agent"
TEXT_COMPLETION = "text_completion"
RETRIEVAL = "retrieval"

MAX_CONTENT = 10_000
"""Maximum number of characters of one text in a span."""

_STOPPED, _CUT = "stop", "length"


def finish_reason(end: AnswerEnd | FinishReason) -> str:
    """Return the conventions' reason for an end: ``stop``, or ``length`` at a limit of tokens."""
    return _CUT if end in (AnswerEnd.MAX_TOKENS, FinishReason.LENGTH) else _STOPPED


def documents(passages: Iterable[RetrievedPassage], *, content: bool) -> str:
    """Return passages as a JSON array of ids and scores, with ``content`` of titles and texts."""
    return _json(
        [
            {
                "id": each.id,
                "score": each.score,
                **({"title": each.title, "content": _cut(each.text)} if content else {}),
            }
            for each in passages
        ]
    )


def input_messages(messages: Iterable[Message]) -> str:
    """Return the messages that are answered as a JSON array."""
    return _json([_message(each.role.value, each.content) for each in messages])


def output_messages(written: Iterable[tuple[str, str]]) -> str:
    """Return texts that a model wrote as a JSON array, each with the reason of its end.

    An empty reason is that of a text that was left: ``cancelled``.
    """
    return _json(
        [
            {**_message("assistant", text), "finish_reason": reason or "cancelled"}
            for text, reason in written
        ]
    )


def _message(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": _cut(text)}]}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CONTENT else text[:MAX_CONTENT] + "…"


def _json(value: list[dict[str, object]]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
