"""The client for asyncio."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import grpc

from scaar.client.asked import (
    BUDGET,
    INDEX,
    NO_FILTERS,
    Filters,
    failure_choice,
    filter_choices,
    policy_request,
    sendable_metadata,
)
from scaar.client.credentials import client_credentials
from scaar.core.errors import InvalidRequest
from scaar.core.types import (
    Answer,
    AnswerEvent,
    AnswerRequest,
    BudgetLimits,
    OnFailure,
    PolicyRequest,
)
from scaar.runtime.channels import ChannelSettings, open_channel
from scaar.wire.orchestrator import SERVICE_NAME, RemoteAnswerer

_MAX_TIMEOUT_S = 86_400.0
# The orchestrator itself tries again what it depends on, so one more attempt is enough.
_CHANNEL = ChannelSettings(attempts=2)


class Client:
    """Asks an orchestrator, from asyncio.

    ``policy`` is a policy's name or a whole :class:`PolicyRequest`; keywords beyond those named
    are settings of the policy by the names of :class:`PolicyOverrides` (``theta=0.25``,
    ``query="pfq"``). The time of an answer is ``budget.timeout_s``. With ``on_failure``
    ``"accept_draft"`` a scorer or retriever that fails leaves the draft, and its sentence says so.
    ``filters`` name what passages must carry, ``{"tenant": "acme", "lang": ["en", "de"]}``: one of
    the values in each field.
    """

    def __init__(self, answerer: RemoteAnswerer) -> None:
        self._answerer = answerer

    @asynccontextmanager
    async def stream_answer(
        self,
        question: str,
        *,
        policy: str | PolicyRequest = "scaar",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        **overrides: float | str,
    ) -> AsyncIterator[AsyncIterator[AnswerEvent]]:
        """Every decision as it is made, :class:`AnswerFinished` last.

        Leaving the block cancels the call and all work for it.
        """
        request = AnswerRequest(
            question=question,
            policy=policy_request(policy, overrides),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=failure_choice(on_failure),
            filters=filter_choices(filters),
        )
        async with aclosing(self._answerer.stream_answer(request)) as events:
            yield events

    async def answer(
        self,
        question: str,
        *,
        policy: str | PolicyRequest = "scaar",
        index: str = INDEX,
        budget: BudgetLimits = BUDGET,
        prompt_profile: str = "",
        request_id: str = "",
        on_failure: OnFailure | str = OnFailure.FAIL,
        filters: Filters = NO_FILTERS,
        **overrides: float | str,
    ) -> Answer:
        """The answer alone."""
        request = AnswerRequest(
            question=question,
            policy=policy_request(policy, overrides),
            index=index,
            budget=budget,
            prompt_profile=prompt_profile,
            request_id=request_id,
            on_failure=failure_choice(on_failure),
            filters=filter_choices(filters),
        )
        return await self._answerer.answer(request)


@asynccontextmanager
async def open_client(
    target: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    metadata: Mapping[str, str | bytes] | None = None,
    timeout_s: float = 3600.0,
    ca_file: Path | str | None = None,
    cert_file: Path | str | None = None,
    key_file: Path | str | None = None,
    token: str | None = None,
) -> AsyncIterator[Client]:
    """A client of the orchestrator at ``dns:///host:port`` and the like.

    ``ca_file``, whom to trust, makes the channel one of TLS, and so do ``cert_file`` and
    ``key_file``, what to be known by; files that change are read again at the next call.
    ``credentials`` (``grpc.ssl_channel_credentials()``) in their place are for whoever has some.
    ``token`` is a bearer token, and goes by TLS only. ``metadata`` goes with every call; no call
    takes longer than ``timeout_s``. Nothing is connected yet.

    Raises:
        InvalidRequest: a file cannot be used, or metadata, token or time not be sent.
    """
    if not 0 < timeout_s <= _MAX_TIMEOUT_S:
        text = f"must be in (0, {_MAX_TIMEOUT_S:g}], not {timeout_s:g}"
        raise InvalidRequest.of("timeout_s", text)
    sent = sendable_metadata(metadata or {})
    files = (ca_file, cert_file, key_file)
    secured = client_credentials(credentials, files, token)
    async with open_channel(
        target, service=SERVICE_NAME, settings=_CHANNEL, credentials=secured
    ) as channel:
        yield Client(RemoteAnswerer(channel, target, timeout_s=timeout_s, metadata=sent))
