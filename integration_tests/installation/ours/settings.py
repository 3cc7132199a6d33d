"""Settings of the services of the tests' own installation, as environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass

from .installation import BACK_ENDS, CONSOLE, RECORDS, WEB

PACE_MS = 30
"""Milliseconds per token of the lab's TGI, so that an answer takes about a second."""
TENANT_CALLS = 12
"""Maximum number of concurrent calls of a tenant at an orchestrator."""
_RECOMMENDED = '{"scaar": {"theta": 0.26, "alpha": 75}, "flare": {"theta": 0.31}}'


@dataclass(frozen=True, slots=True)
class InstallationSettings:
    """Targets of services, model server and collector, and their security settings."""

    targets: Mapping[str, str]
    tgi_url: str = ""
    """Empty if the generator runs the lab's model itself, with entropies."""
    otlp_endpoint: str = ""
    records_database: str = ""
    secured: Mapping[str, str] | None = None
    """TLS settings of a service, and whole variables of its channels."""

    def environment(self, service: str) -> dict[str, str]:
        """Return the variables of a replica, without addresses and folders."""
        if service in WEB:
            return self._of_web(service)
        settings: dict[str, object] = {
            "drain_s": 1,
            "stop_grace_s": 20,
            # Short, so that connections close under load and names are resolved again.
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
                # The first call of a service may be slow on a busy machine.
                settings |= {f"{each}_timeout_s": 60 for each in BACK_ENDS}
                settings["records_database"] = self.records_database
                settings["records_content"] = "full"
            case "records":
                settings["database"] = self.records_database
            case "evaluator":
                settings |= {"orchestrator_target": self.targets["orchestrator"], "lease_s": 5}
        named = {variable(service, name): str(value) for name, value in settings.items()}
        for name, value in (self.secured or {}).items():
            named[name if name.startswith("SCAAR_") else variable(service, name)] = value
        return named

    def _of_web(self, service: str) -> dict[str, str]:
        settings = {
            # Longer than a client takes from a check of its readiness to a request.
            "drain_s": "3",
            "stop_grace_s": "20",
            "orchestrator_target": self.targets["orchestrator"],
        }
        if service == CONSOLE:
            settings |= {f"{each}_target": self.targets[each] for each in (RECORDS, "evaluator")}
        named = {variable(service, name): value for name, value in settings.items()}
        for name, value in (self.secured or {}).items():
            if name in ("tls_cert_file", "tls_key_file"):
                named[variable(service, name)] = value
            # It has no identity of its own.
            elif name.startswith("SCAAR_CHANNEL_") and name != "SCAAR_CHANNEL_TOKEN_FILE":
                named[name] = value
        return named


def variable(service: str, setting: str) -> str:
    """Return the variable of a service's setting."""
    return f"SCAAR_{service}_{setting}".upper().replace("-", "_")
