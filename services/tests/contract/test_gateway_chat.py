"""``/v1/chat/completions`` and ``/v1/models``, by OpenAI's client over sockets."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
)
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerForm,
    AnswerRequest,
    AnswerStarted,
    BudgetLimits,
    Filter,
    MessageRole,
    OnFailure,
    Passage,
    RequestKind,
    Rewrite,
)
from scaar.core.validation import MAX_MESSAGES
from scaar.gateway.settings import GatewaySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.settings import ServiceSettings
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import (
    GATEWAY,
    PASSAGES,
    TEXT,
    URL,
    abstaining_answer,
    cited_answer,
    failing_answer,
    gateway_before,
    refusing_answer,
    unsupported_answer,
)

QUESTION: Any = [{"role": "user", "content": "Where was Ada born?"}]
TEXT_PART: Any = {"type": "text", "text": "What time is it?"}
IMAGE: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
TOOL: Any = {"type": "function", "function": {"name": "clock", "parameters": {}}}
ANNOTATIONS = [
    {
        "type": "url_citation",
        "url_citation": {"start_index": 0, "end_index": 23, "title": title, "url": url},
    }
    for title, url in (("Ada", URL), ("Byron & <co>", f"{GATEWAY}/passages/lab/p2"))
]


@asynccontextmanager
async def asking(answerer: ScriptedAnswerer, **settings: Any) -> AsyncIterator[AsyncOpenAI]:
    async with (
        gateway_before(answerer, **{"public_url": GATEWAY, **settings}) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        yield client


async def completed(client: AsyncOpenAI, **fields: Any) -> ChatCompletion:
    found = await client.chat.completions.create(
        **{"model": "scaar", "messages": QUESTION, **fields}
    )
    assert isinstance(found, ChatCompletion)
    return ChatCompletion.model_validate(found.model_dump(), strict=True)


async def chunks_of(client: AsyncOpenAI, **fields: Any) -> list[ChatCompletionChunk]:
    stream: Any = await client.chat.completions.create(
        **{"model": "scaar", "messages": QUESTION, **fields}, stream=True
    )
    return [each async for each in stream]


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(each.choices[0].delta.content or "" for each in chunks if each.choices)


async def test_a_chat_is_answered_with_citations_and_usage() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        found = await completed(client)
    (choice,) = found.choices
    assert choice.finish_reason == "stop"
    assert choice.message.content == TEXT
    assert [each.model_dump() for each in choice.message.annotations or ()] == ANNOTATIONS
    cited = ANNOTATIONS[0]["url_citation"]
    assert isinstance(cited, dict)
    assert TEXT[cited["start_index"] : cited["end_index"]] == "Ada was born in London."
    usage = found.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (30, 22, 52)
    assert usage.model_extra == {"retrievals": 1, "searches": 1, "llm_calls": 3}
    extra = found.model_extra
    assert extra is not None
    assert extra["scaar"]["answer"] == "London"
    assert f"chatcmpl-{extra['scaar']['request_id']}" == found.id


async def test_a_stream_has_the_same_text_and_citations() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        chunks = await chunks_of(client, stream_options={"include_usage": True})
        without = await chunks_of(client)
    assert text_of(chunks) == text_of(without) == TEXT
    deltas = [each.choices[0].delta for each in chunks if each.choices]
    assert deltas[0].role == "assistant"
    found = [each for delta in deltas for each in (delta.model_extra or {}).get("annotations", ())]
    assert found == ANNOTATIONS
    assert [each.choices[0].finish_reason for each in without][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 52
    assert all(each.usage is None for each in without)
    assert len({each.id for each in chunks}) == 1


async def test_a_draft_that_is_replaced_never_reaches_the_client() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        chunks = await chunks_of(client)
    assert not any("Paris" in each.model_dump_json() for each in chunks)


async def test_decisions_are_chunks_without_choices() -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        chunks = await chunks_of(client, extra_body={"scaar": {"events": True}})
        whole = await completed(client, extra_body={"scaar": {"events": True}})
    events = [(each.model_extra or {})["scaar"]["event"] for each in chunks if not each.choices]
    names = [name for each in events for name in each]
    assert names == [
        "started",
        "token_drafted",
        "sentence_judged",
        "query_built",
        "passages_retrieved",
        "sentence_regenerated",
        "sentence_accepted",
        "sentence_accepted",
        "finished",
    ]
    assert events[2]["sentence_judged"]["words"][0]["probability"] == 0.1
    decisions = (whole.model_extra or {})["scaar"]["decisions"]
    assert [name for each in decisions for name in each] == names
    assert text_of(chunks) == TEXT


async def test_sources_can_be_a_list_in_markdown() -> None:
    links = f"1. [Ada]({URL})\n2. [Byron & \\<co\\>]({GATEWAY}/passages/lab/p2)"
    expected = f"{TEXT}\n\nSources:\n\n{links}"
    async with asking(ScriptedAnswerer(cited_answer), citations="markdown") as client:
        whole = await completed(client)
        chunks = await chunks_of(client)
        none = await completed(client, extra_body={"scaar": {"citations": "none"}})
    assert whole.choices[0].message.content == text_of(chunks) == expected
    assert none.choices[0].message.content == TEXT
    assert none.choices[0].message.annotations == []


async def test_every_field_of_a_request_arrives() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    options = {
        "settings": {"theta": 0.5},
        "filters": {"lang": ["en", "de"], "tenant": "acme"},
        "budget": {"max_retrievals": 2, "timeout_s": 9},
        "on_failure": "accept_draft",
        "prompt_profile": "lab",
    }
    async with asking(answerer, default_index="docs") as client:
        await completed(
            client,
            model="scaar/flare@mine",
            max_completion_tokens=99,
            extra_body={"scaar": options},
        )
        await completed(client)
        await completed(
            client, model="scaar/flare@mine", extra_body={"scaar": {"policy": "etc", "index": "b"}}
        )
    first, second, third = answerer.requests
    assert first.question == "Where was Ada born?"
    assert first.policy.name == "flare"
    assert first.policy.overrides.theta == 0.5
    assert first.index == "mine"
    assert first.budget == BudgetLimits(max_tokens=99, max_retrievals=2, timeout_s=9.0)
    assert first.on_failure is OnFailure.ACCEPT_DRAFT
    assert first.filters == (Filter("lang", ("en", "de")), Filter("tenant", ("acme",)))
    assert (second.policy.name, second.index) == ("", "docs")
    assert (third.policy.name, third.index) == ("etc", "b")


async def test_parameters_of_sampling_are_ignored_and_texts_may_have_parts() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    parts: Any = [{"role": "user", "content": [{"type": "text", "text": "Where was Ada born?"}]}]
    async with asking(answerer) as client:
        found = await completed(
            client, messages=parts, temperature=0.7, top_p=0.9, seed=7, user="u", presence_penalty=1
        )
    assert found.choices[0].message.content == TEXT
    assert answerer.requests[0].question == "Where was Ada born?"


@pytest.mark.parametrize("script", [cited_answer, abstaining_answer])
async def test_the_message_of_an_earlier_response_continues_its_conversation(
    script: Callable[[AnswerRequest], Any],
) -> None:
    answerer = ScriptedAnswerer(script)
    async with asking(answerer) as client:
        found = await client.chat.completions.create(model="scaar", messages=QUESTION)
        message = found.choices[0].message
        # With all fields of the client's message, which are null where the response lacks them.
        for each in (message, message.model_dump()):
            await completed(client, messages=[*QUESTION, each, *QUESTION])
    for request in answerer.requests[1:]:
        said = request.messages[1]
        text = message.content or message.refusal
        assert (said.role, said.content) == (MessageRole.ASSISTANT, text)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("stop", "text"),
    [
        ("London", "Ada was born in "),
        (["nowhere", " So"], "Ada was born in London."),
        (". So", "Ada was born in London"),
        ("London. So the answer is London. And", TEXT),
    ],
)
async def test_a_stop_sequence_ends_the_text(stream: bool, stop: Any, text: str) -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        if stream:
            found = text_of(await chunks_of(client, stop=stop))
        else:
            found = (await completed(client, stop=stop)).choices[0].message.content or ""
    assert found == text


async def test_a_budget_that_ends_the_answer_is_a_length() -> None:
    def cut(request: AnswerRequest) -> Iterator[AnswerEvent]:
        for event in cited_answer(request):
            if isinstance(event, AnswerFinished):
                event = AnswerFinished(replace(event.answer, end=AnswerEnd.MAX_TOKENS))
            yield event

    async with asking(ScriptedAnswerer(cut)) as client:
        assert (await completed(client)).choices[0].finish_reason == "length"


async def test_an_abstention_is_a_refusal_and_its_text_is_withheld() -> None:
    async with asking(ScriptedAnswerer(abstaining_answer)) as client:
        found = await completed(client)
        chunks = await chunks_of(client)
    message = found.choices[0].message
    assert message.content is None
    assert message.refusal is not None
    assert "0.12, below the limit of 0.30" in message.refusal
    refusals = [each.choices[0].delta.refusal for each in chunks if each.choices]
    assert [each for each in refusals if each] == [message.refusal]
    assert text_of(chunks) == ""
    abstained = {"reason": "gate", "p_correct": 0.12, "limit": 0.3}
    assert (found.model_extra or {})["scaar"]["abstained"] == abstained


async def test_an_answer_that_no_passage_supports_is_a_refusal_and_its_text_is_withheld() -> None:
    async with asking(ScriptedAnswerer(unsupported_answer)) as client:
        found = await completed(client)
        chunks = await chunks_of(client)
    message = found.choices[0].message
    assert message.content is None
    assert message.refusal is not None
    assert "no answer in the documents" in message.refusal
    refusals = [each.choices[0].delta.refusal for each in chunks if each.choices]
    assert [each for each in refusals if each] == [message.refusal]
    assert text_of(chunks) == ""
    assert (found.model_extra or {})["scaar"]["abstained"] == {"reason": "unsupported"}


async def test_that_the_documents_do_not_contain_the_answer_is_an_answer() -> None:
    async with asking(ScriptedAnswerer(refusing_answer)) as client:
        found = await completed(client)
        chunks = await chunks_of(client)
    message = found.choices[0].message
    assert (message.content, message.refusal) == (TEXT, None)
    assert text_of(chunks) == TEXT
    abstained = {"reason": "not_in_documents"}
    assert (found.model_extra or {})["scaar"]["abstained"] == abstained
    ends = [(each.model_extra or {}).get("scaar", {}) for each in chunks]
    assert [each["abstained"] for each in ends if "abstained" in each] == [abstained]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (InvalidRequest.of("policy.theta", "must be over 0"), 400, openai.BadRequestError),
        (CapabilityMissing("the engine returns no attention"), 400, openai.BadRequestError),
        (NotFound("no index 'x'"), 404, openai.NotFoundError),
        (Overloaded("full", retry_after_s=2.5), 429, openai.RateLimitError),
        (DeadlineExceeded("late", stage="drafting"), 504, openai.InternalServerError),
        (BackendUnavailable("gone"), 503, openai.InternalServerError),
        (ScaarError("internal error"), 500, openai.InternalServerError),
    ],
)
async def test_an_error_has_its_status_and_reason(
    stream: bool, error: ScaarError, status: int, kind: type[openai.APIStatusError]
) -> None:
    async with asking(ScriptedAnswerer(lambda _: [error])) as client:
        with pytest.raises(kind) as raised:
            await (chunks_of(client) if stream else completed(client))
    assert raised.value.status_code == status
    assert raised.value.code == error.reason
    assert error.message in str(raised.value)
    if isinstance(error, InvalidRequest):
        assert raised.value.param == "policy.theta"
    if isinstance(error, Overloaded):
        headers = raised.value.response.headers
        assert (headers["retry-after"], headers["retry-after-ms"]) == ("3", "2500")


async def test_an_error_within_a_stream_is_an_event() -> None:
    async with asking(ScriptedAnswerer(failing_answer)) as client:
        stream: Any = await client.chat.completions.create(
            model="scaar", messages=QUESTION, stream=True
        )
        chunks = aiter(stream)
        received = [await anext(chunks), await anext(chunks)]
        with pytest.raises(openai.APIError, match="the retriever is gone"):
            await anext(chunks)
    assert text_of(received) == "Ada was born in London."


async def test_a_client_retries_an_overloaded_gateway() -> None:
    outcomes: list[Any] = [Overloaded("full", retry_after_s=0.01)]

    def script(request: AnswerRequest) -> Any:
        return [outcomes.pop()] if outcomes else cited_answer(request)

    async with (
        gateway_before(ScriptedAnswerer(script)) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=2) as client,
    ):
        assert (await completed(client)).choices[0].message.content == TEXT


@pytest.mark.parametrize(
    ("fields", "param", "text"),
    [
        ({"messages": []}, "messages", "at least 1 item"),
        (
            {"messages": [*QUESTION, {"role": "user", "content": [TEXT_PART, IMAGE]}]},
            "messages.1.content",
            "a part of the type image_url: only text is read",
        ),
        (
            {"messages": [*QUESTION, {"role": "user", "content": [IMAGE]}]},
            "messages.1.content",
            "a part of the type image_url: only text is read",
        ),
        (
            {"messages": [*QUESTION, {"role": "user", "content": " "}]},
            "messages.1.content",
            "must not be empty",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]},
            "messages.0.content.0.text",
            "should be a valid string",
        ),
        ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content", "valid string"),
        ({"messages": [{"role": "boss", "content": "x"}]}, "messages.0.role", "should be"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages", "the last message must be"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages", "the last message"),
        (
            {"messages": [*QUESTION, {"role": "assistant", "content": "x"}]},
            "messages",
            "the last message must be the user's question",
        ),
        ({"n": 2}, "n", "should be 1"),
        (
            {"tools": [TOOL], "tool_choice": "required"},
            "tool_choice",
            "tools are not called by this server: it must be auto or none",
        ),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "clock"}}},
            "tool_choice",
            "tools are not called",
        ),
        ({"functions": [{}], "function_call": {"name": "clock"}}, "function_call", "not called"),
        (
            {"tools": [TOOL], "extra_body": {"scaar": {"tools": "reject"}}},
            "tools",
            "tools are not called by this server: send none",
        ),
        ({"logprobs": True, "top_logprobs": 2}, "top_logprobs", "less than or equal to 0"),
        ({"stop": [""]}, "stop.0", "at least 1 character"),
        ({"extra_body": {"colour": 1}}, "colour", "is not a known field"),
        ({"extra_body": {"scaar": {"theta": 1}}}, "scaar.theta", "is not a known field"),
        (
            {"extra_body": {"scaar": {"settings": {"colour": 1}}}},
            "policy.colour",
            "is not a setting",
        ),
        ({"max_tokens": 0}, "max_tokens", "greater than or equal to 1"),
    ],
)
async def test_an_invalid_field_is_named_before_any_work(
    fields: dict[str, Any], param: str, text: str
) -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        with pytest.raises(openai.BadRequestError, match=text) as raised:
            await completed(client, **fields)
    assert raised.value.param == param
    assert answerer.opened == 0


@pytest.mark.parametrize("model", ["gpt-4o", "", "scaar/", "scaar/a/b", "scaar@", "scaar@a@b"])
async def test_an_unknown_model_does_not_exist(model: str) -> None:
    async with asking(ScriptedAnswerer(cited_answer)) as client:
        with pytest.raises(openai.NotFoundError, match="models are named"):
            await completed(client, model=model)


async def test_a_model_of_a_policy_that_never_retrieves_has_no_index() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer, default_index="lab") as client:
        with pytest.raises(openai.NotFoundError, match="scaar/no_retrieval does not use an index"):
            await completed(client, model="scaar/no_retrieval@nope")
        with pytest.raises(openai.NotFoundError, match="scaar/no_retrieval does not use an index"):
            await client.responses.create(model="scaar/no_retrieval@nope", input="Where?")
        assert answerer.opened == 0
        await completed(client, model="scaar/no_retrieval@lab")
    assert answerer.opened == 1


async def test_a_client_that_leaves_cancels_the_answer() -> None:
    def endless(request: AnswerRequest) -> Iterator[AnswerEvent]:
        events = list(cited_answer(request))
        yield events[0]
        while True:
            yield events[1]

    answerer = ScriptedAnswerer(endless, delay_s=0.01)
    async with asking(answerer) as client:
        stream: Any = await client.chat.completions.create(
            model="scaar", messages=QUESTION, stream=True
        )
        await anext(aiter(stream))
        await stream.close()
        await closed(answerer, 1)
        with pytest.raises(openai.APITimeoutError):
            await completed(client, timeout=0.3)
        await closed(answerer, 2)


async def closed(answerer: ScriptedAnswerer, number: int) -> None:
    async with asyncio.timeout(10):
        while answerer.closed < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_an_idle_stream_is_kept_alive() -> None:
    answerer = ScriptedAnswerer(cited_answer, delay_s=0.2)
    async with (
        gateway_before(answerer, keepalive_s=0.05) as url,
        httpx2.AsyncClient() as client,
        client.stream(
            "POST",
            f"{url}/v1/chat/completions",
            json={"model": "scaar", "messages": QUESTION, "stream": True},
        ) as response,
    ):
        text = (await response.aread()).decode()
    assert ": keep-alive\n\n" in text
    assert text.endswith("data: [DONE]\n\n")
    assert response.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("listed", ["few", "all"])
async def test_the_models_are_policies_and_indexes(listed: str) -> None:
    retriever = InMemoryRetriever({"lab": PASSAGES, "mine": (Passage("p", "t", "x"),)})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    catalog = PortsCatalog(ports, version="1", default_index="lab")
    async with (
        gateway_before(
            ScriptedAnswerer(cited_answer), catalog, default_index="lab", models=listed
        ) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        names = [each.id async for each in client.models.list()]
        assert (await client.models.retrieve("scaar/flare@lab")).id == "scaar/flare@lab"
        with pytest.raises(openai.NotFoundError, match="models are scaar, scaar/POLICY"):
            await client.models.retrieve("scaar/flare@other")
    if listed == "few":
        assert names == ["scaar", "scaar@mine", "scaar/no_retrieval"]
        return
    assert names[:2] == ["scaar", "scaar@mine"]
    assert {"scaar/flare", "scaar/flare@mine", "scaar/no_retrieval"} < set(names)
    # What cannot be served, and an index for a policy that never retrieves, are not models.
    assert not {"scaar/dragin", "scaar/filco", "scaar/no_retrieval@mine"} & set(names)


async def test_a_list_of_models_is_one_call_of_the_tenant() -> None:
    retriever = InMemoryRetriever({"mine": PASSAGES})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    limits = ServiceSettings(tenant_calls_per_s=0.001, tenant_burst=1, stop_grace_s=0.0)
    async with (
        gateway_before(
            ScriptedAnswerer(cited_answer),
            PortsCatalog(ports, version="1", default_index="lab"),
            orchestrator=limits,
        ) as url,
        AsyncOpenAI(base_url=f"{url}/v1", api_key="any", max_retries=0) as client,
    ):
        assert "scaar@mine" in [each.id async for each in client.models.list()]
        with pytest.raises(openai.RateLimitError):
            await client.models.list()


def test_settings_are_read_from_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_GATEWAY_ALLOWED_ORIGINS", '["https://a.example"]')
    monkeypatch.setenv("SCAAR_GATEWAY_CITATIONS", "markdown")
    found = GatewaySettings.read()
    assert (found.allowed_origins, found.citations) == (("https://a.example",), "markdown")
    monkeypatch.setenv("SCAAR_GATEWAY_CITATIONS", "footnotes")
    with pytest.raises(InvalidRequest, match="SCAAR_GATEWAY_CITATIONS"):
        GatewaySettings.read()


async def test_the_first_event_is_awaited_before_the_response_starts() -> None:
    answerer = ScriptedAnswerer(lambda request: [*list(cited_answer(request))[:1]])
    async with asking(answerer) as client:
        with pytest.raises(openai.APIError, match="too early"):
            await chunks_of(client)
    assert isinstance(next(iter(cited_answer(AnswerRequest("x")))), AnswerStarted)


async def test_a_conversation_arrives_as_messages() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    conversation: Any = [
        {"role": "developer", "content": "Be brief."},
        {"role": "system", "content": "Answer in English."},
        {"role": "user", "content": "Who wrote the notes?"},
        {"role": "assistant", "content": "Ada wrote them."},
        {"role": "user", "content": "And where was she born?"},
    ]
    async with asking(answerer) as client:
        await completed(client, messages=conversation)
        await completed(client, messages=conversation, extra_body={"scaar": {"rewrite": "never"}})
        await completed(client, messages=[*conversation[2:4] * 200, conversation[-1]])
        pasted: Any = {"role": "user", "content": "x " * 30_000}
        await completed(client, messages=[conversation[0], *[pasted] * 3, conversation[-1]])
    first, second, third, fourth = answerer.requests
    assert first.question == ""
    assert [(each.role.value, each.content) for each in first.messages] == [
        ("system", "Be brief.\n\nAnswer in English."),
        ("user", "Who wrote the notes?"),
        ("assistant", "Ada wrote them."),
        ("user", "And where was she born?"),
    ]
    assert (first.rewrite, second.rewrite) == (Rewrite.AUTO, Rewrite.NEVER)
    assert len(third.messages) == MAX_MESSAGES
    assert third.messages[-1].content == "And where was she born?"
    assert [each.role.value for each in fourth.messages] == ["system", "user", "user", "user"]
    assert fourth.messages[-1].content == "And where was she born?"


async def test_the_texts_of_a_chat_with_another_model_are_read_and_the_rest_is_named() -> None:
    called: Any = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    conversation: Any = [
        {"role": "user", "content": [TEXT_PART, IMAGE, {"type": "video_url", "text": 5}]},
        {"role": "assistant", "tool_calls": [called], "reasoning_content": "A clock."},
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
        {"role": "assistant", "content": "It is noon.", "thinking": "", "reasoning_details": []},
        {"role": "assistant", "content": "", "function_call": None},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Where was Ada born?", "name": "Eve", "refusal": None},
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "noon"}]},
    ]
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await completed(client, messages=conversation)
        other = await completed(client)
    assert [(each.role.value, each.content) for each in answerer.requests[0].messages] == [
        ("system", "Be brief."),
        ("user", "What time is it?"),
        ("assistant", "It is noon."),
        ("user", "Where was Ada born?"),
    ]
    assert found.model_dump()["scaar"]["ignored"] == [
        "messages.content.image_url",
        "messages.content.video_url",
        "messages.reasoning_content",
        "messages.tool",
        "messages.tool_calls",
    ]
    assert "ignored" not in other.model_dump()["scaar"]
    assert answerer.requests[0].ignored == tuple(found.model_dump()["scaar"]["ignored"])


async def test_names_of_what_is_ignored_are_few_and_fit_to_be_shown() -> None:
    parts: Any = [{"type": f"part{n}"} for n in range(100)]
    odd: Any = [{"type": "x" * 200}, {"type": "a b"}]
    said: Any = [{"role": "user", "content": [TEXT_PART, *odd, *parts]}]
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await completed(client, messages=[*said, *QUESTION])
    ignored = found.model_dump()["scaar"]["ignored"]
    assert len(ignored) == 64
    assert "messages.content.other" in ignored


@pytest.mark.parametrize(
    ("limits", "tokens", "ignored"),
    [
        ({"max_tokens": 32_000}, 8_192, ["max_tokens"]),
        ({"max_tokens": 8_192}, 8_192, None),
        ({"max_completion_tokens": 10**30}, 8_192, ["max_completion_tokens"]),
        ({"max_completion_tokens": 100, "max_tokens": 16_384}, 100, ["max_tokens"]),
    ],
)
async def test_more_tokens_than_an_answer_may_have_are_its_maximum(
    limits: dict[str, int], tokens: int, ignored: list[str] | None
) -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await completed(client, **limits)
    assert answerer.requests[0].budget.max_tokens == tokens
    assert found.model_dump()["scaar"].get("ignored") == ignored


@pytest.mark.parametrize("choice", [{}, {"tool_choice": "auto"}, {"tool_choice": "none"}])
async def test_tools_that_need_not_be_called_are_ignored(choice: dict[str, Any]) -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await completed(client, tools=[TOOL] * 36, parallel_tool_calls=True, **choice)
        stream = await client.chat.completions.create(
            model="scaar", messages=QUESTION, tools=[TOOL], functions=[{}], stream=True
        )
        chunks = [each async for each in stream]
    assert found.choices[0].message.content == TEXT
    assert found.model_dump()["scaar"]["ignored"] == ["tools"]
    assert chunks[-1].model_dump()["scaar"]["ignored"] == ["tools", "functions"]
    assert "clock" not in str(answerer.requests)


async def test_a_gateway_can_reject_tools() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer, tools="reject") as client:
        with pytest.raises(openai.BadRequestError, match="tools are not called by this server"):
            await completed(client, tools=[TOOL])
        assert answerer.opened == 0
        await completed(client, tools=[TOOL], tool_choice="none")
        await completed(client, tools=[TOOL], extra_body={"scaar": {"tools": "ignore"}})
        await completed(client, tools=[])
    assert answerer.opened == 3


TITLE = "### Task:\nGenerate a concise title summarizing the chat history.\n### Output:\nJSON"
FOUND = "### Task:\nRespond to the user query.\n<context>\nAda was born.\n</context>\nWhere?"


@pytest.mark.parametrize(
    ("text", "header", "task"),
    [
        (TITLE, "", True),
        ("### Task:\nGenerate an answer.\n<context>Ada</context>\nWhere?", "", False),
        (FOUND, "", False),
        (FOUND, "title_generation", True),
        ("Where was Ada born?", "", False),
        ("### Task: Who was Ada?", "", False),
    ],
)
async def test_tasks_of_chat_pages_are_answered_by_the_model_alone(
    text: str, header: str, task: bool
) -> None:
    answerer = ScriptedAnswerer(cited_answer)
    messages = [{"role": "user", "content": text}]
    options = {"settings": {"theta": 0.5}, "answer": "short"}
    async with asking(answerer) as client:
        found = await completed(
            client,
            model="scaar/flare@docs",
            messages=messages,
            extra_headers={"X-Scaar-Task": header},
            extra_body={"scaar": options},
        )
    (request,) = answerer.requests
    assert request.kind is (RequestKind.TASK if task else RequestKind.QUESTION)
    assert request.policy.name == ("no_retrieval" if task else "flare")
    assert request.answer is (AnswerForm.TEXT if task else AnswerForm.SHORT)
    assert request.question == text
    assert found.model_dump()["scaar"].get("kind") == ("task" if task else None)


async def test_a_question_to_the_model_alone_is_a_question() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        await completed(client, model="scaar/no_retrieval")
    assert answerer.requests[0].kind is RequestKind.QUESTION


async def test_empty_fields_ask_for_nothing() -> None:
    empty = {
        "functions": [],
        "function_call": "none",
        "audio": None,
        "prediction": None,
        "web_search_options": {},
        "stream_options": {"include_usage": None},
        "scaar": {"policy": None, "budget": {"max_tokens": None}, "colour": ""},
    }
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        found = await completed(client, extra_body=empty, stop=None, tools=None)
    assert found.choices[0].message.content == TEXT
    assert "ignored" not in found.model_dump()["scaar"]


async def test_an_answer_is_a_text_unless_the_short_form_is_requested() -> None:
    answerer = ScriptedAnswerer(cited_answer)
    async with asking(answerer) as client:
        await completed(client)
        await completed(client, extra_body={"scaar": {"answer": "short"}})
    assert [each.answer for each in answerer.requests] == [AnswerForm.TEXT, AnswerForm.SHORT]
