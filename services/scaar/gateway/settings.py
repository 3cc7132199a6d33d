"""The gateway's settings, from ``SCAAR_GATEWAY_*``."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from scaar.core.validation import OPTIONAL_INDEX_NAME
from scaar.http_server.hosts import AllowedHosts
from scaar.http_server.name_lists import items_of, names_of
from scaar.runtime.settings import ProcessSettings, Target, settings_of

_ORIGIN = re.compile(r"\*|null|[a-z][a-z0-9+.-]*://[^/\s]+")
_PUBLIC_URL = r"^(https?://[^\s?#]*[^\s?#/])?$"
_Origins = Annotated[
    tuple[str, ...],
    AfterValidator(names_of(_ORIGIN, rule="must be * or SCHEME://HOST[:PORT] without a path")),
    Field(json_schema_extra=items_of(_ORIGIN)),
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

    models: Literal["few", "all"] = "few"
    """Models that ``GET /v1/models`` lists: ``few`` for ``scaar``, ``scaar@INDEX`` and
    ``scaar/no_retrieval``, ``all`` for every policy with every index. Those that are not listed
    answer too."""

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

    allowed_hosts: AllowedHosts = ()
    """Hosts by which clients may address the gateway, besides loopback names: ``HOST`` and
    ``HOST:*`` for every port, ``HOST:PORT``, ``*.DOMAIN``, or ``*`` for every host. Requests with
    another ``Host`` header are rejected with 421, which protects against DNS rebinding. By default
    a gateway on a loopback address accepts loopback names only, and a gateway on another address
    every host, except at ``/mcp``. Health checks are not restricted. Name the public host if a
    proxy in front of a gateway on loopback passes it on."""

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
