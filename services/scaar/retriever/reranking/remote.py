"""Reranker that asks a server's ``/v1/rerank``, the form that vLLM, Jina and Cohere share.

Sent is ``{"model", "query", "documents", "top_n"}``; the answer is ``{"results": [{"index",
"relevance_score"}]}``. Bodies of errors may quote passages, and are not passed on.
"""

import asyncio
import json
import math
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from scaar.core.calls.breaker import Breaker
from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    Overloaded,
    ScaarError,
)
from scaar.core.loop.budget import CALL_MARGIN_S, remaining_time_s
from scaar.http_client.aiohttp_requests import HttpRequests, open_requests
from scaar.retriever.settings import RetrieverSettings

PATH = "/v1/rerank"
_MAX_RESPONSE_BYTES = 1 << 20
_MAX_KEY_CHARACTERS = 10_000
_RETRY_AFTER_S = 1.0


@asynccontextmanager
async def open_remote_reranker(
    settings: RetrieverSettings, breaker: Breaker | None = None
) -> AsyncIterator["RemoteReranker"]:
    """Open a client of the server in the settings for the duration of the block.

    No request is sent yet.

    Raises:
        InvalidRequest: a setting is invalid, or a file cannot be read.
    """
    url = _checked_url(str(settings.rerank_url))
    key = _key(settings)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    limit, tls = settings.rerank_connections, _tls(settings.rerank_ca_file)
    async with open_requests(limit=limit, tls=tls, headers=headers) as requests:
        yield RemoteReranker(requests, url, settings, breaker)


class RemoteReranker:
    """The relevance of a text is the ``relevance_score`` of the server.

    Queries and texts longer than ``rerank_max_characters`` are cut off at their end.
    """

    def __init__(
        self,
        requests: HttpRequests,
        url: str,
        settings: RetrieverSettings,
        breaker: Breaker | None = None,
    ) -> None:
        self._requests, self._url, self._breaker = requests, url, breaker
        self._model = settings.rerank_model
        self._timeout_s = settings.rerank_timeout_s
        self._batch = settings.rerank_max_batch
        self._characters = settings.rerank_max_characters

    @property
    def name(self) -> str:
        return self._model or urlsplit(self._url).netloc

    @property
    def revision(self) -> str:
        return ""

    async def relevance(self, query: str, texts: list[str]) -> list[float]:
        """Return the relevance of each text for a query, in requests of bounded size."""
        found: list[float] = []
        for start in range(0, len(texts), self._batch):
            part = [each[: self._characters] for each in texts[start : start + self._batch]]
            found += await self._ask(query[: self._characters], part)
        return found

    async def _ask(self, query: str, texts: list[str]) -> list[float]:
        if self._breaker is None:
            return await self._sent(query, texts)
        with self._breaker.calling(share_s=self._timeout_s):
            return await self._sent(query, texts)

    async def _sent(self, query: str, texts: list[str]) -> list[float]:
        seconds = _timeout_s(self._timeout_s)
        body = {"query": query, "documents": texts, "top_n": len(texts)}
        if self._model:
            body["model"] = self._model
        failure: ScaarError
        try:
            async with asyncio.timeout(seconds):
                return _relevance(await self._answer(body), len(texts))
        except TimeoutError:
            failure = DeadlineExceeded(f"the reranking server took more than {seconds:g} s")
        except (aiohttp.ClientError, OSError) as error:
            detail = _reason(error)
            failure = BackendUnavailable("the reranking server does not respond", detail=detail)
        # Raised outside the except block: the library's errors may hold the request with the key.
        raise failure

    async def _answer(self, body: Mapping[str, Any]) -> object:
        data = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        headers = {"Content-Type": "application/json"}
        sending = self._requests.response("POST", self._url, data=data, headers=headers)
        async with sending as response:
            if response.status != 200:
                raise _condition(response.status)
            read = await response.content.read(_MAX_RESPONSE_BYTES + 1)
            while len(read) <= _MAX_RESPONSE_BYTES and not response.content.at_eof():
                read += await response.content.read(_MAX_RESPONSE_BYTES + 1 - len(read))
        if len(read) > _MAX_RESPONSE_BYTES:
            raise _invalid(f"more than {_MAX_RESPONSE_BYTES:,} bytes")
        try:
            return json.loads(read)
        except (ValueError, RecursionError):
            raise _invalid("no JSON") from None


def _relevance(answer: object, count: int) -> list[float]:
    """Return the relevance of each text, in the order of the request."""
    found: dict[int, float] = {}
    try:
        for each in answer["results"]:  # type: ignore[index]
            score = each["relevance_score"]
            if isinstance(score, bool) or not math.isfinite(score):
                raise _invalid("a score that is not a finite number")
            found[int(each["index"])] = float(score)
    except (KeyError, TypeError, ValueError):
        raise _invalid("no list of results, each with index and relevance_score") from None
    if found.keys() != set(range(count)):
        raise _invalid(f"other results than one for each of {count} texts")
    return [found[place] for place in range(count)]


def _invalid(what: str) -> BackendUnavailable:
    return BackendUnavailable(f"the reranking server sent an invalid response: {what}")


def _condition(status: int) -> ScaarError:
    """Return the condition for a response's status."""
    match status:
        case 401 | 403:
            how = "set SCAAR_RETRIEVER_RERANK_API_KEY_FILE"
            return CapabilityMissing(f"the reranking server rejects the key: {how}")
        case 404 | 405 | 501:
            how = "correct SCAAR_RETRIEVER_RERANK_URL or SCAAR_RETRIEVER_RERANK_MODEL"
            text = f"the reranking server has no such path or model (status {status}): {how}"
            return CapabilityMissing(text)
        case 429:
            text = "the reranking server is overloaded"
            return Overloaded(text, retry_after_s=_RETRY_AFTER_S)
        case _ if status >= 500:
            return BackendUnavailable(f"the reranking server cannot answer now: status {status}")
        case _:
            how = "lower SCAAR_RETRIEVER_RERANK_MAX_CHARACTERS if the texts are too long for it"
            text = f"the reranking server refuses the request (status {status}): {how}"
            return CapabilityMissing(text)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        text = "must be http://host:port or https://host:port"
        raise InvalidRequest.of("SCAAR_RETRIEVER_RERANK_URL", text)
    if parts.username or parts.password:
        text = "must have no user or password; set SCAAR_RETRIEVER_RERANK_API_KEY_FILE instead"
        raise InvalidRequest.of("SCAAR_RETRIEVER_RERANK_URL", text)
    whole = url.rstrip("/")
    if whole.endswith("/rerank"):
        return whole
    return f"{whole.removesuffix('/v1')}{PATH}"


def _key(settings: RetrieverSettings) -> str:
    path = settings.rerank_api_key_file
    if settings.rerank_api_key is not None and path is not None:
        name = "SCAAR_RETRIEVER_RERANK_API_KEY_FILE"
        text = "must not be set together with SCAAR_RETRIEVER_RERANK_API_KEY"
        raise InvalidRequest.of(name, text)
    if path is not None:
        try:
            text = path.read_text(encoding="ascii", errors="replace")
        except OSError as error:
            name = "SCAAR_RETRIEVER_RERANK_API_KEY_FILE"
            raise InvalidRequest.of(name, f"{path} cannot be read: {error.strerror}") from error
        return _checked_key("SCAAR_RETRIEVER_RERANK_API_KEY_FILE", text)
    if settings.rerank_api_key is None:
        return ""
    given = settings.rerank_api_key.get_secret_value()
    return _checked_key("SCAAR_RETRIEVER_RERANK_API_KEY", given)


def _checked_key(setting: str, text: str) -> str:
    key = text.strip()
    if not (0 < len(key) <= _MAX_KEY_CHARACTERS and key.isascii() and key.isprintable()):
        limit = f"must be one line of printable ASCII, 1 to {_MAX_KEY_CHARACTERS:,} characters"
        raise InvalidRequest.of(setting, limit)
    return key


def _tls(authority: Path | None) -> ssl.SSLContext | None:
    if authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=authority)
    except (OSError, ssl.SSLError) as error:
        text = f"{authority} is not a file of certificates in PEM"
        raise InvalidRequest.of("SCAAR_RETRIEVER_RERANK_CA_FILE", text) from error


def _timeout_s(maximum_s: float) -> float:
    remaining_s = remaining_time_s()
    if remaining_s is None:
        return maximum_s
    if remaining_s <= CALL_MARGIN_S:
        raise DeadlineExceeded("no time remains to rerank passages")
    return min(maximum_s, remaining_s - CALL_MARGIN_S)


def _reason(error: Exception) -> str:
    """Return why a server cannot be reached, without the library's decoration."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return "its certificate is not trusted: set SCAAR_RETRIEVER_RERANK_CA_FILE"
        case aiohttp.ClientConnectorError(os_error=OSError(errno=int(number))) if number > 0:
            return os.strerror(number)
    return type(error).__name__
