"""When a process stops asking what it depends on: one set of settings, ``SCAAR_BREAKER_*``."""

from pydantic import Field

from scaar.core.breaker import BreakerLimits
from scaar.core.errors import InvalidRequest
from scaar.runtime.settings import Settings, settings_of, variable_of


class BreakerSettings(Settings):
    """When a dependency that fails is not asked for a while, and for how long.

    Each service or server that a process calls has a breaker of its own. What counts as failed:
    that it is unavailable, that it cuts a stream off, that it takes too long.
    """

    model_config = settings_of("breaker")

    enabled: bool = True
    """Whether there are breakers. Without, every call is made, and costs its time-out where the
    service hangs."""

    failures: int = Field(default=5, ge=1, le=1000)
    """A breaker opens when so many of twice as many calls of late failed. While it is open, calls
    fail at once."""

    open_s: float = Field(default=1.0, gt=0, le=3600)
    """How long it stays open at first, in seconds; then one call is let in on trial. After each
    trial that fails it is twice as long. Up to a fifth less is left to chance."""

    max_open_s: float = Field(default=2.0, gt=0, le=3600)
    """The longest that it stays open, in seconds: about so long after a service came back it is
    asked again."""

    slow_s: float = Field(default=10.0, gt=0, le=3600)
    """A call that runs out of time counts as failed where it got no sign for so many seconds, or
    for all the time of its port's own limit, such as ``scorer_timeout_s``. One whose caller gave
    it less says nothing."""


def read_breaker_limits() -> BreakerLimits | None:
    """The limits that the settings in use give; None where there are no breakers.

    Raises:
        InvalidRequest: naming what is wrong.
    """
    return limits_of(BreakerSettings.read())


def limits_of(settings: BreakerSettings) -> BreakerLimits | None:
    """The limits of these settings.

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
