"""Settings of the circuit breakers of a process, from ``SCAAR_BREAKER_*``."""

from pydantic import Field

from scaar.core.calls.breaker import BreakerLimits
from scaar.core.errors import InvalidRequest
from scaar.runtime.settings import Settings, settings_of, variable_of


class BreakerSettings(Settings):
    """When the circuit breaker of a failing dependency opens, and for how long.

    A process has one breaker for each service or server that it calls. A call counts as failed if
    the dependency is unavailable, cuts a stream off or takes too long.
    """

    model_config = settings_of("breaker")

    enabled: bool = True
    """Enables the breakers. Without them every call to a dependency that hangs takes its whole
    timeout."""

    failures: int = Field(default=5, ge=1, le=1000)
    """Number of failed calls among the last ``2 * failures`` that opens a breaker. Calls through an
    open breaker fail immediately with UNAVAILABLE."""

    open_s: float = Field(default=1.0, gt=0, le=3600)
    """Initial time that a breaker stays open, in seconds, before it admits one probe call. The time
    doubles after each failed probe, up to ``max_open_s``. It is shortened by a random share of up
    to 20 %, so that processes do not probe a recovering service in lockstep."""

    max_open_s: float = Field(default=2.0, gt=0, le=3600)
    """Maximum time that a breaker stays open between probes, in seconds. A recovered service is
    called again within this time. Must be at least ``open_s``."""

    slow_s: float = Field(default=10.0, gt=0, le=3600)
    """Seconds without a response after which a call that exceeds its deadline counts as failed. A
    call that used up the timeout of its port, such as ``scorer_timeout_s``, counts too. A call
    with a shorter deadline of its caller is not counted."""


def read_breaker_limits() -> BreakerLimits | None:
    """Return the limits of the current settings; None if breakers are disabled.

    Raises:
        InvalidRequest: naming the invalid settings.
    """
    return limits_of(BreakerSettings.read())


def limits_of(settings: BreakerSettings) -> BreakerLimits | None:
    """Return the limits of these settings; None if breakers are disabled.

    Raises:
        InvalidRequest: ``max_open_s`` is less than ``open_s``.
    """
    if settings.max_open_s < settings.open_s:
        name = variable_of(BreakerSettings, "max_open_s")
        text = f"must be at least open_s, {settings.open_s:g}, not {settings.max_open_s:g}"
        raise InvalidRequest.of(name, text)
    if not settings.enabled:
        return None
    return BreakerLimits(
        failures=settings.failures,
        open_s=settings.open_s,
        max_open_s=settings.max_open_s,
        slow_s=settings.slow_s,
    )
