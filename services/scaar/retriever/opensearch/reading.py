"""Passages of an index on OpenSearch by their ids."""

from collections.abc import Sequence

from scaar.core.types import Passage
from scaar.retriever.opensearch.errors import condition, kind_of
from scaar.retriever.opensearch.schema import document_id, passage_of
from scaar.retriever.opensearch.server import Server

_BATCH = 1_000


async def read_passages(
    server: Server, index: str, passage_ids: Sequence[str]
) -> dict[str, Passage]:
    """Return those of the passages that an index contains, by their ids."""
    found: dict[str, Passage] = {}
    what = f"read passages of {index}"
    for start in range(0, len(passage_ids), _BATCH):
        ids = passage_ids[start : start + _BATCH]
        # No id contains an unpaired surrogate; a passage with one is rejected on validation.
        whole = [each.encode(errors="replace").decode() for each in ids if each]
        if not whole:
            continue
        answer = await server.call(
            server.client.mget,
            what,
            index=index,
            body={"ids": [document_id(each) for each in whole]},
            params={"realtime": "false"},
        )
        for each in answer["docs"]:
            if "error" in each:
                raise condition(503, kind_of(each), what)
            if each["found"]:
                passage = passage_of(each["_source"])
                found[passage.id] = passage
    return found
