"""Interface of an installation that the tests control."""

from typing import Protocol

from ..access import Access

BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")
SERVICES = (*BACK_ENDS, "orchestrator", "evaluator")
GATEWAY = "gateway"
PARTS = (*SERVICES, GATEWAY)
"""The services that answer and evaluate, and the gateway, which serves HTTP."""
RECORDS, CONSOLE = "records", "console"
WEB = (GATEWAY, CONSOLE)
"""The parts that serve HTTP."""


class Installation(Protocol):
    """All services with replicas, over the lab's models."""

    @property
    def access(self) -> Access:
        """Access to the installation."""
        ...

    def replicas(self, service: str) -> tuple[str, ...]:
        """Return the target of each running replica."""
        ...

    def replace(self, service: str) -> None:
        """Replace the replicas one after another: start a new one, then stop the old one."""
        ...

    def kill(self, service: str) -> None:
        """Kill the first replica and start another."""
        ...


def full_name(service: str) -> str:
    """Return the service's name in the contract."""
    return f"scaar.v1.{service.title().replace('-', '')}Service"
