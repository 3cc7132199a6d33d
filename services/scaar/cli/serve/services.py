"""The services: names, default addresses and gRPC names."""

import enum


class ServiceName(enum.StrEnum):
    """Name of a service on the command line."""

    ORCHESTRATOR = "orchestrator"
    GENERATOR = "generator"
    SCORER = "scorer"
    QUERY_BUILDER = "query-builder"
    RETRIEVER = "retriever"
    EVALUATOR = "evaluator"
    RECORDS = "records"
    GATEWAY = "gateway"
    CONSOLE = "console"


BASE_PORT = 50051
"""Port of the orchestrator; the others follow in the order of ``GRPC_SERVICES``."""

GATEWAY_PORT = 8090
"""Port of the gateway, which serves HTTP."""

CONSOLE_PORT = 8091
"""Port of the console, which serves HTTP."""

HTTP_PORTS = {ServiceName.GATEWAY: GATEWAY_PORT, ServiceName.CONSOLE: CONSOLE_PORT}
"""The services of HTTP, with their ports."""

GRPC_SERVICES = tuple(each for each in ServiceName if each not in HTTP_PORTS)
"""The services of the contract."""

BACK_ENDS = (
    ServiceName.GENERATOR,
    ServiceName.SCORER,
    ServiceName.QUERY_BUILDER,
    ServiceName.RETRIEVER,
)
"""The services that an orchestrator calls."""


def default_address(service: ServiceName, base_port: int = BASE_PORT) -> str:
    """Return the default address of a service: loopback, with its own port."""
    if port := HTTP_PORTS.get(service):
        return f"127.0.0.1:{port}"
    return f"127.0.0.1:{base_port + GRPC_SERVICES.index(service)}"


def full_name(service: ServiceName) -> str:
    """Return the gRPC name of one of ``GRPC_SERVICES``, under which its health is reported."""
    camel = "".join(part.title() for part in service.split("-"))
    return f"scaar.v1.{camel}Service"
