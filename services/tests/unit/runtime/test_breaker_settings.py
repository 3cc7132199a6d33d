import pytest

from scaar.core.calls.breaker import BreakerLimits
from scaar.core.errors import InvalidRequest
from scaar.runtime.breaker_settings import read_breaker_limits


def test_breakers_are_enabled_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_breaker_limits() == BreakerLimits()
    monkeypatch.setenv("SCAAR_BREAKER_FAILURES", "3")
    monkeypatch.setenv("SCAAR_BREAKER_OPEN_S", "0.5")
    monkeypatch.setenv("SCAAR_BREAKER_MAX_OPEN_S", "30")
    monkeypatch.setenv("SCAAR_BREAKER_SLOW_S", "2")
    limits = BreakerLimits(failures=3, open_s=0.5, max_open_s=30.0, slow_s=2.0)
    assert read_breaker_limits() == limits
    monkeypatch.setenv("SCAAR_BREAKER_ENABLED", "false")
    assert read_breaker_limits() is None


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("FAILURES", "0", "greater than or equal to 1"),
        ("OPEN_S", "0", "greater than 0"),
        ("SLOW_S", "3601", "less than or equal to 3600"),
        ("MAX_OPEN_S", "0.5", "must be at least open_s, 1, not 0.5"),
    ],
)
def test_values_out_of_range_are_named(
    monkeypatch: pytest.MonkeyPatch, field: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"SCAAR_BREAKER_{field}", value)
    with pytest.raises(InvalidRequest, match=f"SCAAR_BREAKER_{field}: .*{message}"):
        read_breaker_limits()
