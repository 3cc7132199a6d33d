import json
from typing import Any

from scaar.runtime.channels import ChannelSettings, channel_options


def service_config(settings: ChannelSettings, service: str = "") -> dict[str, Any]:
    options = dict(channel_options(settings, service))
    config: dict[str, Any] = json.loads(str(options["grpc.service_config"]))
    return config


def test_calls_are_spread_over_the_addresses_that_serve() -> None:
    config = service_config(ChannelSettings(), "scaar.v1.ScorerService")
    assert config["loadBalancingConfig"] == [{"round_robin": {}}]
    assert config["healthCheckConfig"] == {"serviceName": "scaar.v1.ScorerService"}


def test_only_unavailability_is_tried_again() -> None:
    (method,) = service_config(ChannelSettings(attempts=3))["methodConfig"]
    assert method["retryPolicy"]["maxAttempts"] == 3
    assert method["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]
    assert "timeout" not in method


def test_one_attempt_disables_retries() -> None:
    assert "methodConfig" not in service_config(ChannelSettings(attempts=1))
