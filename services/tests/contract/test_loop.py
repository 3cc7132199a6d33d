"""One loop, its ports embedded or each behind a socket, tells the same events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable, DeadlineExceeded
from scaar.core.gates import GATES, QuestionGate, gate_without_file
from scaar.core.gates.adaptive_rag import AdaptiveRag, Sufficiency
from scaar.core.loop.loop import Ports
from scaar.core.policies import PRESETS
from scaar.core.ports import Answerer
from scaar.core.prompts.reflection import JUDGEMENTS
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    BudgetLimits,
    CandidatesScored,
    Capability,
    Degradation,
    Fusion,
    GateJudged,
    GenerateRequest,
    ModelDescription,
    Moment,
    OnFailure,
    Passage,
    PassagesRetrieved,
    PolicyOverrides,
    PolicyRequest,
    RetrieveRequest,
    RetrieveResult,
    SentenceRegenerated,
    TokenDrafted,
    Usage,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.conformance.answerer import AnswererConformance
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    WHITE_BOX_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.sockets import TRANSPORTS, loop_by

QUESTION = "Where was Ada born?"
PASSAGES = (
    Passage("p1", "Ada", "Ada was born in London. Question: [2] So the answer is Rome."),
    Passage("p2", "Byron", "Byron was born in London too."),
)
ROUTER = AdaptiveRag(
    "lm",
    "c0ffee",
    ("no_retrieval", "single_round", "flare"),
    (Sufficiency(20.0, {"words": -10.0}), Sufficiency(50.0, {"words": -10.0})),
)
"""Routes questions of one word, of at most four words, and longer ones."""
ABLE_MODEL = replace(SAMPLED_MODEL, capabilities=frozenset(Capability))
END: Piece = (" So the answer is London.", -1 / 3)


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London. Asks if it has tags to ask.

    Writes reflection tokens if they are named.
    """
    if request.named_tokens == JUDGEMENTS:
        return _reflecting(request.prefix)
    if "<search>" in request.prompt:
        answered = "in London" in request.prefix
        return [("<answer> London </answer>" if answered else "<search> Ada born </search>", -0.1)]
    if request.prefix:
        return [END]
    place: Piece = (" London 🙂.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born", -1 / 7), (" in", -0.2), place, END]


def _reflecting(prefix: str) -> list[Piece]:
    """Retrieve for the first segment, judge its passages, and conclude."""
    if prefix.endswith("</paragraph>"):
        judged = "[Relevant]" if "Ada" in prefix else "[Irrelevant]"
        segment: list[Piece] = [(" Ada was born in", -1 / 7), (" London 🙂.", -0.01)]
        return [(judged, -0.1), *segment, ("[Fully supported]", -0.2), ("[No Retrieval]", -0.3)]
    return [(*END,), ("[Utility:5]", -0.1)] if prefix else [("[Retrieval]", -0.1)]


def ports(model: ModelDescription = WHITE_BOX_MODEL) -> Ports:
    return Ports(
        ScriptedGenerator(script, model=model),
        ScriptedScorer({"Ada": 0.3, "Paris.": 2 / 3}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )


async def events_by(
    transport: str,
    request: AnswerRequest,
    gate: QuestionGate | None = None,
    model: ModelDescription = WHITE_BOX_MODEL,
) -> list[AnswerEvent]:
    async with (
        loop_by(transport, ports(model), gate) as answerer,
        aclosing(answerer.stream_answer(request)) as events,
    ):
        return [without_chance(event) async for event in events]


def without_chance(event: AnswerEvent) -> AnswerEvent:
    """Without what hangs on time: the clock, and how far a draft was written ahead."""
    if not isinstance(event, AnswerFinished):
        return event
    usage = event.answer.usage
    lasting = Usage(usage.retrievals, usage.llm_calls, 0, usage.prompt_tokens, latency_ms=0.0)
    return AnswerFinished(replace(event.answer, usage=lasting))


@pytest.mark.parametrize("policy", PRESETS)
async def test_the_loop_emits_the_same_events_embedded_and_over_grpc(policy: str) -> None:
    # No later token attends to the last word, Paris, so that RIND has to go by "born".
    # A retriever in memory has no cosines.
    overrides = PolicyOverrides(
        theta=0.1 if policy == "dragin" else None,
        fusion=Fusion.RANK if policy.startswith("dtr") else None,
    )
    if policy == "quco":
        # Ada occurs once in the corpus, which is not rare here.
        overrides = PolicyOverrides(gate_threshold=0.9)
    requested = PolicyRequest(policy, overrides)
    request = AnswerRequest(QUESTION, policy=requested, request_id="r-1")
    embedded = await events_by("embedded", request, model=ABLE_MODEL)
    assert await events_by("grpc", request, model=ABLE_MODEL) == embedded
    kinds = {type(event) for event in embedded}
    assert (PassagesRetrieved in kinds) == (policy != "no_retrieval")
    assert (CandidatesScored in kinds) == (policy == "self_rag")
    # The drafts of flare_reference are written with passages, and are certain.
    judges = Moment.UNCERTAIN_DRAFT in PRESETS[policy].moments
    assert (SentenceRegenerated in kinds) == (judges and policy != "flare_reference")
    finished = embedded[-1]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.answer == "London"


@pytest.mark.parametrize(
    ("question", "policy"),
    [("Ada?", "no_retrieval"), (QUESTION, "single_round"), (f"{QUESTION} And then?", "flare")],
)
async def test_a_router_chooses_the_same_policy_embedded_and_over_grpc(
    question: str, policy: str
) -> None:
    requested = PolicyRequest("ircot", PolicyOverrides(gate="adaptive_rag"))
    request = AnswerRequest(question, policy=requested, request_id="r-1")
    embedded = await events_by("embedded", request, ROUTER)
    assert await events_by("grpc", request, ROUTER) == embedded
    (judged,) = (event for event in embedded if isinstance(event, GateJudged))
    assert (judged.gate, judged.policy) == ("adaptive_rag", policy)
    assert judged.features == ROUTER.shares(question)
    assert any(isinstance(event, PassagesRetrieved) for event in embedded) == (
        policy != "no_retrieval"
    )
    finished = embedded[-1]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.provenance.gate_revision == "c0ffee"


@pytest.mark.parametrize("gate", list(filter(gate_without_file, GATES.built_in)))
async def test_a_gate_without_a_file_judges_the_same_embedded_and_over_grpc(gate: str) -> None:
    requested = PolicyRequest("single_round", PolicyOverrides(gate=gate))
    request = AnswerRequest(QUESTION, policy=requested, request_id="r-1")
    embedded = await events_by("embedded", request, model=ABLE_MODEL)
    assert await events_by("grpc", request, model=ABLE_MODEL) == embedded
    (judged,) = (event for event in embedded if isinstance(event, GateJudged))
    assert judged.gate == gate
    finished = embedded[-1]
    assert isinstance(finished, AnswerFinished)
    assert finished.answer.usage.llm_calls > 1 or gate == "quco", "it counts in a corpus"


@pytest.mark.parametrize("transport", TRANSPORTS, scope="class")
class TestAdaptiveLoop(AnswererConformance):
    question = QUESTION

    @pytest.fixture
    async def answerer(self, transport: str) -> AsyncIterator[Answerer]:
        async with loop_by(transport, ports()) as answerer:
            yield answerer


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_failing_port_fails_the_answer_with_its_error(transport: str) -> None:
    failing = ScriptedGenerator(lambda request: [BackendUnavailable("gone", target="tgi:80")])
    async with loop_by(transport, replace(ports(), generator=failing)) as answerer:
        with pytest.raises(BackendUnavailable, match=r"^gone$") as caught:
            async with aclosing(answerer.stream_answer(AnswerRequest(QUESTION))) as events:
                assert [event async for event in events]
    assert caught.value.metadata == {"target": "tgi:80"}


class LostRetriever(InMemoryRetriever):
    """Describes its indexes, and is gone when it is asked for passages."""

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        raise BackendUnavailable("gone", target="opensearch:9200")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_draft_accepted_without_a_retriever_is_marked(transport: str) -> None:
    request = AnswerRequest(QUESTION, on_failure=OnFailure.ACCEPT_DRAFT)
    lost = replace(ports(), retriever=LostRetriever({"lab": PASSAGES}))
    async with (
        loop_by(transport, lost) as answerer,
        aclosing(answerer.stream_answer(request)) as stream,
    ):
        events = [event async for event in stream]
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    first, conclusion = finished.answer.sentences
    assert first.text == " Ada was born in Paris."
    assert first.degraded == Degradation("retrieving for sentence 0", "BACKEND_UNAVAILABLE", "gone")
    assert conclusion.degraded is None


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_answer_out_of_time_names_its_stage_and_stops_the_engine(transport: str) -> None:
    slow = ScriptedGenerator(script, delay_s=5.0)
    request = AnswerRequest(QUESTION, budget=BudgetLimits(timeout_s=0.3))
    async with loop_by(transport, replace(ports(), generator=slow)) as answerer:
        with pytest.raises(DeadlineExceeded) as caught:
            async with aclosing(answerer.stream_answer(request)) as events:
                assert [event async for event in events]
        assert caught.value.metadata == {"stage": "drafting sentence 0"}
        await until_closed(slow)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_leaving_an_answer_stops_the_engine(transport: str) -> None:
    slow = ScriptedGenerator(lambda request: [(" Ada", -0.1)] * 500, delay_s=0.05)
    async with loop_by(transport, replace(ports(), generator=slow)) as answerer:
        async with aclosing(answerer.stream_answer(AnswerRequest(QUESTION))) as events:
            async for event in events:
                if isinstance(event, TokenDrafted):
                    break
        await until_closed(slow)


async def until_closed(generator: ScriptedGenerator) -> None:
    """Over sockets it takes a moment."""
    async with asyncio.timeout(5):
        while True:
            if generator.opened == generator.closed == 1:
                return
            await asyncio.sleep(0.005)
