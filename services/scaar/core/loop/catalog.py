"""The catalog of an orchestrator: policies, indexes and models behind its ports."""

import asyncio

from scaar.core.loop.answer_state import Ports
from scaar.core.policies import PRESETS
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import capabilities, needs_retriever, needs_scorer
from scaar.core.policies.settings import adjustable
from scaar.core.types import (
    IndexDescription,
    ModelDescription,
    OrchestratorDescription,
    PolicyDescription,
    PolicyRequest,
    RetrieveRequest,
    SearchRequest,
    SearchResult,
)
from scaar.core.validation import validate_search


class PortsCatalog:
    """A :class:`~scaar.core.ports.Catalog` that forwards each call to the ports of the loop.

    ``version`` is the version of scaar, ``gate_revision`` the digest of the gate's file.
    """

    def __init__(self, ports: Ports, *, version: str, gate_revision: str = "") -> None:
        self._ports = ports
        self._version = version
        self._gate_revision = gate_revision

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        model = await self._ports.generator.describe_model()
        return tuple(_describe_policy(name, model) for name in PRESETS)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await self._ports.retriever.list_indexes()

    async def search(self, request: SearchRequest) -> SearchResult:
        validate_search(request)
        found = await self._ports.retriever.retrieve(
            RetrieveRequest((request.query,), request.top_k, request.index, request.filters)
        )
        (passages,) = found.results
        return SearchResult(found.index, found.version, passages)

    async def describe(self) -> OrchestratorDescription:
        try:
            async with asyncio.TaskGroup() as parts:
                model = parts.create_task(self._ports.generator.describe_model())
                scorer = parts.create_task(self._ports.scorer.describe_model())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return OrchestratorDescription(
            self._version, model.result(), scorer.result(), self._gate_revision
        )


def _describe_policy(name: str, model: ModelDescription) -> PolicyDescription:
    request = PolicyRequest(name)
    policy = effective_policy(request, model)
    return PolicyDescription(
        policy=policy,
        settings=tuple(sorted(adjustable(PRESETS[name]))),
        uses_scorer=needs_scorer(request),
        uses_retriever=needs_retriever(request),
        missing_capabilities=tuple(sorted(capabilities(policy) - model.capabilities)),
    )
