"""The catalog of an orchestrator: policies, indexes and models behind its ports."""

import asyncio
from contextlib import suppress
from dataclasses import replace

from scaar.core.errors import CapabilityMissing, ScaarError
from scaar.core.loop.answer_state import Ports
from scaar.core.loop.index_check import require_named
from scaar.core.loop.loop_files import LoopFiles
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import TunedPolicies, mismatches
from scaar.core.policies.requirements import capabilities, needs_retriever, needs_scorer
from scaar.core.policies.settings import adjustable
from scaar.core.prompts import profile_of
from scaar.core.types import (
    ArtefactDescription,
    IndexDescription,
    ModelDescription,
    OrchestratorDescription,
    PassageInContext,
    PassageRequest,
    PolicyArtefact,
    PolicyDescription,
    PolicyRequest,
    RetrieveRequest,
    ScorerDescription,
    SearchRequest,
    SearchResult,
)
from scaar.core.validation import validate_passage, validate_search

_NO_FILES = LoopFiles()


class PortsCatalog:
    """A :class:`~scaar.core.ports.Catalog` that forwards each call to the ports of the loop.

    ``version`` is the version of scaar; ``files`` and ``policies`` are the files and the tuned
    policies of the loop.
    """

    def __init__(
        self,
        ports: Ports,
        *,
        version: str,
        files: LoopFiles = _NO_FILES,
        policies: TunedPolicies | None = None,
        default_index: str = "",
    ) -> None:
        self._ports = ports
        self._policies = TunedPolicies() if policies is None else policies
        self._version = version
        self._files = files
        self._default_index = default_index

    async def list_policies(self) -> tuple[PolicyDescription, ...]:
        model = await self._ports.generator.describe_model()
        described = [self._described(name, model) for name in PRESETS]
        for artefact in self._policies.values():
            policy = self._described(artefact.name, model)
            differences = await self._differences(artefact, policy, model)
            described.append(replace(policy, artefact=_description_of(artefact, differences)))
        return tuple(described)

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await self._ports.retriever.list_indexes()

    async def search(self, request: SearchRequest) -> SearchResult:
        validate_search(request)
        found = await self._ports.retriever.retrieve(
            RetrieveRequest(
                (request.query,),
                request.top_k,
                require_named(request.index or self._default_index),
                request.filters,
                request.excluded_ids,
                mode=request.mode,
                hybrid=request.hybrid,
                rerank=request.rerank,
            )
        )
        (passages,) = found.results
        return SearchResult(found.index, found.version, passages)

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        validate_passage(request)
        index = require_named(request.index or self._default_index)
        return await self._ports.retriever.get_passage(replace(request, index=index))

    async def describe(self) -> OrchestratorDescription:
        try:
            async with asyncio.TaskGroup() as parts:
                model = parts.create_task(self._ports.generator.describe_model())
                scorer = parts.create_task(self._describe_scorer())
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return OrchestratorDescription(
            self._version,
            model.result(),
            scorer.result(),
            self._files.gate_revision,
            self._policies.default,
            self._files.sentence_filter_digest,
        )

    async def _describe_scorer(self) -> ScorerDescription:
        """Return the description of the scorer, empty if the installation has none."""
        try:
            return await self._ports.scorer.describe_model()
        except CapabilityMissing:
            return ScorerDescription("", "", "", 0)

    def _described(self, name: str, model: ModelDescription) -> PolicyDescription:
        request = self._policies.resolve(PolicyRequest(name))
        policy = self._policies.effective(request, model)
        return PolicyDescription(
            policy=policy,
            settings=tuple(sorted(adjustable(PRESETS[request.name]))),
            uses_scorer=needs_scorer(request),
            uses_retriever=needs_retriever(request),
            missing_capabilities=tuple(sorted(capabilities(policy) - model.capabilities)),
            missing_files=self._files.missing_for(request),
        )

    async def _differences(
        self, artefact: PolicyArtefact, policy: PolicyDescription, model: ModelDescription
    ) -> tuple[str, ...]:
        """Return the differences from what a policy was tuned on.

        A scorer or an index that cannot be described is not compared.
        """
        scorer = index = None
        if policy.uses_scorer:
            with suppress(ScaarError):
                scorer = await self._ports.scorer.describe_model()
        if policy.uses_retriever and artefact.tuned_on.index:
            with suppress(ScaarError):
                index = await self._ports.retriever.describe_index(artefact.tuned_on.index)
        forbidding, reported = mismatches(
            artefact.tuned_on,
            model,
            scorer,
            index,
            prompt_profile=profile_of(model.prompt_profile).label,
        )
        return forbidding + reported


def _description_of(artefact: PolicyArtefact, differences: tuple[str, ...]) -> ArtefactDescription:
    return ArtefactDescription(
        digest=artefact.digest,
        policy=artefact.policy,
        tuned_on=artefact.tuned_on,
        label_kind=artefact.label_kind,
        development=artefact.development,
        expected=artefact.expected,
        risk=artefact.risk,
        mismatches=differences,
    )
