"""The OpenSearch server: every request bounded in time, its errors those of the core."""

import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from opensearchpy import AsyncOpenSearch
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, TransportError

from scaar.core.budget import CALL_MARGIN_S, time_left
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest
from scaar.retriever.opensearch_connection import PiecewiseConnection
from scaar.retriever.opensearch_errors import condition, kind_of
from scaar.retriever.settings import RetrieverSettings

# It would write a line for every request that fails, and at DEBUG the passages too.
logging.getLogger("opensearch").setLevel(logging.CRITICAL)


class Server:
    """Asks OpenSearch."""

    def __init__(self, client: AsyncOpenSearch, *, timeout_s: float) -> None:
        self.client = client
        self._timeout_s = timeout_s

    async def ask(
        self,
        call: Callable[..., Awaitable[Any]],
        what: str,
        *,
        timeout_s: float | None = None,
        **arguments: object,
    ) -> Any:
        """What a method of the client answers, in the time that there is.

        ``what`` is what is being done, for the error: "search the index 'a'".

        Raises:
            DeadlineExceeded, BackendUnavailable, Overloaded, NotFound, CapabilityMissing: see
                :mod:`scaar.retriever.opensearch_errors`.
        """
        seconds = _seconds(timeout_s or self._timeout_s, what)
        try:
            return await call(**arguments, request_timeout=seconds)
        except ConnectionTimeout as error:
            text = f"OpenSearch took more than {seconds:g} s to {what}"
            raise DeadlineExceeded(text) from error
        except NoConnection as error:
            # It names the server's address.
            detail = _reason(error)
            raise BackendUnavailable("OpenSearch does not answer", detail=detail) from error
        except TransportError as error:
            raise condition(error.status_code, kind_of(error.info), what) from error
        except OpenSearchException as error:
            text = f"OpenSearch answered what is not understood, asked to {what}"
            raise BackendUnavailable(text) from error


@asynccontextmanager
async def open_server(settings: RetrieverSettings) -> AsyncIterator[Server]:
    """The server that the settings name, for the time of the block. Nothing is asked yet.

    Raises:
        InvalidRequest: the settings name no server, or files that cannot be read.
    """
    _check_urls(settings.opensearch_urls)
    client = AsyncOpenSearch(
        list(settings.opensearch_urls),
        http_auth=_credentials(settings),
        ssl_context=_tls(settings),
        connection_class=PiecewiseConnection,
        maxsize=settings.opensearch_connections,
        timeout=settings.opensearch_timeout_s,
        # A kept connection that the server has closed, or another of the servers.
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
        raise InvalidRequest.of(name, "must name a server")
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidRequest.of(name, "must be http://host:port or https://host:port")
        if parts.username or parts.password:
            raise InvalidRequest.of(name, "must hold no user: there are settings for that")


def _credentials(settings: RetrieverSettings) -> tuple[str, str] | None:
    secret, file = settings.opensearch_password, settings.opensearch_password_file
    if secret is not None and file is not None:
        name = "SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE"
        raise InvalidRequest.of(name, "does not go with a password: give one of them")
    if not settings.opensearch_user:
        if secret is not None or file is not None:
            text = "must name the user of the password"
            raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_USER", text)
        return None
    if file is not None:
        try:
            return settings.opensearch_user, file.read_text().rstrip("\r\n")
        except (OSError, ValueError) as error:
            name = "SCAAR_RETRIEVER_OPENSEARCH_PASSWORD_FILE"
            raise InvalidRequest.of(name, f"{file} cannot be read") from error
    if secret is None:
        text = "must be given with a user, or its file"
        raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_PASSWORD", text)
    return settings.opensearch_user, secret.get_secret_value()


def _tls(settings: RetrieverSettings) -> ssl.SSLContext | None:
    if not any(url.startswith("https://") for url in settings.opensearch_urls):
        return None
    try:
        return ssl.create_default_context(cafile=settings.opensearch_ca_file)
    except (OSError, ssl.SSLError) as error:
        text = f"{settings.opensearch_ca_file} is no file of certificates in PEM"
        raise InvalidRequest.of("SCAAR_RETRIEVER_OPENSEARCH_CA_FILE", text) from error


def _seconds(cap_s: float, what: str) -> float:
    left = time_left()
    if left is None:
        return cap_s
    if left <= CALL_MARGIN_S:
        raise DeadlineExceeded(f"no time is left to {what}")
    return min(cap_s, left - CALL_MARGIN_S)


def _reason(error: NoConnection) -> str:
    """What went wrong below HTTP; it holds nothing of requests."""
    return str(error.error)[:200]
