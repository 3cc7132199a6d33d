"""The lab's reranker, on a world that it was not trained on."""

from pathlib import Path

import pytest

from record.reranking import recalls
from scaar.compose import ensure_lab_index_in, open_indexes
from scaar.core.types import RerankSettings, RetrieveRequest, SearchMode
from scaar.lab.models import LAB_RERANKER
from scaar.lab.world import build_world

WORLD = build_world(4241)


async def test_reranking_finds_the_drafted_fact_despite_a_wrong_value() -> None:
    found = await recalls(WORLD, count=40)
    first, third = found["drafts", SearchMode.WORDS, True]
    alone, alone_third = found["drafts", SearchMode.WORDS, False]
    assert first > alone + 0.3
    assert third >= alone_third


async def test_the_reranker_is_selected_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCAAR_HOME", str(tmp_path))
    monkeypatch.setenv("SCAAR_RETRIEVER_RERANKER", LAB_RERANKER)
    async with open_indexes() as indexes:
        await ensure_lab_index_in(indexes)
        assert (await indexes.describe_index("lab")).reranker == LAB_RERANKER
        request = RetrieveRequest(("The Drowned Bridge",), 3, "lab", rerank=RerankSettings())
        ((best, *_),) = (await indexes.retrieve(request)).results
        assert best.score_parts is not None
        assert best.score_parts.rerank == best.score
