"""What the services of an installation of the tests' own are set to, as their environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from .installation import BACK_ENDS

PACE_MS = 30
"""What a token of the lab's TGI takes: an answer is under way for about a second."""
TENANT_CALLS = 12
"""The most calls of a tenant that an orchestrator works on at a time."""
_RECOMMENDED = '{"scaar": {"theta": 0.26, "alpha": 75}, "flare": {"theta": 0.31}}'


@dataclass(frozen=True, slots=True)
class Configured:
    """Where the services find one another, their model and whoever collects their traces."""

    targets: Mapping[str, str]
    tgi_url: str = ""
    """Empty where the generator runs the lab's model itself, whose entropies it then knows."""
    otlp_endpoint: str = ""
    secured: Mapping[str, str] | None = None
    """Settings of a service's TLS and callers, and whole variables of its channels."""

    def environment(self, service: str) -> dict[str, str]:
        """The variables of a replica, its addresses and folders aside."""
        settings: dict[str, object] = {
            "drain_s": 1,
            "stop_grace_s": 20,
            # Short, so that connections end under load too, and names are looked up again.
            "max_connection_age_s": 5,
        }
        if self.otlp_endpoint:
            settings["otlp_endpoint"] = self.otlp_endpoint
        match service:
            case "generator" if self.tgi_url:
                settings |= {"engine": "tgi", "url": self.tgi_url, "prompt_profile": "lab"}
                settings["recommended"] = _RECOMMENDED
            case "orchestrator":
                settings |= {f"{each}_target": self.targets[each] for each in BACK_ENDS}
                settings["tenant_concurrent_calls"] = TENANT_CALLS
                # The first call of a service may take its time on a busy machine.
                settings |= {f"{each}_timeout_s": 60 for each in BACK_ENDS}
            case "evaluator":
                settings |= {"orchestrator_target": self.targets["orchestrator"], "lease_s": 5}
        named = {variable(service, name): str(value) for name, value in settings.items()}
        for name, value in (self.secured or {}).items():
            named[name if name.startswith("SCAAR_") else variable(service, name)] = value
        return named


def variable(service: str, setting: str) -> str:
    """The variable of a service's setting."""
    return f"SCAAR_{service}_{setting}".upper().replace("-", "_")
