import pytest

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.types import Passage, RerankSettings, SearchMode
from scaar.evaluator.studies.retrieval.rankings import Stages, rank
from scaar.evaluator.studies.retrieval.topics import Topic
from scaar.testing.fakes import InMemoryRetriever

TOPIC = Topic("q", "volcano", {"p-0249": 1})


def retriever(passages: int, id_format: str = "p-{:04}") -> InMemoryRetriever:
    # The scores are equal, so the passages are ordered by id.
    found = [Passage(id_format.format(number), "", "volcano") for number in range(passages)]
    return InMemoryRetriever({"geo": found})


async def test_a_ranking_deeper_than_a_search_excludes_what_was_found() -> None:
    fake = retriever(250)
    ranking = (await rank(fake, "geo", [TOPIC], depth=230))["q"]
    assert [request.top_k for request in fake.requests] == [100, 100, 30]
    assert ranking == tuple(f"p-{number:04}" for number in range(230))


async def test_a_ranking_ends_with_the_last_passage_that_a_search_finds() -> None:
    fake = retriever(120)
    ranked = []
    ranking = (await rank(fake, "geo", [TOPIC], depth=1_000, on_ranked=ranked.append))["q"]
    assert (len(ranking), len(fake.requests), ranked) == (120, 2, [TOPIC])


async def test_a_ranking_is_searched_by_its_stages() -> None:
    fake = retriever(120)
    stages = Stages(SearchMode.WORDS)
    await rank(fake, "geo", [TOPIC], depth=110, stages=stages)
    assert {request.mode for request in fake.requests} == {SearchMode.WORDS}
    with pytest.raises(CapabilityMissing, match="'geo' cannot be searched in mode hybrid"):
        await rank(fake, "geo", [TOPIC], depth=10, stages=Stages(SearchMode.HYBRID))
    with pytest.raises(InvalidRequest, match="must be at most 100 for a hybrid or reranked"):
        await rank(fake, "geo", [TOPIC], depth=101, stages=Stages(rerank=RerankSettings()))


@pytest.mark.parametrize("depth", [0, 1_001])
async def test_the_depth_is_bounded(depth: int) -> None:
    with pytest.raises(InvalidRequest, match="depth: must be 1 to 1,000"):
        await rank(retriever(1), "geo", [TOPIC], depth=depth)


async def test_ids_too_long_for_the_exclusions_are_reported_with_the_possible_depth() -> None:
    fake = retriever(200, "a" * 396 + "{:04}")
    with pytest.raises(InvalidRequest, match="depth: must be at most 100: the ids of more passag"):
        await rank(fake, "geo", [TOPIC], depth=150)
    assert len((await rank(fake, "geo", [TOPIC], depth=100))["q"]) == 100
