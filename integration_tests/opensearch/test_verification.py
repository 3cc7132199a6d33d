"""Verification of indexes that were changed on the server directly."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch

from scaar.core.errors import CapabilityMissing
from scaar.core.types import MetadataField, Passage
from scaar.retriever.opensearch.engine import OpenSearchRetriever

from .conftest import passages, stream

Change = Callable[[AsyncOpenSearch, str], Awaitable[object]]

CARRYING = [replace(each, metadata=(MetadataField("lang", ("en",)),)) for each in passages(10)]


@pytest.fixture
async def index(retriever: OpenSearchRetriever, raw: AsyncOpenSearch) -> str:
    """The current index of the name geo on the server."""
    await retriever.index_passages("geo", stream(CARRYING), metadata_fields=("lang",))
    alias = f"{retriever._catalogue._prefix}geo"
    ((name, _),) = (await raw.indices.get_alias(name=alias)).items()
    return str(name)


async def wrong(retriever: OpenSearchRetriever) -> dict[str, str]:
    found = await retriever.verify_index("geo")
    assert not found.is_whole
    return {each.name: each.found for each in found.checks if not each.passed}


async def opened(raw: AsyncOpenSearch, index: str, change: Change) -> None:
    """Change an index whose writes are blocked."""
    await raw.indices.put_settings(index=index, body={"index.blocks.write": False})
    await change(raw, index)
    await raw.indices.refresh(index=index)
    await raw.indices.put_settings(index=index, body={"index.blocks.write": True})


async def with_record(raw: AsyncOpenSearch, index: str, **changes: object) -> None:
    ((_, found),) = (await raw.indices.get_mapping(index=index)).items()
    meta: dict[str, Any] = found["mappings"]["_meta"]
    meta["scaar"].update(changes)
    await raw.indices.put_mapping(index=index, body={"_meta": meta})


async def test_a_complete_index_passes_every_check(
    retriever: OpenSearchRetriever, index: str
) -> None:
    found = await retriever.verify_index("geo")
    assert [each.name for each in found.checks] == [
        *("alias", "record", "mapping", "similarity", "shards", "writing"),
        *("passages", "documents", "content", "version"),
    ]
    assert found.is_whole


async def test_more_passages_than_a_page_are_all_read(retriever: OpenSearchRetriever) -> None:
    for count in (1_000, 2_001):
        await retriever.index_passages(f"n{count}", stream(passages(count)))
        found = await retriever.verify_index(f"n{count}")
        assert found.is_whole
        assert f"{count:,} read, all valid" in {each.found for each in found.checks}


async def test_a_missing_passage_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await opened(raw, index, lambda raw, index: raw.delete(index=index, id="p00003"))
    reported = await wrong(retriever)
    assert list(reported) == ["passages", "content", "version"]
    assert reported["passages"] == "9 found, not 10"
    (listed,) = await retriever.list_indexes()
    assert listed.damage == f"{index} has 9 passages, not 10"
    assert (listed.name, listed.passages, listed.metadata_fields) == ("geo", 10, ("lang",))


async def test_a_changed_passage_is_reported_although_the_count_is_right(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    body = {"doc": {"metadata": {"lang": ["de"]}}}
    await opened(raw, index, lambda raw, index: raw.update(index=index, id="p00003", body=body))
    assert list(await wrong(retriever)) == ["content", "version"]
    assert [each.damage for each in await retriever.list_indexes()] == [""]


async def test_a_document_that_is_not_a_passage_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    body = {"passage_id": "p00003", "title": "T"}
    await opened(raw, index, lambda raw, index: raw.index(index=index, id="p00003", body=body))
    assert await wrong(retriever) == {"documents": "'p00003' is not a passage"}


async def test_an_invalid_passage_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    body = {"passage_id": "p00003", "title": "T", "text": " ", "metadata": {"lang": ["en"]}}
    await opened(raw, index, lambda raw, index: raw.index(index=index, id="p00003", body=body))
    assert await wrong(retriever) == {"documents": "'p00003': text: must not be empty"}


async def test_a_misplaced_passage_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    body = {"passage_id": "p5", "title": "T", "text": "x"}
    await opened(raw, index, lambda raw, index: raw.index(index=index, id="p00003", body=body))
    reported = await wrong(retriever)
    assert reported == {"documents": "'p00003' is not the document id of the passage 'p5'"}


async def test_a_changed_mapping_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    more = {"properties": {"metadata": {"properties": {"licence": {"type": "keyword"}}}}}
    await raw.indices.put_mapping(index=index, body=more)
    assert list(await wrong(retriever)) == ["mapping"]


async def test_another_similarity_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await raw.indices.close(index=index)
    await raw.indices.put_settings(
        index=index, body={"index.similarity.default": {"type": "BM25", "k1": 1.2, "b": 0.4}}
    )
    await raw.indices.open(index=index)
    await raw.cluster.health(index=index, wait_for_status="yellow")
    assert await wrong(retriever) == {"similarity": "type BM25 k1 1.2 b 0.4"}


async def test_a_writable_index_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await raw.indices.put_settings(index=index, body={"index.blocks.write": False})
    assert await wrong(retriever) == {"writing": "not blocked"}


@pytest.mark.parametrize("changes", [{"version": ""}, {"format": 9}, {"name": "other"}])
async def test_a_record_that_contradicts_the_index_is_reported_and_listed(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str, changes: dict[str, object]
) -> None:
    await with_record(raw, index, **changes)
    assert await wrong(retriever) == {"record": "missing or of another index"}


async def test_an_index_without_a_record_is_listed_by_its_name(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await with_record(raw, index, format=9)
    whole = await retriever.index_passages("other", stream(passages(5)))
    damaged, other = await retriever.list_indexes()
    assert (damaged.name, damaged.version, damaged.engine) == ("geo", "", "opensearch")
    assert damaged.damage == f"{index} has no record of its content"
    assert other == whole.index


async def test_another_digest_in_the_record_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await with_record(raw, index, content="0" * 64)
    assert list(await wrong(retriever)) == ["content"]


async def test_an_alias_of_several_indexes_is_reported(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    await retriever.index_passages("other", stream(passages(5)))
    prefix = retriever._catalogue._prefix
    ((other, _),) = (await raw.indices.get_alias(name=f"{prefix}other")).items()
    add = {"add": {"index": other, "alias": f"{prefix}geo", "is_write_index": False}}
    await raw.indices.update_aliases(body={"actions": [add]})
    assert await wrong(retriever) == {"alias": "its alias points to 2 indexes"}


async def test_a_closed_index_is_listed_as_damaged_and_can_be_dropped(
    retriever: OpenSearchRetriever, raw: AsyncOpenSearch, index: str
) -> None:
    whole = await retriever.index_passages("other", stream([Passage("a", "", "x")]))
    await raw.indices.close(index=index)
    with pytest.raises(CapabilityMissing, match=r"cannot count .* which is closed"):
        await retriever.verify_index("geo")
    damaged, other = await retriever.list_indexes()
    assert "which is closed" in damaged.damage
    assert other == whole.index
    assert await retriever.check_indexes() == {"geo": False, "other": True}
    await retriever.drop_index("geo")
    assert await retriever.list_indexes() == (whole.index,)
