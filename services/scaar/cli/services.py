"""The six services: their names, the ports they take by default, and their gRPC names."""

import enum


class ServiceName(enum.StrEnum):
    """A service as the command line calls it."""

    ORCHESTRATOR = "orchestrator"
    GENERATOR = "generator"
    SCORER = "scorer"
    QUERY_BUILDER = "query-builder"
    RETRIEVER = "retriever"
    EVALUATOR = "evaluator"


BASE_PORT = 50051
"""The orchestrator's port; the others follow in the order of :class:`ServiceName`."""

BACK_ENDS = (
    ServiceName.GENERATOR,
    ServiceName.SCORER,
    ServiceName.QUERY_BUILDER,
    ServiceName.RETRIEVER,
)
"""What an orchestrator needs. An evaluator is the other way round: it asks an orchestrator."""


def default_address(service: ServiceName, base_port: int = BASE_PORT) -> str:
    """Where a service listens unless it is told otherwise: loopback, a port of its own."""
    return f"127.0.0.1:{base_port + list(ServiceName).index(service)}"


def full_name(service: ServiceName) -> str:
    """The service's name in the contract, which its readiness goes by."""
    camel = "".join(part.title() for part in service.split("-"))
    return f"scaar.v1.{camel}Service"
