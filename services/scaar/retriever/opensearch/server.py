"""Client of the OpenSearch server, with timeouts on every request and errors of the core."""

import io
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from opensearchpy import AIOHttpConnection, AsyncOpenSearch
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, TransportError

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest
from scaar.core.loop.budget import CALL_MARGIN_S, remaining_time_s
from scaar.retriever.opensearch.errors import condition, kind_of
from scaar.retriever.settings import RetrieverSettings

# The library would log a line for every failed request, and at DEBUG the passages.
logging.getLogger("opensearch").setLevel(logging.CRITICAL)


_MAX_UNCHUNKED_BYTES = 1 << 18


class Server:
    """Calls methods of the OpenSearch client."""

    def __init__(self, client: AsyncOpenSearch, *, timeout_s: float) -> None:
        self.client = client
        self._timeout_s = timeout_s

    async def call(
        self,
        method: Callable[..., Awaitable[Any]],
        action: str,
        *,
        timeout_s: float | None = None,
        **arguments: object,
    ) -> Any:
        """Call a method of the client within the timeout and the deadline, and return its result.

        ``action`` is an infinitive such as "search the index 'a'", for errors.

        Raises:
            DeadlineExceeded, BackendUnavailable, Overloaded, NotFound, CapabilityMissing: see
                :mod:`scaar.retriever.opensearch.errors`.
        """
        seconds = _timeout_s(timeout_s or self._timeout_s, action)
        try:
            return await method(**arguments, request_timeout=seconds)
        except ConnectionTimeout as error:
            text = f"OpenSearch took more than {seconds:g} s to {action}"
            raise DeadlineExceeded(text) from error
        except NoConnection as error:
            # The message of the error contains the server's address.
            detail = _reason(error)
            raise BackendUnavailable("OpenSearch does not respond", detail=detail) from error
        except TransportError as error:
            raise condition(error.status_code, kind_of(error.info), action) from error
        except OpenSearchException as error:
            text = f"OpenSearch sent an invalid response to the request to {action}"
            raise BackendUnavailable(text) from error


@asynccontextmanager
async def open_server(settings: RetrieverSettings) -> AsyncIterator[Server]:
    """Open a client of the server in the settings for the duration of the block.

    No request is sent yet.

    Raises:
        InvalidRequest: the settings name no server, or a file that cannot be read.
    """
    _check_urls(settings.opensearch_urls)
    client = AsyncOpenSearch(
        list(settings.opensearch_urls),
        http_auth=_credentials(settings),
        ssl_context=_tls(settings),
        connection_class=ChunkedConnection,
        maxsize=settings.opensearch_connections,
        timeout=settings.opensearch_timeout_s,
        # Retries with a new connection if the server has closed an idle one, or with another node.
        max_retries=len(settings.opensearch_urls),
        retry_on_status=(),
    )
    try:
        yield Server(client, timeout_s=settings.opensearch_timeout_s)
    finally:
        await client.close()


def _check_urls(urls: Sequence[str]) -> None:
    name = "SCAAR_RETRIEVER_OPENSEARCH_URLS"
    if not urls:
        raise InvalidRequest.of(name, "must contain the URL of a server")
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidRequest.of(name, "must be http://host:port or https://host:port")
        if parts.username or parts.password:
            text = "must have no user or password; set SCAAR_RETRIEVER_OPENSEARCH_USER instead"
            raise InvalidRequest.of(name, text)


def _credentials(settings: RetrieverSettings) -> tuple[str, str] | None:
    secret, file = settings.opensearch_password, settings.opensearch_password_file
    if secret is not None and file is not None:
        name = "SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE"
        text = "must not be set together with SCAAR_RETRIEVER_OPENSEARCH_PASSWORD"
        raise InvalidRequest.of(name, text)
    if not settings.opensearch_user:
        if secret is not None or file is not None:
            text = "must be set if a password is set"
            raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_USER", text)
        return None
    if file is not None:
        try:
            return settings.opensearch_user, file.read_text().rstrip("\r\n")
        except (OSError, ValueError) as error:
            name = "SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE"
            raise InvalidRequest.of(name, f"{file} cannot be read") from error
    if secret is None:
        text = "must be set if a user is set, or SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE"
        raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_PASSWORD", text)
    return settings.opensearch_user, secret.get_secret_value()


def _tls(settings: RetrieverSettings) -> ssl.SSLContext | None:
    if not any(url.startswith("https://") for url in settings.opensearch_urls):
        return None
    try:
        return ssl.create_default_context(cafile=settings.opensearch_ca_file)
    except (OSError, ssl.SSLError) as error:
        text = f"{settings.opensearch_ca_file} is not a file of certificates in PEM"
        raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_CA_FILE", text) from error


def _timeout_s(maximum_s: float, action: str) -> float:
    remaining_s = remaining_time_s()
    if remaining_s is None:
        return maximum_s
    if remaining_s <= CALL_MARGIN_S:
        raise DeadlineExceeded(f"no time remains to {action}")
    return min(maximum_s, remaining_s - CALL_MARGIN_S)


def _reason(error: NoConnection) -> str:
    """Return the error below HTTP, which contains nothing of the request."""
    return str(error.error)[:200]


class ChunkedConnection(AIOHttpConnection):
    """Connection that sends a large body in chunks, so that the event loop is not blocked."""

    async def perform_request(
        self,
        method: str,
        url: str,
        params: Any = None,
        body: Any = None,
        *arguments: Any,
        **named: Any,
    ) -> Any:
        """Send a request as the library does."""
        if isinstance(body, bytes) and len(body) > _MAX_UNCHUNKED_BYTES:
            body = io.BytesIO(body)
        return await super().perform_request(method, url, params, body, *arguments, **named)
