"""opensearch-py's connection, for requests of several megabytes."""

import io
from typing import Any

from opensearchpy import AIOHttpConnection

_SENT_WHOLE_BYTES = 1 << 18


class PiecewiseConnection(AIOHttpConnection):
    """Sends a large body piece by piece, so that the event loop is not held up by it."""

    async def perform_request(
        self,
        method: str,
        url: str,
        params: Any = None,
        body: Any = None,
        *arguments: Any,
        **named: Any,
    ) -> Any:
        """As the library's own."""
        if isinstance(body, bytes) and len(body) > _SENT_WHOLE_BYTES:
            body = io.BytesIO(body)
        return await super().perform_request(method, url, params, body, *arguments, **named)
