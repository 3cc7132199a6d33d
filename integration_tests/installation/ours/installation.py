"""An installation that the tests may disturb, whatever it runs on."""

from typing import Protocol

from ..access import Access

BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")
SERVICES = (*BACK_ENDS, "orchestrator", "evaluator")


class Installation(Protocol):
    """Every service in as many replicas as were asked for, over the lab's models."""

    @property
    def access(self) -> Access:
        """How it is reached, its metrics as they are to be read now."""
        ...

    def replicas(self, service: str) -> tuple[str, ...]:
        """The targets of the replicas that run, each by itself."""
        ...

    def replace(self, service: str) -> None:
        """Replaces one replica after the other: starts a new one, then stops the old one."""
        ...

    def kill(self, service: str) -> None:
        """Ends the first replica as a loss of power would, and starts another in its place."""
        ...


def full_name(service: str) -> str:
    """The service's name in the contract."""
    return f"scaar.v1.{service.title().replace('-', '')}Service"
