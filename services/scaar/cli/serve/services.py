"""The six services: names, default ports and gRPC names."""

import enum


class ServiceName(enum.StrEnum):
    """Name of a service on the command line."""

    ORCHESTRATOR = "orchestrator"
    GENERATOR = "generator"
    SCORER = "scorer"
    QUERY_BUILDER = "query-builder"
    RETRIEVER = "retriever"
    EVALUATOR = "evaluator"


BASE_PORT = 50051
"""Port of the orchestrator; the others follow in the order of :class:`ServiceName`."""

BACK_ENDS = (
    ServiceName.GENERATOR,
    ServiceName.SCORER,
    ServiceName.QUERY_BUILDER,
    ServiceName.RETRIEVER,
)
"""The services that an orchestrator calls. An evaluator calls an orchestrator."""


def default_address(service: ServiceName, base_port: int = BASE_PORT) -> str:
    """Return the default address of a service: loopback, with its own port."""
    return f"127.0.0.1:{base_port + list(ServiceName).index(service)}"


def full_name(service: ServiceName) -> str:
    """Return the gRPC name of a service, under which its health is reported."""
    camel = "".join(part.title() for part in service.split("-"))
    return f"scaar.v1.{camel}Service"
