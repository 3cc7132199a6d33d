"""A server with security: users with the roles of docs/retriever.md, and unknown users."""

from collections.abc import Iterator
from functools import partial

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.core.types import IndexMode, RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, Node, running_node
from ..servers.opensearch.secured import PASSWORDS, SETTINGS, prepare
from .conftest import passages, stream

VOLCANO = RetrieveRequest(("volcano",), 3, "geo")


@pytest.fixture(scope="module")
def secured() -> Iterator[Node]:
    home = CACHE / "secured"
    make(home, plugin="security")
    with running_node(*SETTINGS, home=home, scheme="https", prepare=partial(prepare, home)) as node:
        yield node


def settings_as(node: Node, user: str, password: str, **given: object) -> RetrieverSettings:
    file = node.folder / f"password-{user}"
    file.write_text(f"{password}\n")
    own = {
        "engine": "opensearch",
        "opensearch_urls": (f"https://{node.address}",),
        "opensearch_user": user,
        "opensearch_password_file": file,
        "opensearch_ca_file": node.folder / "config" / "ca.pem",
        "opensearch_replicas": 0,
    }
    return RetrieverSettings.model_validate({**own, **given})


async def test_a_builder_may_build_and_a_reader_may_only_read(secured: Node) -> None:
    builder = settings_as(secured, "builder", PASSWORDS["builder"])
    reader = settings_as(secured, "reader", PASSWORDS["reader"])
    async with open_retriever(builder) as building, open_retriever(reader) as reading:
        built = await building.index_passages("geo", stream(passages(20)))
        await building.index_passages("geo", stream(passages(5)), mode=IndexMode.UPSERT)
        assert await building.delete_passages("geo", ["p00001"]) == 1
        again = await building.index_passages("geo", stream(passages(20)), mode=IndexMode.REPLACE)
        assert again.index.version == built.index.version
        assert await reading.list_indexes() == (again.index,)
        assert await reading.check_indexes() == {"geo": True}
        assert (await reading.verify_index("geo")).is_whole
        assert len((await reading.retrieve(VOLCANO)).results[0]) == 3
        with pytest.raises(
            CapabilityMissing, match="OpenSearch does not allow this user to create"
        ):
            await reading.index_passages("other", stream(passages(5)))
        with pytest.raises(
            CapabilityMissing, match="OpenSearch does not allow this user to delete"
        ):
            await reading.drop_index("geo")
        await building.drop_index("geo")
        assert await building.list_indexes() == ()


async def test_a_wrong_password_is_reported_and_not_quoted(secured: Node) -> None:
    async with open_retriever(settings_as(secured, "reader", "wrong-secret")) as retriever:
        with pytest.raises(CapabilityMissing, match="rejects the user or the password") as caught:
            await retriever.retrieve(VOLCANO)
    assert "secret" not in caught.value.message


async def test_a_server_with_an_untrusted_certificate_is_not_called(secured: Node) -> None:
    settings = settings_as(secured, "reader", PASSWORDS["reader"], opensearch_ca_file=None)
    async with open_retriever(settings) as retriever:
        with pytest.raises(BackendUnavailable, match="certificate"):
            await retriever.retrieve(VOLCANO)
