"""A channel and the addresses that others have failed at."""

import socket

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.types import QueryRequest, QuerySettings
from scaar.query_builder.local import LocalQueryBuilder
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.wire.query_builder import QueryBuilderServicer, RemoteQueryBuilder
from scaar.wire.status import status_of

ONCE = ChannelSettings(attempts=1)
REQUEST = QueryRequest("Who is it?", QuerySettings("question", include_question=False))


async def test_a_new_channel_does_not_wait_where_an_older_one_has_failed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as found:
        address = f"127.0.0.1:{found.getsockname()[1]}"
    servicer = QueryBuilderServicer(LocalQueryBuilder())
    async with open_channel(address, settings=ONCE) as older:
        with pytest.raises(BackendUnavailable):
            await RemoteQueryBuilder(older, address).build_query(REQUEST)
        async with (
            open_server([servicer], address, ServiceSettings(), status_of=status_of),
            open_channel(address, settings=ONCE) as newer,
        ):
            query = await RemoteQueryBuilder(newer, address).build_query(REQUEST)
    assert query.text == "Who is it?"
