"""Settings: flags over the environment over a configuration file over defaults."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from scaar.core.errors import InvalidRequest, Violation


def settings_of(service: str) -> SettingsConfigDict:
    """Frozen settings, read from ``SCAAR_<SERVICE>_<FIELD>``."""
    return SettingsConfigDict(frozen=True, extra="forbid", env_prefix=f"SCAAR_{service.upper()}_")


class ServiceSettings(BaseSettings):
    """How a service is served. A service's own settings derive from these.

    The derived class names its environment: ``model_config = settings_of("generator")`` reads
    ``SCAAR_GENERATOR_ADDRESS`` and so on.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    address: str = "127.0.0.1:0"
    """Where to listen, ``host:port`` or ``unix:/path``; port 0 takes a free one."""

    reflection: bool = True
    """Whether the server tells its contract to tools such as grpcurl."""

    max_call_s: float = Field(default=3660.0, gt=0)
    """The longest that a call may take, in seconds, whatever deadline its client set."""

    max_concurrent_calls: int = Field(default=64, ge=1, le=100_000)
    """Calls under way at a time, streams as long as they live; one more is refused as overload
    with the time after which to come again. Each may hold a request and a response of 16 MiB, the
    largest there are: 64 of them are 2 GiB. Health and reflection are not counted."""

    max_connection_age_s: float = Field(default=300.0, gt=0)
    """How long a connection lives, in seconds. Clients look a name up again only when a connection
    ends, and then find the replicas that have come since. A call under way goes on to its end."""

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

    @classmethod
    def read(cls, file_values: Mapping[str, object] | None = None, **flags: object) -> Self:
        """The settings of flags, environment and file; a flag that is None was not given.

        Raises:
            InvalidRequest: naming each setting that is unknown or out of its range.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        try:
            environment = EnvSettingsSource(cls)()
            return cls.model_validate({**(file_values or {}), **environment, **given})
        except ValueError as error:
            raise InvalidRequest(_violations(cls, error)) from error


def _violations(cls: type[ServiceSettings], error: ValueError) -> tuple[Violation, ...]:
    prefix = cls.model_config.get("env_prefix") or ""
    if not isinstance(error, ValidationError):
        # A value of the environment that is not the JSON that its field takes.
        return (Violation(prefix + "*", str(error)),)
    return tuple(
        Violation(prefix + "_".join(str(part) for part in each["loc"]).upper(), each["msg"])
        for each in error.errors(include_url=False, include_input=False)
    )
