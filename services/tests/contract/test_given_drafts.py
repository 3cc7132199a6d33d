"""The judgement of given drafts, by the loop itself and over sockets."""

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scaar.client import Client, open_client
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound, PromptTooLong
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import DraftJudge
from scaar.core.types import (
    BudgetLimits,
    Capability,
    ContinuationKind,
    DraftJudgement,
    GenerateRequest,
    JudgeDraftRequest,
    LogprobsRequest,
    Message,
    MessageRole,
    ModelDescription,
    Passage,
    PolicyOverrides,
    PolicyRequest,
    TextLogprobs,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import TRANSPORTS, serving
from scaar.v1 import orchestrator_pb2, orchestrator_pb2_grpc
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer

QUESTION = "Where was Ada born?"
FLARE = PolicyRequest("flare", PolicyOverrides(theta=0.5))
"""With the scripted probabilities, words of six characters and more are uncertain."""
CERTAIN, UNCERTAIN = "Ada was born.", "She was in Paris."


class ReadingGenerator(ScriptedGenerator):
    """A generator whose given texts have the log-probability -0.1 per character.

    A text that starts with a space is likelier than one without if ``spaced``. ``read`` are the
    given texts.
    """

    def __init__(
        self,
        *,
        spaced: bool = True,
        model: ModelDescription = SAMPLED_MODEL,
        error: Exception | None = None,
    ) -> None:
        super().__init__(rewritten, model=model)
        self._spaced = spaced
        self._error = error
        self.read = list[str]()

    async def compute_logprobs(self, request: LogprobsRequest) -> TextLogprobs:
        self.read.append(request.text)
        if self._error is not None:
            raise self._error
        found = await super().compute_logprobs(request)
        first, *others = found.tokens
        if self._spaced and not request.text.startswith(" "):
            first = replace(first, logprob=-5.0)
        return replace(found, tokens=(first, *others))


def rewritten(request: GenerateRequest) -> list[Piece]:
    return [(" Where was Ada Lovelace born?\n", -0.1)]


def ports_of(generator: ScriptedGenerator) -> Ports:
    passages = (Passage("p1", "Ada", "Ada was born in London."),)
    retriever = InMemoryRetriever({"lab": passages})
    return Ports(generator, ScriptedScorer({"Paris.": 0.5}), LocalQueryBuilder(), retriever)


@asynccontextmanager
async def judge_by(transport: str, ports: Ports) -> AsyncIterator[DraftJudge]:
    """Yield the loop, or a client of it over gRPC."""
    loop = AdaptiveLoop(ports, default_index="lab")
    if transport == "embedded":
        yield loop
        return
    async with serving(OrchestratorServicer(loop, judge=loop)) as (channel, target):
        yield RemoteAnswerer(channel, target)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def judged(
    transport: str, draft: str, generator: ScriptedGenerator | None = None, **fields: Any
) -> DraftJudgement:
    request = JudgeDraftRequest(**{"question": QUESTION, "draft": draft, "policy": FLARE} | fields)
    async with judge_by(transport, ports_of(generator or ReadingGenerator())) as judge:
        return await judge.judge_draft(request)


def texts(found: DraftJudgement) -> Sequence[str]:
    return [each.text for each in found.sentences]


async def test_sentences_are_judged_up_to_the_first_with_a_retrieval(transport: str) -> None:
    ports = ports_of(generator := ReadingGenerator())
    request = JudgeDraftRequest(QUESTION, f"{CERTAIN} {UNCERTAIN} The end.", policy=FLARE)
    async with judge_by(transport, ports) as judge:
        found = await judge.judge_draft(request)
    assert texts(found) == [f" {CERTAIN}", f" {UNCERTAIN}"]
    assert [each.sentence for each in found.sentences] == [0, 1]
    assert [each.retrieving for each in found.sentences] == [False, True]
    last = found.sentences[-1]
    assert [each.text for each in last.words if each.uncertain] == ["Paris."]
    assert last.words[3].probability == pytest.approx(math.exp(-0.7))
    assert found.retrieving
    assert found.query is not None
    assert found.query.text == "She was in"
    assert not found.concluding
    # Nothing is retrieved or written: both readings are those of the space before the draft.
    assert isinstance(ports.retriever, InMemoryRetriever)
    assert (ports.retriever.requests, generator.requests) == ([], [])
    assert (found.usage.retrievals, found.usage.generated_tokens, found.usage.llm_calls) == (
        0,
        0,
        2,
    )
    assert found.usage.prompt_tokens > 20
    assert found.provenance.policy.name == "flare"
    assert found.provenance.request_id


async def test_a_certain_draft_has_no_query(transport: str) -> None:
    found = await judged(transport, CERTAIN)
    assert texts(found) == [f" {CERTAIN}"]
    assert (found.retrieving, found.query) == (False, None)


async def test_the_accepted_text_is_read_and_not_judged(transport: str) -> None:
    generator = ReadingGenerator()
    found = await judged(transport, f"{CERTAIN}\n", generator, accepted=f" {UNCERTAIN}")
    assert generator.read == [f" {UNCERTAIN} {CERTAIN}"]
    assert [(each.sentence, each.text) for each in found.sentences] == [(1, f" {CERTAIN}")]
    assert not found.retrieving


@pytest.mark.parametrize(
    ("spaced", "draft", "expected"),
    [
        (True, CERTAIN, f" {CERTAIN}"),
        (False, CERTAIN, CERTAIN),
        (False, f" {CERTAIN}", f" {CERTAIN}"),
        (True, f"\n{CERTAIN}", f"\n{CERTAIN}"),
    ],
)
async def test_a_draft_starts_with_the_space_that_the_model_would_write(
    transport: str, *, spaced: bool, draft: str, expected: str
) -> None:
    found = await judged(transport, draft, ReadingGenerator(spaced=spaced))
    assert texts(found) == [expected]


async def test_no_space_is_added_between_sentences_of_chinese(transport: str) -> None:
    generator = ReadingGenerator()
    await judged(transport, "她住在巴黎。", generator, accepted=" 她生于伦敦。")
    assert generator.read == [" 她生于伦敦。她住在巴黎。"]


async def test_the_answer_phrase_ends_the_judgement(transport: str) -> None:
    found = await judged(transport, f"{CERTAIN} So the answer is London. {UNCERTAIN}")
    assert texts(found) == [f" {CERTAIN}"]
    assert (found.concluding, found.retrieving) == (True, False)


async def test_without_a_retrieval_in_the_budget_every_sentence_is_judged(transport: str) -> None:
    draft = f"{UNCERTAIN} {UNCERTAIN}"
    found = await judged(transport, draft, budget=BudgetLimits(max_retrievals=0))
    assert texts(found) == [f" {UNCERTAIN}"] * 2
    assert [each.trigger for each in found.sentences] == [3, 3]
    assert (found.retrieving, found.query) == (False, None)


async def test_no_gate_is_consulted(transport: str) -> None:
    generator = ReadingGenerator()
    overrides = PolicyOverrides(theta=0.5, gate="targ", gate_threshold=0.5)
    found = await judged(transport, UNCERTAIN, generator, policy=PolicyRequest("flare", overrides))
    assert found.retrieving
    assert generator.requests == []


async def test_the_question_of_a_conversation_is_rewritten(transport: str) -> None:
    messages = (
        Message(MessageRole.USER, "Who was Ada Lovelace?"),
        Message(MessageRole.ASSISTANT, "A mathematician."),
        Message(MessageRole.USER, "Where was she born?"),
    )
    generator = ReadingGenerator()
    found = await judged(
        transport, UNCERTAIN, generator, question="", messages=messages, prompt_profile="scaar"
    )
    assert found.question == "Where was Ada Lovelace born?"
    assert found.retrieving
    assert len(generator.requests) == 1


@pytest.mark.parametrize(
    ("fields", "field", "limit"),
    [
        ({"draft": " \n"}, "draft", "must not be empty"),
        ({"draft": "a\x00b"}, "draft", "control character"),
        ({"draft": "a" * 8_001}, "draft", "at most 8,000 characters, not 8,001"),
        ({"accepted": "a" * 32_769}, "accepted", "at most 32,768 characters, not 32,769"),
        ({"accepted": "a\x00b"}, "accepted", "control character"),
        ({"question": ""}, "question", "must not be empty"),
        ({"index": "no name"}, "index", "must be 1 to 64"),
        (
            {"accepted": CERTAIN, "budget": BudgetLimits(max_sentences=1)},
            "draft",
            "at most 1 sentences together with accepted, not 2",
        ),
        ({"policy": PolicyRequest("single_round")}, "policy", "judges no drafts; .* scaar"),
    ],
)
async def test_a_wrong_field_is_named_before_any_work(
    transport: str, fields: dict[str, Any], field: str, limit: str
) -> None:
    generator = ReadingGenerator()
    with pytest.raises(InvalidRequest, match=limit) as caught:
        await judged(transport, **{"draft": CERTAIN, "generator": generator} | fields)
    assert field in [each.field for each in caught.value.violations]
    assert generator.read == []


async def test_a_sentence_longer_than_the_model_writes_is_rejected(transport: str) -> None:
    with pytest.raises(InvalidRequest, match="sentence 1 must have at most 128 tokens, not 129"):
        await judged(transport, f"{CERTAIN} It {'was ' * 127}so.")


async def test_texts_beyond_the_context_are_an_error_of_the_draft(transport: str) -> None:
    generator = ReadingGenerator(error=PromptTooLong.of("prompt", "must be at most 9 tokens"))
    with pytest.raises(PromptTooLong, match="draft: must fit .* at most 9 tokens"):
        await judged(transport, CERTAIN, generator)


_TEXTS = st.text(
    st.sampled_from(
        ["a", "B", ".", "!", " ", "\n", "东", "。", "é", "\u200b", '"', "1", "\U0001f600"]
    ),
    max_size=30,
)


@given(
    accepted=_TEXTS.filter(lambda text: not text or text.strip()), draft=_TEXTS.filter(str.strip)
)
@example(accepted=" A.", draft="B. ")
def test_every_letter_of_a_draft_is_judged_and_none_before_it(accepted: str, draft: str) -> None:
    loop = AdaptiveLoop(ports_of(ReadingGenerator()), default_index="lab")
    limits = BudgetLimits(max_retrievals=0, max_sentences=100)
    request = JudgeDraftRequest(QUESTION, draft, accepted, FLARE, budget=limits)
    found = asyncio.run(loop.judge_draft(request))
    # A sentence without a letter or a digit has nothing to judge.
    assert list(filter(str.isalnum, "".join(texts(found)))) == list(filter(str.isalnum, draft))
    for sentence in found.sentences:
        for word in sentence.words:
            assert sentence.text[word.start : word.end] == word.text


def without(capability: Capability) -> ModelDescription:
    return replace(SAMPLED_MODEL, capabilities=SAMPLED_MODEL.capabilities - {capability})


@pytest.mark.parametrize(
    ("model", "policy", "missing"),
    [
        (SCRIPTED_MODEL, "flare", "a given draft needs text_logprobs, which model scripted"),
        (without(Capability.LOGPROBS), "flare", "policy flare needs logprobs"),
        (SAMPLED_MODEL, "mean_entropy", "policy mean_entropy needs entropy"),
        (SAMPLED_MODEL, "dragin", "policy dragin needs attention, entropy"),
        (
            replace(SAMPLED_MODEL, continuation=ContinuationKind.RESTATED),
            "flare",
            "a given draft needs a model that continues the exact text",
        ),
    ],
)
async def test_a_model_that_cannot_judge_is_refused_before_it_reads(
    transport: str, model: ModelDescription, policy: str, missing: str
) -> None:
    generator = ReadingGenerator(model=model)
    with pytest.raises(CapabilityMissing, match=missing):
        await judged(transport, CERTAIN, generator, policy=PolicyRequest(policy))
    assert generator.read == []


async def test_evidence_that_an_engine_lacks_for_given_texts_is_named(transport: str) -> None:
    error = InvalidRequest.of("top_tokens", "must be 0 to 0, not 2")
    policy = PolicyRequest("flare", PolicyOverrides(trigger="margin", theta=0.5))
    with pytest.raises(CapabilityMissing, match="margin needs the most probable tokens"):
        await judged(transport, CERTAIN, ReadingGenerator(error=error), policy=policy)


async def test_a_missing_index_is_an_error_as_for_an_answer(transport: str) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await judged(transport, CERTAIN, index="nowhere")


async def test_the_request_id_is_that_of_the_metadata() -> None:
    loop = AdaptiveLoop(ports_of(ReadingGenerator()), default_index="lab")
    request = orchestrator_pb2.JudgeDraftRequest(question=QUESTION, draft=CERTAIN)
    async with serving(OrchestratorServicer(loop, judge=loop)) as (channel, _):
        stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
        call = stub.JudgeDraft(request, metadata=(("x-request-id", "r-7"),))
        response = await call
        assert ("x-request-id", "r-7") in tuple(await call.initial_metadata())
    assert response.provenance.request_id == "r-7"


async def test_an_orchestrator_without_a_judge_refuses_drafts() -> None:
    async with serving(OrchestratorServicer(ScriptedAnswerer(lambda _: ()))) as (channel, _):
        stub = orchestrator_pb2_grpc.OrchestratorServiceStub(channel)
        request = orchestrator_pb2.JudgeDraftRequest(question=QUESTION, draft=CERTAIN)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.JudgeDraft(request)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_the_client_judges_a_draft_with_overrides() -> None:
    loop = AdaptiveLoop(ports_of(ReadingGenerator()), default_index="lab")
    async with (
        serving(OrchestratorServicer(loop, judge=loop)) as (_, target),
        open_client(target) as scaar,
    ):
        assert isinstance(scaar, Client)
        found = await scaar.judge_draft(QUESTION, draft=UNCERTAIN, policy="flare", theta=0.5)
        certain = await scaar.judge_draft(QUESTION, draft=UNCERTAIN, policy="flare", theta=0.1)
    assert (found.retrieving, certain.retrieving) == (True, False)
