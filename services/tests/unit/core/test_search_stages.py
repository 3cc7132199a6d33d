"""Policies that search in a mode or rerank passages."""

from dataclasses import replace
from typing import Any

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, InvalidRequest
from scaar.core.loop.answer_state import Ports
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.types import (
    AnswerStarted,
    DenseDescription,
    DenseSettings,
    Fusion,
    HybridSettings,
    IndexDescription,
    OnFailure,
    PassagesRetrieved,
    RankedScore,
    Rerank,
    RerankSettings,
    RetrieveRequest,
    RetrieveResult,
    ScoreParts,
    SearchMode,
    SearchRequest,
)
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

from .scripted import (
    PASSAGES,
    UNSURE_OF_PARIS,
    Parts,
    RecordingQueryBuilder,
    answer_in,
    asking,
    only,
    parts,
)
from .test_dtr import Cosines, dtr

BOTH = DenseDescription("words", "1", 8, DenseSettings(words=True))
PARTS = ScoreParts(words=RankedScore(1, 2.0), rerank=0.5)


class Stages(InMemoryRetriever):
    """An index of words and vectors, whose retriever can rerank passages."""

    def __init__(
        self,
        *,
        dense: DenseDescription | None = BOTH,
        reranker: str = "reader",
        undescribed: Exception | None = None,
    ) -> None:
        super().__init__({"lab": PASSAGES})
        self._dense, self._reranker, self._undescribed = dense, reranker, undescribed

    async def describe_index(self, index: str) -> IndexDescription:
        if self._undescribed is not None:
            raise self._undescribed
        found = await super().describe_index(index)
        revision = "r1" if self._reranker else ""
        return replace(
            found, dense=self._dense, reranker=self._reranker, reranker_revision=revision
        )

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        found = await super().retrieve(replace(request, score_all=False))
        self.requests[-1] = request
        results = tuple(
            tuple(replace(each, score_parts=PARTS) for each in passages)
            for passages in found.results
        )
        return replace(found, results=results)


def asked(retriever: object) -> Parts:
    return parts(UNSURE_OF_PARIS, retriever=retriever)


async def test_a_policy_searches_in_its_mode_and_reranks() -> None:
    retriever = Stages()
    request = asking(
        "single_round",
        search_mode=SearchMode.HYBRID,
        rerank=Rerank.CROSS_ENCODER,
        rerank_depth=7,
    )
    events = await asked(retriever).events(request)
    (sent,) = retriever.requests
    assert (sent.mode, sent.hybrid, sent.rerank) == (SearchMode.HYBRID, None, RerankSettings(7))
    (found,) = only(PassagesRetrieved, events)
    assert found.passages
    assert all(each.score_parts == PARTS for each in found.passages)
    provenance = only(AnswerStarted, events)[0].provenance
    assert (provenance.reranker, provenance.reranker_revision) == ("reader", "r1")
    policy = provenance.policy
    assert (policy.search_mode, policy.rerank, policy.rerank_depth) == (
        SearchMode.HYBRID,
        Rerank.CROSS_ENCODER,
        7,
    )


async def test_a_published_policy_searches_as_the_index_was_built() -> None:
    retriever = Stages()
    events = await asked(retriever).events(asking("single_round"))
    (sent,) = retriever.requests
    assert (sent.mode, sent.hybrid, sent.rerank) == (SearchMode.INDEX, None, None)
    assert only(AnswerStarted, events)[0].provenance.reranker == ""


@pytest.mark.parametrize(
    ("settings", "retriever", "message", "missing"),
    [
        (
            {"search_mode": SearchMode.HYBRID},
            {"dense": None},
            "'lab' cannot be searched in mode hybrid; its modes: words;",
            "mode_hybrid",
        ),
        (
            {"search_mode": SearchMode.WORDS},
            {"dense": replace(BOTH, settings=DenseSettings())},
            "'lab' cannot be searched in mode words; its modes: vectors;",
            "mode_words",
        ),
        (
            {"rerank": Rerank.CROSS_ENCODER},
            {"reranker": ""},
            "'lab' cannot be reranked: the retriever has no cross-encoder",
            "reranker",
        ),
    ],
)
async def test_what_the_index_cannot_do_is_refused_before_any_work(
    settings: dict[str, Any], retriever: dict[str, Any], message: str, missing: str
) -> None:
    ports = asked(Stages(**retriever))
    with pytest.raises(CapabilityMissing, match=message) as caught:
        await ports.events(asking("scaar", **settings))
    assert caught.value.metadata == {"index": "lab", "missing": missing}
    assert ports.generator.requests == []


async def test_an_index_that_cannot_be_described_is_refused_for_a_mode() -> None:
    ports = asked(Stages(undescribed=BackendUnavailable("gone")))
    request = asking("scaar", search_mode=SearchMode.VECTORS)
    with pytest.raises(BackendUnavailable):
        await ports.events(replace(request, on_failure=OnFailure.ACCEPT_DRAFT))
    assert ports.generator.requests == []


async def test_a_policy_that_never_retrieves_has_no_stages() -> None:
    with pytest.raises(InvalidRequest, match="policy no_retrieval has no such setting"):
        await asked(Stages()).events(asking("no_retrieval", rerank=Rerank.CROSS_ENCODER))


async def test_a_depth_without_reranking_has_no_effect() -> None:
    with pytest.raises(InvalidRequest, match="rerank_depth: has no effect with rerank none"):
        await asked(Stages()).events(asking("scaar", rerank_depth=9))
    request = asking("scaar", rerank=Rerank.CROSS_ENCODER, rerank_depth=101)
    with pytest.raises(InvalidRequest, match="rerank_depth: must be 1 to 100"):
        await asked(Stages()).events(request)


async def test_fusion_by_cosines_searches_the_vectors() -> None:
    retriever = Cosines(dense=BOTH)
    events = await dtr(retriever).events(asking("dtr"))
    assert answer_in(events).answer == "London"
    (sent,) = retriever.requests
    assert (sent.mode, sent.score_all) == (SearchMode.VECTORS, True)


@pytest.mark.parametrize(
    "settings",
    [
        {"search_mode": SearchMode.WORDS},
        {"search_mode": SearchMode.HYBRID},
        {"rerank": Rerank.CROSS_ENCODER},
    ],
)
async def test_fusion_by_cosines_takes_no_other_scores(settings: dict[str, Any]) -> None:
    (name,) = settings
    match = f"policy.{name}: cannot be combined with fusion angles"
    with pytest.raises(InvalidRequest, match=match):
        await dtr(Cosines(dense=BOTH)).events(asking("dtr", **settings))
    by_rank = asking("dtr", fusion=Fusion.RANK, **settings)
    retriever = Stages()
    assert answer_in(await dtr(retriever).events(by_rank)).answer == "London"
    assert len(retriever.requests[0].queries) == 2


async def test_a_search_of_the_catalog_has_the_stages_of_its_request() -> None:
    retriever = Stages()
    ports = Ports(
        ScriptedGenerator(UNSURE_OF_PARIS), ScriptedScorer({}), RecordingQueryBuilder(), retriever
    )
    catalog = PortsCatalog(ports, version="1", default_index="lab")
    hybrid, rerank = HybridSettings(rrf_k=9), RerankSettings(5)
    request = SearchRequest("Ada", mode=SearchMode.HYBRID, hybrid=hybrid, rerank=rerank)
    found = await catalog.search(request)
    assert all(each.score_parts == PARTS for each in found.passages)
    (sent,) = retriever.requests
    assert (sent.mode, sent.hybrid, sent.rerank) == (SearchMode.HYBRID, hybrid, rerank)
    with pytest.raises(InvalidRequest, match="hybrid.rrf_k: must be 1 to 1,000"):
        await catalog.search(replace(request, hybrid=HybridSettings(rrf_k=0)))
