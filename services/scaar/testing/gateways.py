"""Gateways over sockets on loopback, in front of orchestrators with scripted answers."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from scaar.core.errors import BackendUnavailable
from scaar.core.observers import UNOBSERVED_REQUESTS, RequestObserver
from scaar.core.ports import Answerer, Catalog, DraftJudge
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    UNSUPPORTED,
    Abstention,
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    EffectivePolicy,
    GateJudged,
    JudgedWord,
    MetadataField,
    Moment,
    Passage,
    PassagesRetrieved,
    Provenance,
    Query,
    QueryBuilt,
    QuerySettings,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Token,
    TokenDrafted,
    Usage,
)
from scaar.gateway.server import open_gateway
from scaar.gateway.settings import GatewaySettings
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.status import status_of

DRAFT = " Ada was born in Paris."
SENTENCES = (
    AcceptedSentence(" Ada was born in London.", ("p1", "p2"), supporting_passage_ids=("p1", "p2")),
    AcceptedSentence(" So the answer is London.", concluding=True),
)
TEXT = "Ada was born in London. So the answer is London."
URL = "https://example.com/ada"
GATEWAY = "https://scaar.example.com/gateway"
"""URL of gateways whose links do not depend on their port."""
PASSAGES = (
    Passage("p1", "Ada", "Ada was born in London.", (MetadataField("url", (URL,)),)),
    Passage("p2", "Byron & <co>", "Byron was born in London too."),
)
PROVENANCE = Provenance(
    "made",
    "lm",
    "1",
    "fake",
    "",
    "",
    "lab",
    "v1",
    "lab",
    EffectivePolicy(
        "scaar", (Moment.UNCERTAIN_DRAFT,), 0.25, 1.0, QuerySettings("pfq", True), 3, "flare"
    ),
)


def cited_answer(request: AnswerRequest) -> Iterator[AnswerEvent]:
    """Yield the events of an answer whose first sentence is rewritten from two passages."""
    provenance = replace(PROVENANCE, request_id=request.request_id, index=request.index or "lab")
    found = tuple(
        RetrievedPassage(each.id, each.title, each.text, 1.0, rank, each.metadata)
        for rank, each in enumerate(PASSAGES, 1)
    )
    word = JudgedWord("Paris.", 16, 22, 0.1, 0.25, True)
    yield AnswerStarted(provenance)
    yield TokenDrafted(0, Token(1, DRAFT, 0, len(DRAFT), -0.1))
    yield SentenceJudged(0, DRAFT, (word,), 0, True)
    yield QueryBuilt(0, Query("Where was Ada born?", "pfq", (0,)))
    yield PassagesRetrieved(0, provenance.index, "v1", found)
    yield SentenceRegenerated(0, DRAFT, SENTENCES[0].text)
    start = 0
    for number, sentence in enumerate(SENTENCES):
        yield SentenceAccepted(number, sentence, start, start + len(sentence.text))
        start += len(sentence.text)
    usage = Usage(1, 3, 20, 30, 4.0, searches=1, thinking_tokens=2)
    end = AnswerEnd.ANSWER_PHRASE
    yield AnswerFinished(Answer("London", SENTENCES, end, usage, provenance, PASSAGES))


def abstaining_answer(request: AnswerRequest) -> Iterator[AnswerEvent]:
    """Yield the events of an answer that should not be given, as a gate judges."""
    for event in cited_answer(request):
        if isinstance(event, SentenceAccepted) and event.sentence == 0:
            yield GateJudged("p_correct", "scaar", 0.2, 0.5, {})
        if isinstance(event, AnswerFinished):
            event = AnswerFinished(replace(event.answer, abstained=Abstention(0.12, 0.3)))
        yield event


def unsupported_answer(request: AnswerRequest) -> Iterator[AnswerEvent]:
    """Yield the events of an answer that says what no passage that was read has."""
    for event in cited_answer(request):
        if isinstance(event, AnswerStarted):
            policy = replace(event.provenance.policy, moments=(Moment.AFTER_ANSWER,))
            event = AnswerStarted(replace(event.provenance, policy=policy))
        if isinstance(event, SentenceJudged):
            event = replace(event, retrieving=False)
        if isinstance(event, AnswerFinished):
            event = AnswerFinished(replace(event.answer, abstained=UNSUPPORTED))
        yield event


def refusing_answer(request: AnswerRequest) -> Iterator[AnswerEvent]:
    """Yield the events of an answer whose model found no answer in the passages."""
    for event in cited_answer(request):
        if isinstance(event, AnswerFinished):
            event = AnswerFinished(replace(event.answer, abstained=NOT_IN_DOCUMENTS))
        yield event


def failing_answer(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
    """Yield the events of an answer that fails after its first sentence."""
    for event in cited_answer(request):
        if isinstance(event, SentenceAccepted) and event.sentence == 1:
            yield BackendUnavailable("the retriever is gone")
        yield event


@asynccontextmanager
async def gateway_before(
    answerer: Answerer,
    catalog: Catalog | None = None,
    *,
    judge: DraftJudge | None = None,
    orchestrator: ServiceSettings | None = None,
    observer: RequestObserver = UNOBSERVED_REQUESTS,
    **settings: Any,
) -> AsyncIterator[str]:
    """Serve an orchestrator and a gateway before it; yield the URL of the gateway.

    ``orchestrator`` has the settings of the orchestrator's server, ``settings`` are the gateway's.
    """
    behind = orchestrator or ServiceSettings(stop_grace_s=0.0)
    servicer = OrchestratorServicer(answerer, catalog, judge=judge)
    async with open_server([servicer], "127.0.0.1:0", behind, status_of=status_of) as server:
        made = GatewaySettings(
            **{"address": "127.0.0.1:0", "stop_grace_s": 0.0, **settings},
            orchestrator_target=f"dns:///{server.target}",
        )
        async with open_gateway(made, observer=observer) as gateway:
            yield gateway
