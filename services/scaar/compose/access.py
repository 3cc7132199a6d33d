"""Access rules of callers around an orchestrator that has an identities file."""

from dataclasses import replace

from scaar.core.calls.permitted import PermittedAnswerer, PermittedRetriever
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Answerer
from scaar.orchestrator.settings import OrchestratorSettings


def with_access_rules(ports: Ports, settings: OrchestratorSettings) -> Ports:
    """Return the ports, with indexes limited to those that the caller of a call may read.

    Without an identities file nobody is limited, because callers are not authenticated.
    """
    if settings.identities_file is None:
        return ports
    return replace(ports, retriever=PermittedRetriever(ports.retriever))


def with_filter_limits(loop: AdaptiveLoop, settings: OrchestratorSettings) -> Answerer:
    """Return the answerer of a loop over ports :func:`with_access_rules`."""
    if settings.identities_file is None:
        return loop
    return PermittedAnswerer(loop, default_index=loop.default_index)
