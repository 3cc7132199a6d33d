import asyncio
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from scaar.core.errors import NotFound
from scaar.runtime.interceptors import ErrorInterceptor
from scaar.wire.status import status_of


class Gone:
    """The context of a call whose client is no more there."""

    async def abort(self, *_: object) -> None:
        raise grpc.aio.InternalError("Failed grpc_call_start_batch")


async def refusing(request: object, context: object) -> None:
    raise NotFound("there is none")


async def handled(_: object) -> Any:
    return grpc.unary_unary_rpc_method_handler(refusing)


async def test_a_call_whose_client_disconnected_before_the_status_is_cancelled() -> None:
    called: Any = SimpleNamespace(method="/scaar.v1.Service/Call", invocation_metadata=())
    handler: Any = await ErrorInterceptor(status_of).intercept_service(handled, called)
    with pytest.raises(asyncio.CancelledError):
        await handler.unary_unary(None, Gone())
