"""The methods that a proxy of an orchestrator forwards, by their paths."""

from collections.abc import Mapping
from types import MappingProxyType

from grpc_health.v1 import health_pb2

from scaar.v1 import orchestrator_pb2 as pb

_ORCHESTRATOR = pb.DESCRIPTOR.services_by_name["OrchestratorService"]
_HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]

FORWARDED_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **{
            f"/{_ORCHESTRATOR.full_name}/{each.name}": _ORCHESTRATOR.full_name
            for each in _ORCHESTRATOR.methods
            if not each.client_streaming
        },
        # Watch never ends, so that every watching page would hold a request of the proxy.
        f"/{_HEALTH.full_name}/Check": _HEALTH.full_name,
    }
)
"""Path of each method with one request, and the full name of its service."""

FORWARDED_SERVICES = frozenset(FORWARDED_METHODS.values())
"""Full names of the services."""
