"""Reranking by a cross-encoder in the process."""

from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest, NotFound
from scaar.retriever.factory import open_retriever
from scaar.retriever.reranking.onnx import open_onnx_reranker
from scaar.retriever.settings import RetrieverSettings
from scaar.testing.conformance.reranking import relevance
from scaar.testing.word_cross_encoder import write_word_cross_encoder

TEXTS = ("etna is a volcano", "fuji", "a cold volcano of iceland", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_word_cross_encoder(tmp_path / "reader", TEXTS, max_tokens=12)


async def test_relevance_is_in_the_order_of_the_texts(folder: Path) -> None:
    texts = list(TEXTS) * 9
    async with open_onnx_reranker(folder, threads=1) as reranker:
        assert reranker.name == "reader"
        found = await reranker.relevance("cold volcano", texts)
        assert found == pytest.approx([relevance("cold volcano", each) for each in texts])


async def test_a_text_that_is_too_long_is_cut_off_at_its_end(folder: Path) -> None:
    # Of 12 tokens, 3 are special and one is the query, so that 8 words of the text are read.
    async with open_onnx_reranker(folder, threads=1) as reranker:
        (read,) = await reranker.relevance("volcano", ["volcano " * 8])
        (cut, lost) = await reranker.relevance("volcano", ["volcano " * 99, "a " * 8 + "volcano"])
    assert cut == read == pytest.approx(relevance("volcano", "volcano " * 8))
    assert lost == 0.5


async def test_a_query_that_is_too_long_leaves_half_of_the_tokens_for_the_text(
    folder: Path,
) -> None:
    query = "volcano " * 6 + "fuji " * 50
    async with open_onnx_reranker(folder, threads=1) as reranker:
        found = await reranker.relevance(query, ["volcano fuji", "fuji " * 9])
    assert found == pytest.approx([relevance("volcano " * 6, "volcano"), 0.5])


async def test_a_missing_model_is_named(tmp_path: Path) -> None:
    settings = RetrieverSettings(indexes=tmp_path / "indexes", reranker=tmp_path / "nothing")
    with pytest.raises(NotFound, match="nothing does not exist"):
        async with open_retriever(settings):
            pass


async def test_a_retriever_has_one_reranker(tmp_path: Path) -> None:
    settings = RetrieverSettings(
        indexes=tmp_path / "indexes", reranker=tmp_path, rerank_url="http://localhost:1"
    )
    with pytest.raises(InvalidRequest, match="SCAAR_RETRIEVER_RERANK_URL: must not be set toge"):
        async with open_retriever(settings):
            pass
