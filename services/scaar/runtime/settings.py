"""Settings: flags over the environment over a configuration file over defaults."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from scaar.core.errors import InvalidRequest, Violation

_Settings = TypeVar("_Settings", bound=BaseSettings)


class ServerSettings(BaseSettings):
    """How a service is served, read from ``SCAAR_<SERVICE>_<FIELD>`` beside its own settings."""

    model_config = SettingsConfigDict(frozen=True)

    address: str = "127.0.0.1:0"
    """Where to listen, ``host:port`` or ``unix:/path``; port 0 takes a free one."""

    reflection: bool = True
    """Whether the server tells its contract to tools such as grpcurl."""

    max_call_s: float = Field(default=3660.0, gt=0)
    """The longest that a call may take, in seconds, whatever deadline its client set."""

    drain_s: float = Field(default=0.0, ge=0)
    """How long the service reports NOT_SERVING and still serves before it stops, in seconds:
    balancers look elsewhere meanwhile."""

    stop_grace_s: float = Field(default=5.0, ge=0)
    """How long calls may go on when the service stops, in seconds."""


def read_server_settings(
    service: str, file_values: Mapping[str, object] | None = None, **flags: object
) -> ServerSettings:
    """The server settings of a service, such as ``generator``; see :func:`read_settings`."""
    prefix = f"SCAAR_{service.upper().replace('-', '_')}_"
    return read_settings(ServerSettings, file_values, prefix=prefix, **flags)


def read_settings(
    kind: type[_Settings],
    file_values: Mapping[str, object] | None = None,
    *,
    prefix: str | None = None,
    **flags: object,
) -> _Settings:
    """The settings of flags, environment and file; a flag that is None was not given.

    ``prefix`` stands in for the environment prefix of the class.

    Raises:
        InvalidRequest: naming each setting that is unknown or out of its range.
    """
    prefix = kind.model_config.get("env_prefix", "") if prefix is None else prefix
    given = {name: value for name, value in flags.items() if value is not None}
    environment = EnvSettingsSource(kind, env_prefix=prefix)()
    try:
        return kind.model_validate({**(file_values or {}), **environment, **given})
    except ValidationError as error:
        wrong = [
            Violation(prefix + "_".join(str(part) for part in each["loc"]).upper(), each["msg"])
            for each in error.errors(include_url=False, include_input=False)
        ]
        raise InvalidRequest(wrong) from error
