"""Settings: flags over the environment over a configuration file over defaults."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from scaar.core.errors import InvalidRequest, Violation
from scaar.runtime.config_file import ConfigFile, config_in_use


def settings_of(service: str) -> SettingsConfigDict:
    """Frozen settings, read from ``SCAAR_<SERVICE>_<FIELD>``."""
    return SettingsConfigDict(frozen=True, extra="forbid", env_prefix=f"SCAAR_{service.upper()}_")


class Settings(BaseSettings):
    """Settings that are read from flags, the environment and a file's section."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is made is what was given; :meth:`read` alone looks elsewhere."""
        return (init_settings,)

    @classmethod
    def read(cls, config: ConfigFile | None = None, **flags: object) -> Self:
        """The settings of flags, environment and file; a flag that is None was not given.

        The file is the one in use unless one is given. A variable of the environment that is none
        of the settings is passed over: container platforms set some of their own. An empty one
        gives nothing.

        Raises:
            InvalidRequest: naming each setting that is unknown or out of its range, wherever it
                was given, even where another goes over it.
        """
        environment = _environment(cls)
        sources = (
            _file(cls, config or config_in_use()),
            environment,
            _Source({name: value for name, value in flags.items() if value is not None}, _flag),
        )
        wrong = [violation for source in sources for violation in source.wrong(cls)]
        if wrong:
            raise InvalidRequest(wrong)
        return cls.model_validate({**sources[0].values, **environment.values, **sources[2].values})


class ServiceSettings(Settings):
    """How a service is served. A service's own settings derive from these.

    The derived class names its environment: ``model_config = settings_of("generator")`` reads
    ``SCAAR_GENERATOR_ADDRESS`` and so on.
    """

    address: str = "127.0.0.1:0"
    """Where to listen, ``host:port`` or ``unix:/path``; port 0 takes a free one."""

    health_address: str | None = None
    """Where health alone is told besides, in plaintext and to everybody, ``host:port``: for probers
    that can show no certificate. Unset, it is told at ``address`` only."""

    reflection: bool = True
    """Whether the server tells its contract to tools such as grpcurl; better off in production."""

    tls_cert_file: Path | None = None
    """The server's certificate and those between it and its authority, in PEM; set beside
    ``tls_key_file``. Plaintext without. The files are read again when they change."""

    tls_key_file: Path | None = None
    """The unencrypted key of that certificate, in PEM."""

    tls_client_ca_file: Path | None = None
    """The authority, in PEM, whose certificate every client has to show, who asks for health
    too. Without it clients need none."""

    identities_file: Path | None = None
    """Who may call, as YAML or JSON: SHA-256 of bearer tokens and names of certificates, each with
    its tenant. Without it everybody may. Health is open in either case. The file is read again
    when it changes."""

    max_call_s: float = Field(default=3660.0, gt=0)
    """The longest that a call may take, in seconds, whatever deadline its client set."""

    max_concurrent_calls: int = Field(default=64, ge=1, le=100_000)
    """Maximum number of concurrent calls, counting open streams. Further calls are rejected with
    RESOURCE_EXHAUSTED and a RetryInfo delay. Health checks and reflection are not counted. The
    limits of requests are in docs/contract.md, what a call can cost in docs/operations.md."""

    tenant_calls_per_s: float | None = Field(default=None, gt=0, le=1_000_000)
    """Calls a second that one tenant may make in the long run; one more is refused as overload with
    the time after which to come again. No limit without. The tenant is the caller's where
    ``identities_file`` is set, else the one that ``x-scaar-tenant`` says, which is not proved."""

    tenant_burst: int = Field(default=10, ge=1, le=1_000_000)
    """Calls that one tenant may make at once before it is held to that rate."""

    tenant_concurrent_calls: int | None = Field(default=None, ge=1, le=100_000)
    """Calls that one tenant may have under way at a time; one more is refused as overload. No limit
    without, but that of the service."""

    max_connection_age_s: float = Field(default=300.0, gt=0)
    """How long a connection lives, in seconds. Clients look a name up again only when a connection
    ends, and then find the replicas that have come since. A call under way goes on to its end."""

    max_connections: int = Field(default=512, ge=1, le=1_000_000)
    """Maximum number of open connections. Further connections are closed as soon as they are
    accepted, and their clients see UNAVAILABLE. Probes of ``address`` count too, those of
    ``health_address`` do not. The default is half of the usual limit of 1,024 open files; raise
    that limit with it."""

    max_connection_idle_s: float = Field(default=300.0, gt=0)
    """Seconds without a call after which a connection is closed, so that clients that are gone
    or forgotten do not use up ``max_connections``. A client connects again with its next call. A
    health watch is a call. Without effect where ``max_connection_age_s`` is shorter."""

    keepalive_s: float = Field(default=60.0, gt=0)
    """Seconds without traffic after which a connection is asked whether it lives."""

    keepalive_timeout_s: float = Field(default=20.0, gt=0)
    """Seconds without an answer to that after which the connection is given up, and the work for
    its calls ended."""

    min_ping_interval_s: float = Field(default=30.0, gt=0)
    """How often a client without calls may ask the same, in seconds; one that asks oftener is cut
    off. The clients of scaar ask every 60 s, and with calls under way only."""

    drain_s: float = Field(default=0.0, ge=0)
    """How long the service reports NOT_SERVING and still serves before it stops, in seconds:
    balancers look elsewhere meanwhile."""

    stop_grace_s: float = Field(default=5.0, ge=0)
    """How long calls may go on when the service stops, in seconds."""

    log_format: Literal["text", "json"] = "text"
    """How the service logs to stderr: a line of ``text``, or a ``json`` object a line with the ids
    of request and trace."""

    log_level: Literal["info", "warning", "error"] = "warning"
    """What is logged: errors, warnings too, or with ``info`` a line for every call and every answer
    besides."""

    log_content: bool = False
    """Whether the log may have the words of questions, queries, passages and answers, and the texts
    of unforeseen errors, which may quote them."""

    metrics_address: str | None = None
    """Where Prometheus reads the service's metrics by HTTP, ``host:port``; port 0 takes a free one.
    Unset, none are kept. Needs the extra ``telemetry``."""

    otlp_endpoint: str | None = None
    """Where the service's traces go by OTLP over gRPC, ``http://collector:4317`` or by TLS
    ``https://``. Unset, there are none. Needs the extra ``telemetry``."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Settings from one place, and what each is called there."""

    values: Mapping[str, object]
    named: Callable[[str], str]
    unread: tuple[Violation, ...] = ()

    def wrong(self, cls: type[Settings]) -> list[Violation]:
        """What is wrong with them."""
        found = list(self.unread)
        try:
            cls.model_validate(dict(self.values))
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                field, *inner = (str(part) for part in each["loc"] or ("*",))
                name = self.named(field) + "".join(f"[{part}]" for part in inner)
                known = f"is no setting; known: {', '.join(sorted(cls.model_fields))}"
                unknown = each["type"] == "extra_forbidden"
                found.append(Violation(name, known if unknown else each["msg"]))
        return found


def section_name(cls: type[Settings]) -> str:
    """The section of a configuration file that is read for these settings."""
    return (cls.model_config.get("env_prefix") or "").lower().removeprefix("scaar_").rstrip("_")


def variable_of(cls: type[Settings], field: str) -> str:
    """The variable of the environment that is read for a field."""
    return f"{cls.model_config.get('env_prefix') or ''}{field.upper()}"


def _flag(field: str) -> str:
    return f"--{field.removesuffix('_target').replace('_', '-')}"


def _file(cls: type[Settings], config: ConfigFile | None) -> _Source:
    section = section_name(cls)
    if config is None:
        return _Source({}, str)
    return _Source(config.sections.get(section, {}), partial(config.named, section))


def _environment(cls: type[Settings]) -> _Source:
    prefix = cls.model_config.get("env_prefix") or ""
    # What sets variables (compose, a chart) leaves one empty that it has nothing for.
    source = EnvSettingsSource(cls, env_ignore_empty=True)
    values: dict[str, object] = {}
    unread: list[Violation] = []
    for name, field in cls.model_fields.items():
        text, _, is_complex = source.get_field_value(field, name)
        try:
            value = source.prepare_field_value(name, field, text, is_complex)
        except ValueError:
            unread.append(Violation(f"{prefix}{name.upper()}", 'must be JSON, such as ["a"]'))
            continue
        if value is not None:
            values[name] = value
    return _Source(values, lambda field: f"{prefix}{field.upper()}", tuple(unread))
