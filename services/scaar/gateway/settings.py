"""The gateway's settings, from ``SCAAR_GATEWAY_*``."""

import re
from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from scaar.core.validation import OPTIONAL_INDEX_NAME
from scaar.runtime.settings import ProcessSettings, Target, settings_of

_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s]+")
_HOST = re.compile(r"[^/\s]+")
_PUBLIC_URL = r"^(https?://[^\s?#]*[^\s?#/])?$"


def _checked(names: tuple[str, ...], *, pattern: re.Pattern[str], rule: str) -> tuple[str, ...]:
    """Validate names that requests are compared with.

    Raises:
        PydanticCustomError: no request can have one of them.
    """
    for name in names:
        if not pattern.fullmatch(name):
            text = {"text": f"{rule}, not {name!r}"}
            raise PydanticCustomError("name", "{text}", text)
    return names


def _items(pattern: re.Pattern[str]) -> JsonDict:
    """Return the JSON Schema of the names, for the chart."""
    return {"items": {"type": "string", "pattern": f"^({pattern.pattern})$"}}


_Origins = Annotated[
    tuple[str, ...],
    AfterValidator(
        partial(_checked, pattern=_ORIGIN, rule="must be * or SCHEME://HOST[:PORT] without a path")
    ),
    Field(json_schema_extra=_items(_ORIGIN)),
]
_Hosts = Annotated[
    tuple[str, ...],
    AfterValidator(partial(_checked, pattern=_HOST, rule="must be * or HOST[:PORT]")),
    Field(json_schema_extra=_items(_HOST)),
]


class GatewaySettings(ProcessSettings):
    """Settings of the gateway, which serves HTTP in front of an orchestrator.

    The gateway keeps no state and authenticates no caller: it passes bearer tokens on, and the
    orchestrator decides. ``drain_s`` is the time in which ``/readyz`` reports 503 and requests are
    still accepted, ``stop_grace_s`` the time that running requests get afterwards.
    """

    model_config = settings_of("gateway")

    orchestrator_target: Target = "dns:///127.0.0.1:50051"
    """Target of the orchestrator. The channel uses the settings ``SCAAR_CHANNEL_*``."""

    default_index: str = Field(default="", pattern=OPTIONAL_INDEX_NAME)
    """Index of requests whose model names none. Default: the default index of the orchestrator
    (``SCAAR_ORCHESTRATOR_DEFAULT_INDEX``)."""

    require_token: bool = False
    """Rejects requests without a bearer token with 401, before the orchestrator is called. Always
    on if ``SCAAR_CHANNEL_CERT_FILE`` or ``SCAAR_CHANNEL_TOKEN_FILE`` is set: callers without a
    token would otherwise act under the identity of the gateway."""

    citations: Literal["annotations", "markdown", "none"] = "annotations"
    """How answers cite passages if the request does not choose: ``annotations`` of the type
    ``url_citation``, ``markdown`` for a list of sources at the end of the text too, for clients
    that show no annotations, or ``none``."""

    tools: Literal["ignore", "reject"] = "ignore"
    """Requests that offer tools to the model, as chat pages do with every question: ``ignore``
    answers them without the tools and names the field in ``scaar.ignored``, ``reject`` rejects
    them. A request whose model must call a tool is always rejected."""

    url_field: str = Field(default="url", min_length=1, max_length=64)
    """Metadata field of passages with the URL that citations link to. A passage without the field
    is cited by its page at the gateway, ``/passages/INDEX/ID``."""

    public_url: str = Field(default="", pattern=_PUBLIC_URL, max_length=2048)
    """URL of the gateway as its clients reach it, such as ``https://scaar.example.com``, which
    citations of passages begin with. Default: scheme and host of the request; set it behind a proxy
    that changes these."""

    allowed_origins: _Origins = ()
    """Origins of pages whose scripts may call the gateway (CORS), such as
    ``https://app.example.com``, or ``*`` for every origin. By default browsers allow scripts of
    the same origin only."""

    allowed_hosts: _Hosts = ()
    """Names by which MCP clients may address the gateway, such as ``scaar.example.com`` or
    ``scaar.example.com:*``, besides loopback names. Requests with other ``Host`` or ``Origin``
    headers are rejected, which protects against DNS rebinding. ``*`` allows every name."""

    max_concurrent_requests: int = Field(default=256, ge=1, le=100_000)
    """Maximum number of concurrent requests, counting open streams. Further requests are rejected
    with 429 and ``Retry-After``. Health checks are not counted."""

    max_body_bytes: int = Field(default=1_048_576, ge=1024, le=67_108_864)
    """Maximum size of a request body, in bytes. A larger one is rejected with 413 before it is
    read. The orchestrator accepts questions and filters of at most 262,144 bytes."""

    write_timeout_s: float = Field(default=30.0, gt=0, le=3600, allow_inf_nan=False)
    """Maximum time, in seconds, that a client may take to read what it was sent. The stream of a
    slower client is closed, and its answer is cancelled."""

    keepalive_s: float = Field(default=15.0, gt=0, le=3600, allow_inf_nan=False)
    """Seconds without an event after which a stream carries a comment, so that proxies keep it
    open."""
