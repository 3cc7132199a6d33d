"""How much of a server one tenant may have: calls a second, and calls at a time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from scaar.core.errors import Overloaded
from scaar.core.evaluations import DEFAULT_TENANT
from scaar.core.tenancy import MAX_TENANT_CHARACTERS, TENANT_KEY, proved_tenant
from scaar.runtime.admission import Admission
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.runtime.identity import metadata_of
from scaar.runtime.settings import ServiceSettings

_MOST_TENANTS = 10_000
Clock = Callable[[], float]


class TokenBucket:
    """Lets ``burst`` calls through at once, and ``per_s`` a second in the long run."""

    def __init__(self, per_s: float, burst: int, clock: Clock = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left = float(burst)
        self._at = clock()

    def wait_s(self) -> float:
        """Return the seconds until there is a token, 0 if there is one now."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
        self._at = now
        return 0.0 if self._left >= 1 else (1 - self._left) / self._per_s

    def take(self) -> None:
        """Take the token that :meth:`wait_s` has found."""
        self._left -= 1


class TenantLimits:
    """The limits of the settings, for each tenant apart. Those that called last are remembered."""

    def __init__(
        self,
        settings: ServiceSettings,
        clock: Clock = time.monotonic,
        most_tenants: int = _MOST_TENANTS,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._most = most_tenants
        self._tenants: dict[str, tuple[TokenBucket | None, Admission | None]] = {}

    def __len__(self) -> int:
        return len(self._tenants)

    @contextmanager
    def call(self, tenant: str) -> Iterator[None]:
        """A call of the tenant, to the end of the block.

        Raises:
            Overloaded: the tenant has made or is making as many as it may.
        """
        bucket, admission = self._of(tenant[:MAX_TENANT_CHARACTERS])
        if bucket is not None and (wait_s := bucket.wait_s()):
            per_s = f"{self._settings.tenant_calls_per_s:g}"
            text = f"tenant {tenant!r} may make {per_s} calls a second, and has made more"
            raise Overloaded(text, retry_after_s=wait_s, tenant=tenant, limit=per_s)
        with nullcontext() if admission is None else admission.place():
            # Only now: a call that is refused for concurrency does not cost a token.
            if bucket is not None:
                bucket.take()
            yield

    def _of(self, tenant: str) -> tuple[TokenBucket | None, Admission | None]:
        found = self._tenants.pop(tenant, None) or self._new(tenant)
        self._tenants[tenant] = found
        if len(self._tenants) > self._most:
            self._forget_one(tenant)
        return found

    def _new(self, tenant: str) -> tuple[TokenBucket | None, Admission | None]:
        per_s, at_a_time = self._settings.tenant_calls_per_s, self._settings.tenant_concurrent_calls
        whose = f"tenant {tenant!r} may have"
        return (
            None if per_s is None else TokenBucket(per_s, self._settings.tenant_burst, self._clock),
            None if at_a_time is None else Admission(at_a_time, self._clock, whose=whose),
        )

    def _forget_one(self, but: str) -> None:
        """The tenant that has not called for longest, of those without a call under way."""
        for tenant, (_, admission) in self._tenants.items():
            if tenant != but and (admission is None or not admission.taken):
                del self._tenants[tenant]
                return


class TenantLimitInterceptor(CallInterceptor):
    """Holds each tenant to its limits, before a request is decoded; gRPC's own services are free.

    The tenant is the one that the caller has proved, else the one that the metadata say.
    """

    def __init__(self, limits: TenantLimits) -> None:
        self._limits = limits

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def limited(request: Any, context: Context) -> Any:
            said = metadata_of(context, TENANT_KEY)
            with self._limits.call(proved_tenant() or (said[0] if said else DEFAULT_TENANT)):
                return await behavior(request, context)

        return limited
