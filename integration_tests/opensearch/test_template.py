"""The index template, which operators may extend with their own settings."""

import json
from pathlib import Path

from opensearchpy import AsyncOpenSearch

from scaar.retriever.factory import open_retriever

from ..servers.opensearch.node import Node
from .conftest import passages, settings_for, stream

TEMPLATE = Path(__file__).parents[2] / "deploy" / "opensearch" / "index-template.json"


async def test_an_index_created_with_the_template_has_the_layout_of_one_without(
    shared_node: Node, raw: AsyncOpenSearch
) -> None:
    layouts = []
    for prefix in ("plain-", "scaar-"):
        if prefix == "scaar-":
            body = json.loads(TEMPLATE.read_text())
            await raw.indices.put_index_template(name="scaar", body=body)
        async with open_retriever(settings_for(shared_node, opensearch_prefix=prefix)) as retriever:
            await retriever.index_passages("geo", stream(passages(5)), metadata_fields=("lang",))
            ((_, found),) = (await raw.indices.get(index=f"{prefix}geo")).items()
            await retriever.drop_index("geo")
        del found["mappings"]["_meta"]
        layouts.append((found["mappings"], found["settings"]["index"]["similarity"]))
    await raw.indices.delete_index_template(name="scaar")
    assert layouts[0] == layouts[1]
