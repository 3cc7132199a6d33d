"""Rate and concurrency limits of tenants."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from scaar.core.errors import Overloaded
from scaar.core.plurals import plural
from scaar.core.tenancy import DEFAULT_TENANT, MAX_TENANT_CHARACTERS, TENANT_KEY, proved_tenant
from scaar.runtime.admission import Admission
from scaar.runtime.handlers import Behavior, CallInterceptor, Context
from scaar.runtime.identity import metadata_of
from scaar.runtime.settings import ServiceSettings

_MAX_TENANTS = 10_000
Clock = Callable[[], float]


class TokenBucket:
    """Token bucket that admits ``per_s`` calls per second, with bursts of up to ``burst``."""

    def __init__(self, per_s: float, burst: int, clock: Clock = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def wait_s(self) -> float:
        """Return the seconds until there is a token, 0 if there is one now."""
        now = self._clock()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_s)
        self._at = now
        return 0.0 if self._tokens >= 1 else (1 - self._tokens) / self._per_s

    def take(self) -> None:
        """Take the token that :meth:`wait_s` has found."""
        self._tokens -= 1


class TenantLimits:
    """Limits of each tenant. The most recent ``max_tenants`` tenants are tracked."""

    def __init__(
        self,
        settings: ServiceSettings,
        clock: Clock = time.monotonic,
        max_tenants: int = _MAX_TENANTS,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._max_tenants = max_tenants
        self._tenants: dict[str, tuple[TokenBucket | None, Admission | None]] = {}

    def __len__(self) -> int:
        return len(self._tenants)

    @contextmanager
    def call(self, tenant: str) -> Iterator[None]:
        """Count a call of the tenant for the duration of the block.

        Raises:
            Overloaded: the tenant is at its rate or concurrency limit.
        """
        bucket, admission = self._of(tenant[:MAX_TENANT_CHARACTERS])
        if bucket is not None and (wait_s := bucket.wait_s()):
            limit = self._settings.tenant_calls_per_s or 0.0
            per_s, calls = f"{limit:g}", plural(limit, "call")
            text = f"tenant {tenant!r} exceeded its limit of {per_s} {calls} per second"
            raise Overloaded(text, retry_after_s=wait_s, tenant=tenant, limit=per_s)
        with nullcontext() if admission is None else admission.slot():
            # Taken last, so that a call rejected for concurrency does not cost a token.
            if bucket is not None:
                bucket.take()
            yield

    def _of(self, tenant: str) -> tuple[TokenBucket | None, Admission | None]:
        found = self._tenants.pop(tenant, None) or self._new(tenant)
        self._tenants[tenant] = found
        if len(self._tenants) > self._max_tenants:
            self._forget_one(tenant)
        return found

    def _new(self, tenant: str) -> tuple[TokenBucket | None, Admission | None]:
        per_s, limit = self._settings.tenant_calls_per_s, self._settings.tenant_concurrent_calls
        subject = f"tenant {tenant!r}"
        return (
            None if per_s is None else TokenBucket(per_s, self._settings.tenant_burst, self._clock),
            None if limit is None else Admission(limit, self._clock, subject=subject),
        )

    def _forget_one(self, but: str) -> None:
        """Forget the tenant with the oldest last call, of those without a call in progress."""
        for tenant, (_, admission) in self._tenants.items():
            if tenant != but and (admission is None or not admission.in_progress):
                del self._tenants[tenant]
                return


class TenantLimitInterceptor(CallInterceptor):
    """Enforces the limits of tenants before a request is decoded; health and reflection are exempt.

    The tenant is that of the caller's identity, else the one in the metadata.
    """

    def __init__(self, limits: TenantLimits) -> None:
        self._limits = limits

    def around(self, behavior: Behavior, method: str) -> Behavior:
        async def limited(request: Any, context: Context) -> Any:
            claimed = metadata_of(context, TENANT_KEY)
            tenant = proved_tenant() or (claimed[0] if claimed else DEFAULT_TENANT)
            with self._limits.call(tenant):
                return await behavior(request, context)

        return limited
