"""An orchestrator in its own process enforces the access rules of its identities file."""

import asyncio
from pathlib import Path

import pytest

from scaar.core.errors import NotFound
from scaar.core.types import SearchRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings
from scaar.runtime.channels import open_channel
from scaar.testing.access import FORBIDDEN, TOKENS, build_indexes, write_identities
from scaar.testing.processes import running_service
from scaar.wire.orchestrator import RemoteCatalog

NOBODY = "dns:///127.0.0.1:1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    async def build() -> None:
        settings = RetrieverSettings(indexes=tmp_path / "home" / "indexes")
        async with open_retriever(settings) as retriever:
            await build_indexes(retriever)

    asyncio.run(build())
    return tmp_path / "home"


async def test_a_served_orchestrator_enforces_the_rules(home: Path) -> None:
    identities = write_identities(home.parent / "identities.yaml")
    parts = ("GENERATOR", "SCORER", "QUERY_BUILDER")
    targets = {f"SCAAR_ORCHESTRATOR_{part}_TARGET": NOBODY for part in parts}
    rules = {"SCAAR_ORCHESTRATOR_IDENTITIES_FILE": str(identities)}
    with running_service("orchestrator", home, **targets, **rules) as service:
        target = await asyncio.to_thread(lambda: service.target)
        listed, found = {}, set()
        async with open_channel(target) as channel:
            for token, tenant in TOKENS.items():
                metadata = (("authorization", f"Bearer {token}"),)
                catalog = RemoteCatalog(channel, target, metadata=metadata)
                listed[tenant] = [each.name for each in await catalog.list_indexes()]
                if tenant == "acme":
                    result = await catalog.search(SearchRequest("leave", "shared", 10))
                    found = {each.id for each in result.passages}
                    with pytest.raises(NotFound):
                        await catalog.search(SearchRequest("leave", FORBIDDEN, 10))
    assert listed == {
        "acme": ["acme-docs", "shared"],
        "globex": [],
        "operations": ["acme-docs", FORBIDDEN, "shared"],
    }
    assert found == {"acme-en", "acme-de-fr"}
