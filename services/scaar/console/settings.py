"""The console's settings, from ``SCAAR_CONSOLE_*``."""

from pydantic import Field

from scaar.http_server.hosts import AllowedHosts
from scaar.runtime.settings import OptionalTarget, ProcessSettings, Target, settings_of


class ConsoleSettings(ProcessSettings):
    """Settings of the console, pages over an orchestrator, its records and its evaluations.

    The console keeps no state and authenticates no caller: it passes bearer tokens on, and the
    services decide. A proxy that signs users in sends their token with every request.
    """

    model_config = settings_of("console")

    orchestrator_target: Target = "dns:///127.0.0.1:50051"
    """Target of the orchestrator. All channels use the settings ``SCAAR_CHANNEL_*``."""

    records_target: OptionalTarget = ""
    """Target of the service of records. Without it, there are no pages of recorded answers."""

    evaluator_target: OptionalTarget = ""
    """Target of the evaluator. Without it, there are no pages of evaluations."""

    read_only: bool = True
    """Leaves out what changes stored data: feedback on answers. Asking is always possible."""

    trace_url: str = Field(default="", pattern=r"^$|^https?://\S*\{trace_id\}\S*$")
    """URL of the page of a trace, with ``{trace_id}`` for its id, such as
    ``https://traces.example.com/trace/{trace_id}``. Without it, pages show the id alone."""

    docs_url: str = Field(default="", pattern=r"^$|^https?://\S+$")
    """URL of the documentation site that ``make docs`` builds, such as
    ``https://docs.example.com/scaar``, to which the pages of policies link. Without it, they name
    the file."""

    require_token: bool = False
    """Rejects requests without a bearer token with 401, before a service is called. Always on if
    ``SCAAR_CHANNEL_CERT_FILE`` or ``SCAAR_CHANNEL_TOKEN_FILE`` is set: callers without a token
    would otherwise act under the identity of the console."""

    allowed_hosts: AllowedHosts = ()
    """Hosts by which browsers may address the console, besides loopback names: ``HOST`` and
    ``HOST:*`` for every port, ``HOST:PORT``, ``*.DOMAIN``, or ``*`` for every host. Requests with
    another ``Host`` header are rejected with 421, which protects against DNS rebinding. By default
    a console on a loopback address accepts loopback names only, and a console on another address
    every host. Health checks are not restricted. Name the public host if a proxy in front of a
    console on loopback passes it on."""

    max_concurrent_requests: int = Field(default=64, ge=1, le=100_000)
    """Maximum number of concurrent requests, counting open streams. Further requests are rejected
    with 429. Health checks are not counted."""

    write_timeout_s: float = Field(default=30.0, gt=0, le=3600, allow_inf_nan=False)
    """Maximum time, in seconds, that a client may take to read what it was sent. The stream of a
    slower client is closed, and its answer is cancelled."""

    keepalive_s: float = Field(default=15.0, gt=0, le=3600, allow_inf_nan=False)
    """Seconds without an event after which a live answer carries a comment, so that proxies keep it
    open."""
