"""A tenant's share of a server, by a clock of the test's own."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import Overloaded
from scaar.runtime.settings import ServiceSettings
from scaar.runtime.tenant_limits import TenantLimits, TokenBucket


class Clock:
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def is_through(bucket: TokenBucket) -> bool:
    if bucket.wait_s():
        return False
    bucket.take()
    return True


def call(limits: TenantLimits, tenant: str) -> None:
    with limits.call(tenant):
        pass


@given(
    per_s=st.floats(0.1, 100),
    burst=st.integers(1, 20),
    pauses=st.lists(st.floats(0, 5), min_size=1, max_size=100),
)
def test_no_more_come_through_than_the_burst_and_the_rate_allow(
    per_s: float, burst: int, pauses: list[float]
) -> None:
    clock = Clock()
    bucket = TokenBucket(per_s, burst, clock)
    through = 0
    for now in accumulate(pauses):
        clock.now = now
        through += is_through(bucket)
    assert through <= burst + per_s * clock.now + 1e-6


@given(per_s=st.floats(0.1, 1000), burst=st.integers(1, 20))
def test_a_call_after_the_retry_delay_is_accepted(per_s: float, burst: int) -> None:
    clock = Clock()
    bucket = TokenBucket(per_s, burst, clock)
    assert all(is_through(bucket) for _ in range(burst))
    wait_s = bucket.wait_s()
    assert 0 < wait_s <= 1 / per_s
    clock.now += wait_s * (1 + 1e-6)
    assert bucket.wait_s() == 0


def test_tenants_are_limited_separately() -> None:
    clock = Clock()
    limits = TenantLimits(ServiceSettings(tenant_calls_per_s=2, tenant_burst=1), clock)
    call(limits, "acme")
    with pytest.raises(
        Overloaded, match="tenant 'acme' exceeded its limit of 2 calls per second"
    ) as caught:
        call(limits, "acme")
    assert caught.value.retry_after_s == 0.5
    assert caught.value.metadata == {"tenant": "acme", "limit": "2"}
    call(limits, "globex")
    clock.now += 0.5
    call(limits, "acme")


def test_a_call_rejected_for_concurrency_uses_no_rate_token() -> None:
    settings = ServiceSettings(tenant_calls_per_s=1, tenant_burst=3, tenant_concurrent_calls=1)
    limits = TenantLimits(settings, Clock())
    with limits.call("acme"):
        for _ in range(5):
            with pytest.raises(Overloaded, match="at its limit of 1 concurrent calls"):
                call(limits, "acme")
    call(limits, "acme")
    call(limits, "acme")
    with pytest.raises(Overloaded, match="exceeded its limit of 1 call per second"):
        call(limits, "acme")


def test_a_slot_is_released_however_the_call_ends() -> None:
    limits = TenantLimits(ServiceSettings(tenant_concurrent_calls=1))
    for _ in range(3):
        with pytest.raises(ValueError, match="ended"):
            fail_within(limits)


def fail_within(limits: TenantLimits) -> None:
    with limits.call("acme"):
        with pytest.raises(Overloaded, match="tenant 'acme' is at its limit of 1 concurrent calls"):
            call(limits, "acme")
        raise ValueError("ended")


def test_tenants_are_forgotten_but_for_those_that_are_being_served() -> None:
    settings = ServiceSettings(tenant_calls_per_s=1, tenant_burst=1, tenant_concurrent_calls=1)
    limits = TenantLimits(settings, Clock(), max_tenants=3)
    with limits.call("acme"):
        for number in range(100):
            call(limits, f"tenant-{number}")
        assert len(limits) == 3
        with pytest.raises(Overloaded, match="tenant 'acme'"):
            call(limits, "acme")
