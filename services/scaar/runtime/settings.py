"""Settings of services, read from flags, the environment and a configuration file."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from scaar.core.errors import AlreadyExists, InvalidRequest, Violation
from scaar.runtime.addresses import is_address
from scaar.runtime.config_file import ConfigFile, config_in_use, source_of
from scaar.runtime.targets import PATTERN, check_target


def _target(target: str, *, others: tuple[str, ...] = ()) -> str:
    """Validate the target of a channel; ``others`` are the values that stand for no channel.

    Raises:
        PydanticCustomError: the target is invalid.
    """
    if target not in others:
        try:
            check_target(target)
        except InvalidRequest as error:
            text = error.violations[0].description
            raise PydanticCustomError("target", "{text}", {"text": text}) from error
    return target


Target = Annotated[
    str, AfterValidator(_target), WithJsonSchema({"type": "string", "pattern": PATTERN})
]
"""A setting with the target of a service."""
EmbeddableTarget = Annotated[str, AfterValidator(partial(_target, others=("embedded",)))]
"""A setting with the target of a service, or ``embedded``."""
OptionalTarget = Annotated[str, AfterValidator(partial(_target, others=("",)))]
"""A setting with the target of a service, or empty for none."""


def _address(address: str | None, *, socket: bool) -> str | None:
    """Validate an address to listen on, if any; ``socket`` is whether it may be a Unix socket.

    Raises:
        PydanticCustomError: the address is invalid.
    """
    if address is None or is_address(address) or (socket and address.startswith("unix:")):
        return address
    text = {"text": f"must be host:port, not {address!r}"}
    raise PydanticCustomError("address", "{text}", text)


_ADDRESS = AfterValidator(partial(_address, socket=True))
_TCP_ADDRESS = AfterValidator(partial(_address, socket=False))


def settings_of(service: str) -> SettingsConfigDict:
    """Return the configuration of frozen settings read from ``SCAAR_<SERVICE>_<FIELD>``."""
    return SettingsConfigDict(frozen=True, extra="forbid", env_prefix=f"SCAAR_{service.upper()}_")


class Settings(BaseSettings):
    """Base of settings read from flags, the environment and a section of a file.

    A flag overrides the environment, the environment the file, the file the default.
    """

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
        """Use constructor arguments only; :meth:`read` reads the other sources."""
        return (init_settings,)

    @classmethod
    def read(cls, config: ConfigFile | None = None, **flags: object) -> Self:
        """Return the settings of flags, environment and file.

        ``config`` defaults to the file that ``SCAAR_CONFIG`` names. A flag that is None is not
        set. Unknown variables are ignored, since container platforms set some of their own, and so
        are empty ones.

        Raises:
            InvalidRequest: naming every setting that is unknown or out of range, with its source,
                including values that another source overrides; or settings that are incompatible.
        """
        return cls.read_each(config, **flags)

    @classmethod
    def read_each(cls, config: ConfigFile | None = None, **flags: object) -> Self:
        """Return the settings as :meth:`read` does, but do not check that they are compatible.

        For a process in which options of the command may still add settings.

        Raises:
            InvalidRequest: naming every setting that is unknown or out of range.
        """
        environment = _environment(cls)
        sources = (
            _file(cls, config or config_in_use()),
            environment,
            _Source({name: value for name, value in flags.items() if value is not None}, _flag),
        )
        wrong = [violation for source in sources for violation in source.violations(cls)]
        if wrong:
            raise InvalidRequest(wrong)
        return cls.model_validate({**sources[0].values, **environment.values, **sources[2].values})


class ProcessSettings(Settings):
    """Settings of a process that serves calls: its address, its end, its log and its metrics."""

    address: Annotated[str, _TCP_ADDRESS] = "127.0.0.1:0"
    """Address to listen on, ``host:port``. Port 0 selects a free port."""

    tls_cert_file: Path | None = None
    """Path to the server's certificate chain, in PEM. Requires ``tls_key_file``. Without it the
    server uses plaintext. Certificate and key are reloaded when the files change."""

    tls_key_file: Path | None = None
    """Path to the unencrypted private key of ``tls_cert_file``, in PEM."""

    drain_s: float = Field(default=0.0, ge=0)
    """Seconds between a stop signal and the shutdown, in which the service reports NOT_SERVING and
    still accepts calls, so that load balancers remove it first. Set it to at least the interval of
    their health checks."""

    stop_grace_s: float = Field(default=5.0, ge=0)
    """Seconds that running calls may take to finish after ``drain_s``. Calls still running then are
    cancelled."""

    log_format: Literal["text", "json"] = "text"
    """Format of the log on stderr: ``text``, one line for each record, or ``json``, one object for
    each line, with the ids of request and trace."""

    log_level: Literal["info", "warning", "error"] = "warning"
    """Minimum level of log records. ``info`` adds a record for every call and every answer."""

    log_content: bool = False
    """Enables the logging of questions, queries, passages and answers, and of the messages of
    unexpected exceptions, which may quote them."""

    metrics_address: Annotated[str | None, _TCP_ADDRESS] = None
    """Address, ``host:port``, that serves Prometheus metrics over HTTP. Port 0 selects a free port.
    By default no metrics are collected. Requires the extra ``telemetry``."""


class ServiceSettings(ProcessSettings):
    """Settings of the gRPC server of a service; each service's settings extend them.

    A subclass names its variables: ``model_config = settings_of("generator")`` reads
    ``SCAAR_GENERATOR_ADDRESS`` and so on.
    """

    address: Annotated[str, _ADDRESS] = "127.0.0.1:0"
    """Address to listen on, ``host:port`` or ``unix:/path``. Port 0 selects a free port."""

    health_address: Annotated[str | None, _ADDRESS] = None
    """Additional address, ``host:port``, that serves health checks only, in plaintext and without
    authentication. Set it for probes that cannot present a client certificate, such as those of
    Kubernetes. By default health is served on ``address`` only."""

    reflection: bool = True
    """Enables gRPC server reflection, which lists the contract for tools such as grpcurl. Disable
    it in production."""

    tls_client_ca_file: Path | None = None
    """Path to the certificates, in PEM, of the authority that must have signed every client's
    certificate. Setting it enables mutual TLS, for health checks on ``address`` too. By default
    clients need no certificate."""

    identities_file: Path | None = None
    """Path to a YAML or JSON file of permitted callers: SHA-256 digests of bearer tokens and names
    of client certificates, each with its tenant. Other callers are rejected with UNAUTHENTICATED;
    health checks need no identity. Its section ``tenants`` names the indexes that each tenant may
    read through the orchestrator and the evaluator; without it, every tenant may read every index.
    By default every caller is accepted. The file is reloaded when it changes."""

    max_call_s: float = Field(default=3660.0, gt=0)
    """Maximum duration of a call, in seconds, whatever deadline the client sets. A longer call
    ends with DEADLINE_EXCEEDED."""

    max_concurrent_calls: int = Field(default=64, ge=1, le=100_000)
    """Maximum number of concurrent calls, counting open streams. Further calls are rejected with
    RESOURCE_EXHAUSTED and a RetryInfo delay. Health checks and reflection are not counted. The
    size limits of requests are in docs/contract.md, the memory that a call needs in
    docs/operations.md."""

    tenant_calls_per_s: float | None = Field(default=None, gt=0, le=1_000_000)
    """Sustained rate of calls per second that one tenant may make. Further calls are rejected with
    RESOURCE_EXHAUSTED and a RetryInfo delay. By default the rate is not limited. The tenant is
    that of the caller's identity if ``identities_file`` is set, else the value of the
    ``x-scaar-tenant`` metadata, which is not verified."""

    tenant_burst: int = Field(default=10, ge=1, le=1_000_000)
    """Number of calls that one tenant may make in a burst before ``tenant_calls_per_s`` limits
    it. No effect if ``tenant_calls_per_s`` is not set."""

    tenant_concurrent_calls: int | None = Field(default=None, ge=1, le=100_000)
    """Maximum number of concurrent calls of one tenant. Further calls are rejected with
    RESOURCE_EXHAUSTED and a RetryInfo delay. By default only ``max_concurrent_calls`` applies."""

    max_connection_age_s: float = Field(default=300.0, gt=0)
    """Age at which a connection is closed, in seconds. Running calls finish first. Clients resolve
    a name again only when a connection closes, so a lower value spreads calls to new replicas
    sooner."""

    max_connections: int = Field(default=512, ge=1, le=1_000_000)
    """Maximum number of open connections. Further connections are closed as soon as they are
    accepted, and their clients see UNAVAILABLE. Probes of ``address`` count too, those of
    ``health_address`` do not. The default is half of the usual limit of 1,024 open files; raise
    that limit with it."""

    max_connection_idle_s: float = Field(default=300.0, gt=0)
    """Seconds without a call after which a connection is closed, so that idle clients do not use up
    ``max_connections``. A client reconnects with its next call. A health watch is a call. No
    effect if ``max_connection_age_s`` is shorter."""

    keepalive_s: float = Field(default=60.0, gt=0)
    """Seconds without traffic after which the server sends a keepalive ping on a connection."""

    keepalive_timeout_s: float = Field(default=20.0, gt=0)
    """Seconds to wait for the reply to a keepalive ping. Without a reply the connection is closed
    and its calls are cancelled."""

    min_ping_interval_s: float = Field(default=30.0, gt=0)
    """Minimum interval, in seconds, between the keepalive pings of a client without calls. The
    connection of a client that pings more often is closed. The clients of scaar ping every 60 s,
    and only during calls."""

    otlp_endpoint: str | None = None
    """URL of the collector that traces are exported to with OTLP over gRPC,
    ``http://collector:4317``, or ``https://`` for TLS. By default no traces are recorded. Requires
    the extra ``telemetry``."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Settings of one source; ``named`` maps a field to its name there."""

    values: Mapping[str, object]
    named: Callable[[str], str]
    unread: tuple[Violation, ...] = ()

    def violations(self, cls: type[Settings]) -> list[Violation]:
        """Return a violation for each unknown or invalid setting of the source."""
        found = list(self.unread)
        try:
            cls.model_validate(dict(self.values))
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                field, *inner = (str(part) for part in each["loc"] or ("*",))
                name = self.named(field) + "".join(f"[{part}]" for part in inner)
                known = f"is not a setting; known: {', '.join(sorted(cls.model_fields))}"
                unknown = each["type"] == "extra_forbidden"
                found.append(Violation(name, known if unknown else each["msg"]))
        return found


def section_name(cls: type[Settings]) -> str:
    """Return the name of the section of a configuration file for these settings."""
    return (cls.model_config.get("env_prefix") or "").lower().removeprefix("scaar_").rstrip("_")


def variable_of(cls: type[Settings], field: str) -> str:
    """Return the name of the environment variable of a field."""
    return f"{cls.model_config.get('env_prefix') or ''}{field.upper()}"


@contextmanager
def sources_named(cls: type[Settings], flags: Mapping[str, str | None]) -> Iterator[None]:
    """Name the sources of settings that turn out to be invalid when they are used.

    Raises:
        InvalidRequest: as in the block, with the fields of the settings by their sources.
        AlreadyExists: as in the block, with the source of an address in use.
    """

    def source(field: str) -> str:
        if field not in cls.model_fields:
            return field
        return source_of(variable_of(cls, field)) if flags.get(field) is None else _flag(field)

    try:
        yield
    except InvalidRequest as error:
        named = [Violation(source(each.field), each.description) for each in error.violations]
        raise InvalidRequest(named, detail=error.detail) from error
    except AlreadyExists as error:
        if setting := error.metadata.get("setting"):
            text = f"{error.message}; choose another with {source(setting)}"
            raise AlreadyExists(text, **error.metadata) from error
        raise


def _flag(field: str) -> str:
    return f"--{field.removesuffix('_target').replace('_', '-')}"


def _file(cls: type[Settings], config: ConfigFile | None) -> _Source:
    section = section_name(cls)
    if config is None:
        return _Source({}, str)
    return _Source(config.sections.get(section, {}), partial(config.named, section))


def _environment(cls: type[Settings]) -> _Source:
    prefix = cls.model_config.get("env_prefix") or ""
    # Compose files and charts set a variable that has no value to the empty string.
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
