"""``/v1/responses``, by OpenAI's client over sockets."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.responses import Response, ResponseOutputMessage, ResponseOutputText

from scaar.core.errors import Overloaded
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    MessageRole,
)
from scaar.testing.fakes import ScriptedAnswerer
from scaar.testing.gateways import (
    GATEWAY,
    TEXT,
    URL,
    abstaining_answer,
    cited_answer,
    failing_answer,
    gateway_before,
)

QUESTION = "Where was Ada born?"
ANNOTATIONS = [
    {"type": "url_citation", "start_index": 0, "end_index": 23, "title": title, "url": url}
    for title, url in (("Ada", URL), ("Byron & <co>", f"{GATEWAY}/passages/lab/p2"))
]
STREAM = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.annotation.added",
    "response.output_text.annotation.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


@asynccontextmanager
async def asking(answerer: ScriptedAnswerer, **settings: Any) -> AsyncIterator[AsyncOpenAI]:
    async with (
        gateway_before(answerer, **{"public_url": GATEWAY, **settings}) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        yield client


async def response_to(client: AsyncOpenAI, **fields: Any) -> Response:
    found: Response = await client.responses.create(
        **{"model": "scaar", "input": QUESTION, **fields}
    )
    return found


async def events_of(client: AsyncOpenAI, **fields: Any) -> list[Any]:
    stream: Any = await client.responses.create(
        **{"model": "scaar", "input": QUESTION, **fields}, stream=True
    )
    return [each async for each in stream]


def text_part(response: Response) -> ResponseOutputText:
    (message,) = response.output
    assert isinstance(message, ResponseOutputMessage)
    (part,) = message.content
    assert isinstance(part, ResponseOutputText)
    return part


async def test_a_response_has_text_citations_and_usage() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        found = await response_to(client)
    assert (found.status, found.output_text) == ("completed", TEXT)
    assert [each.model_dump() for each in text_part(found).annotations] == ANNOTATIONS
    assert found.usage is not None
    assert (found.usage.input_tokens, found.usage.output_tokens) == (30, 22)
    assert found.usage.output_tokens_details.reasoning_tokens == 2
    assert (found.model_extra or {})["scaar"]["answer"] == "London"


async def test_a_stream_has_the_events_of_the_interface_in_order() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        events = await events_of(client)
    assert [each.type for each in events] == STREAM
    assert [each.sequence_number for each in events] == list(range(len(events)))
    deltas = [each.delta for each in events if each.type == "response.output_text.delta"]
    assert "".join(deltas) == TEXT
    added = [each for each in events if each.type == "response.output_text.annotation.added"]
    assert [each.annotation_index for each in added] == [0, 1]
    final = events[-1].response
    assert final.output_text == TEXT
    assert [each.model_dump() for each in text_part(final).annotations] == ANNOTATIONS
    assert len({each.item_id for each in events if hasattr(each, "item_id")}) == 1


@pytest.mark.parametrize("script", [cited_answer, failing_answer])
async def test_the_events_of_a_stream_have_one_time_of_creation(
    script: Callable[[AnswerRequest], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(1_700_000_000)
    clock = SimpleNamespace(time=lambda: float(next(seconds)))
    monkeypatch.setattr("scaar.gateway.responses.time", clock)
    async with asking(ScriptedAnswerer(script)) as client:
        events = await events_of(client)
    created = [each.response.created_at for each in events if hasattr(each, "response")]
    assert created == [1_700_000_000] * 3


async def test_decisions_are_events_of_their_own_type() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        events = await events_of(client, extra_body={"scaar": {"events": True}})
    names = [name for each in events if each.type == "scaar.decision" for name in each.decision]
    assert names[0] == "started"
    assert names[-1] == "finished"
    assert "sentence_judged" in names
    assert [each.type for each in events if each.type != "scaar.decision"] == STREAM


async def test_the_official_stream_helper_accepts_the_events() -> None:
    async with (
        asking(ScriptedAnswerer(cited_answer)) as client,
        client.responses.stream(model="scaar", input=QUESTION) as stream,
    ):
        assert [each.type async for each in stream][-1] == "response.completed"
        final: Any = await stream.get_final_response()
    assert final.output_text == TEXT


async def test_a_conversation_and_instructions_become_one_input() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        await response_to(client, input=[{"role": "user", "content": QUESTION}])
        await response_to(
            client,
            input=[
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": QUESTION}],
                }
            ],
        )
    assert [each.question for each in answerer.requests] == [QUESTION, QUESTION]


@pytest.mark.parametrize("script", [cited_answer, abstaining_answer])
async def test_the_output_of_an_earlier_response_continues_its_conversation(
    script: Callable[[AnswerRequest], Any],
) -> None:
    answerer = ScriptedAnswerer(script)
    question = {"role": "user", "content": QUESTION}
    async with asking(answerer) as client:
        (item,) = (await response_to(client)).output
        await response_to(client, input=[question, item, question])
    assert isinstance(item, ResponseOutputMessage)
    (part,) = item.content
    said = answerer.requests[1].messages[1]
    text = part.text if isinstance(part, ResponseOutputText) else part.refusal
    assert (said.role, said.content) == (MessageRole.ASSISTANT, text)


async def test_items_of_another_model_are_not_read_and_named() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    items = [
        {"role": "user", "content": "What time is it?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text"}]},
        {"type": "function_call", "call_id": "c1", "name": "clock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "noon"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "It is noon."}]},
        {"role": "user", "content": QUESTION},
    ]
    async with asking(answerer) as client:
        found = await response_to(client, input=items, tools=[{"type": "web_search"}])
    assert [each.content for each in answerer.requests[0].messages] == [
        "What time is it?",
        "It is noon.",
        QUESTION,
    ]
    assert found.model_dump()["scaar"]["ignored"] == [
        "tools",
        "input.function_call",
        "input.function_call_output",
        "input.reasoning",
    ]


async def test_more_tokens_than_an_answer_may_have_are_its_maximum() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await response_to(client, max_output_tokens=128_000)
    assert answerer.requests[0].budget.max_tokens == 8_192
    assert found.model_dump()["scaar"]["ignored"] == ["max_output_tokens"]


async def test_a_budget_that_ends_the_answer_is_incomplete() -> None:
    def cut(request: AnswerRequest) -> Iterator[AnswerEvent]:
        for event in cited_answer(request):
            if isinstance(event, AnswerFinished):
                event = AnswerFinished(replace(event.answer, end=AnswerEnd.MAX_SENTENCES))
            yield event

    async with asking(ScriptedAnswerer(cut)) as client:
        found = await response_to(client)
        events = await events_of(client)
    assert found.status == "incomplete"
    assert found.incomplete_details is not None
    assert found.incomplete_details.reason == "max_output_tokens"
    assert events[-1].type == "response.incomplete"


async def test_an_abstention_is_a_refusal() -> None:
    async with asking(ScriptedAnswerer(abstaining_answer)) as client:
        found = await response_to(client)
        events = await events_of(client)
    message = found.output[0]
    assert isinstance(message, ResponseOutputMessage)
    assert message.content[0].type == "refusal"
    types = [each.type for each in events]
    assert "response.refusal.done" in types
    assert "response.output_text.delta" not in types


async def test_an_error_has_a_status_before_the_first_event_and_is_an_event_later() -> None:
    async with asking(ScriptedAnswerer(lambda _: [Overloaded("full")])) as client:
        with pytest.raises(openai.RateLimitError):
            await events_of(client)
    async with asking(ScriptedAnswerer(failing_answer)) as client:
        events = await events_of(client)
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.message == "the retriever is gone"
    assert events[-1].response.status == "failed"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"input": []}, "input"),
        ({"input": [{"role": "assistant", "content": "x"}]}, "input"),
        ({"extra_body": {"scaar": {"settings": {"bogus": 1}}}}, "policy.bogus"),
        ({"extra_body": {"scaar": {"settings": {"query": 5}}}}, "policy.query"),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input.0.content"),
        ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
        ({"tools": [{}], "extra_body": {"scaar": {"tools": "reject"}}}, "tools"),
        ({"background": True}, "background"),
        ({"text": {"format": {"type": "json_object"}}}, "text.format.type"),
    ],
)
async def test_what_is_not_supported_is_named(fields: dict[str, Any], param: str) -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        with pytest.raises(openai.BadRequestError) as raised:
            await response_to(client, **fields)
    assert raised.value.param == param
