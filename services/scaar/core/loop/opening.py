"""The opening of an answer: its place, its provenance, and the parts that it needs.

A request that generator, index or files cannot serve is rejected before any work.
"""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from scaar.core.calls.capacity import AnswerCapacity
from scaar.core.defaults.text_kinds import scorer_mismatch
from scaar.core.errors import (
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    ScaarError,
    ScorerMismatch,
)
from scaar.core.filters import check_declared
from scaar.core.gates import ModelSpecificGate, QuestionGate
from scaar.core.loop.accepted_tokens import require_logprobs
from scaar.core.loop.answer_generator import open_answer_generator
from scaar.core.loop.answer_state import AnswerState, Ports
from scaar.core.loop.budget import Budget
from scaar.core.loop.description_cache import CachedDescription
from scaar.core.loop.index_check import check_index, needs_kind, require_named
from scaar.core.loop.loop_files import LoopFiles
from scaar.core.loop.reflection_check import check_reflection_tokens
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.policies.artefacts import TunedPolicies, check_conditions
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import (
    capabilities,
    needs_corpus_counts,
    needs_reranker,
    needs_retriever,
    needs_scorer,
    needs_sentence_filter,
    served_by,
)
from scaar.core.ports import Generator
from scaar.core.prompts import PromptProfile, profile_of
from scaar.core.types import (
    AnswerForm,
    AnswerRequest,
    Capability,
    EffectivePolicy,
    IndexDescription,
    ModelDescription,
    Moment,
    OnFailure,
    PolicyRequest,
    Provenance,
    ScorerDescription,
)

_STAGE = "opening the answer"
_Description = TypeVar("_Description")


class AnswerOpener:
    """Opens answers over four ports; the arguments are those of the loop."""

    def __init__(
        self,
        ports: Ports,
        files: LoopFiles,
        *,
        policies: TunedPolicies,
        draft_ahead: bool,
        allow_scorer_mismatch: bool,
        capacity: AnswerCapacity | None,
        clock: Callable[[], float],
        new_answer_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._ports = ports
        self._files = files
        self._policies = policies
        self._draft_ahead = draft_ahead
        self._allow_scorer_mismatch = allow_scorer_mismatch
        self._capacity = capacity or AnswerCapacity()
        self._clock = clock
        # Not the id of the request, which two running requests can share.
        self._new_answer_id = new_answer_id
        self._model = CachedDescription(lambda: ports.generator.describe_model(), clock)
        self._scorer = CachedDescription(lambda: ports.scorer.describe_model(), clock)
        self._reflecting = set[tuple[str, str]]()

    @asynccontextmanager
    async def open(
        self,
        request: AnswerRequest,
        gate: QuestionGate | None = None,
        *,
        shadow: ShadowSampling | None = None,
    ) -> AsyncIterator[tuple[AnswerState, ModelDescription]]:
        """Open an answer that the parts can serve; yield its state and the model.

        Raises:
            CapabilityMissing: model, index or files cannot serve the policy or the gate.
            ScorerMismatch: the policy uses contributions of a scorer that does not fit.
            InvalidRequest: the index does not declare a field of the filters.
            NotFound: there is no such index.
            Overloaded: there is no place, and no room in the queue or no place in time.
        """
        self._files.require(_routes_of(gate) or (request.policy,))
        budget = Budget(request.budget, self._clock)
        async with budget.within(_STAGE):
            model = await self._model.get()
        if request.logprobs:
            require_logprobs(model)
        placing = self._capacity.place(
            declared=model.max_concurrent_generations, remaining_s=budget.remaining_s
        )
        async with placing as place:
            async with budget.within(_STAGE):
                provenance = await self._provenance(request, model, gate)
            routes = {each.name: effective_policy(each, model) for each in _routes_of(gate)}
            # A router's policies answer instead of the request's.
            for policy in routes.values() or (provenance.policy,):
                self._require_capabilities(policy, model)
                if Moment.ON_REFLECTION in policy.moments:
                    async with budget.within(_STAGE):
                        generator = place.generator(self._ports.generator)
                        await self._require_reflection_tokens(policy, model, generator)
            if gate is not None:
                _require_gate_capabilities(gate, provenance.policy, model)
            generating = open_answer_generator(self._ports.generator, model, self._new_answer_id())
            async with generating as generator:
                yield (
                    AnswerState(
                        replace(self._ports, generator=generator),
                        replace(request, question=request.last_question),
                        provenance,
                        budget,
                        place,
                        draft_ahead=self._draft_ahead,
                        routes=routes,
                        shadow=shadow.sample(provenance, model) if shadow else None,
                        sentence_filter=self._files.sentence_filter,
                        corpus_counts=self._files.corpus_counts,
                        system_turn=Capability.SYSTEM_TURN in model.capabilities,
                    ),
                    model,
                )

    async def _provenance(
        self, request: AnswerRequest, model: ModelDescription, gate: QuestionGate | None
    ) -> Provenance:
        """Return the provenance. Reject, before any work, a request that the parts cannot serve."""
        on_failure, policies = request.on_failure, (request.policy, *_routes_of(gate))
        describing_index = describing_scorer = None
        try:
            async with asyncio.TaskGroup() as parts:
                # The required parts depend on the request only, so they are described concurrently.
                if any(map(needs_retriever, policies)):
                    named = require_named(request.index)
                    index = self._ports.retriever.describe_index(named)
                    # Without the description, the index could be of any kind.
                    required = OnFailure.FAIL if any(map(needs_kind, policies)) else on_failure
                    describing_index = parts.create_task(_tolerate(index, required))
                if any(map(needs_scorer, policies)):
                    describing_scorer = parts.create_task(_tolerate(self._scorer.get(), on_failure))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        found = describing_index.result() if describing_index else None
        if found is not None:
            check_declared(request.filters, found.metadata_fields, index=request.index)
            check_index(policies, found)
        scorer = describing_scorer.result() if describing_scorer else None
        policy = self._policies.effective(
            request.policy, model, gate_threshold=gate.threshold if gate else None
        )
        filters = any(map(needs_sentence_filter, policies))
        counts = self._files.corpus_counts if any(map(needs_corpus_counts, policies)) else None
        reranks = any(map(needs_reranker, policies))
        artefact = self._policies.get(request.policy.artefact)
        profile = _profile_of(request, policy, model)
        differences: tuple[str, ...] = ()
        if artefact is not None:
            allowed = request.policy.allow_mismatch
            differences = check_conditions(
                artefact,
                model,
                scorer,
                found,
                prompt_profile=profile.label,
                allow_mismatch=allowed,
            )
        mismatch = self._scorer_mismatch(model, scorer, found)
        return Provenance(
            request_id=request.request_id,
            model=model.model,
            model_revision=model.revision,
            engine=model.engine,
            scorer=scorer.model if scorer else "",
            scorer_revision=scorer.revision if scorer else "",
            index=found.name if found else "",
            index_version=found.version if found else "",
            prompt_profile=profile.label,
            policy=policy,
            continuation=model.continuation,
            logprob_kind=model.logprob_kind,
            index_content=found.content if found else "",
            encoder=found.dense.encoder if found and found.dense else "",
            encoder_revision=found.dense.encoder_revision if found and found.dense else "",
            gate_revision=gate.revision if gate else "",
            artefact=artefact.name if artefact else "",
            artefact_digest=artefact.digest if artefact else "",
            artefact_mismatch=differences,
            sentence_filter_digest=self._files.sentence_filter_digest if filters else "",
            corpus_counts_digest=counts.digest if counts else "",
            reranker=found.reranker if found and reranks else "",
            reranker_revision=found.reranker_revision if found and reranks else "",
            scorer_mismatch=mismatch,
        )

    def _scorer_mismatch(
        self,
        model: ModelDescription,
        scorer: ScorerDescription | None,
        index: IndexDescription | None,
    ) -> str:
        """Return what does not fit the scorer, where that is allowed; empty if all fits.

        Raises:
            ScorerMismatch: something does not fit, and it is not allowed.
        """
        found = scorer_mismatch(model, scorer, index) if scorer else None
        if found is None:
            return ""
        if not self._allow_scorer_mismatch:
            raise ScorerMismatch(str(found))
        return found.problem

    def _require_capabilities(self, policy: EffectivePolicy, model: ModelDescription) -> None:
        missing = capabilities(policy) - model.capabilities
        if missing:
            names = ", ".join(sorted(missing))
            served = ", ".join(
                name
                for name in served_by(model)
                if not self._files.missing_for(PolicyRequest(name))
            )
            raise CapabilityMissing(
                f"policy {policy.name} needs {names}, which model {model.model} on engine "
                f"{model.engine} does not provide; policies that this model can serve: {served}",
                policy=policy.name,
                missing=names,
            )

    async def _require_reflection_tokens(
        self, policy: EffectivePolicy, model: ModelDescription, generator: Generator
    ) -> None:
        """Reject a model without reflection tokens. Each model is checked once."""
        if (checked := (model.model, model.revision)) not in self._reflecting:
            await check_reflection_tokens(generator, model, policy=policy.name)
            self._reflecting.add(checked)


def _profile_of(
    request: AnswerRequest, policy: EffectivePolicy, model: ModelDescription
) -> PromptProfile:
    """Return the profile of an answer: the named one, else that of the model.

    A text of a policy that never retrieves is written as the model does without scaar.

    Raises:
        InvalidRequest: there is no such profile.
    """
    profile = profile_of(request.prompt_profile or model.prompt_profile)
    alone = request.answer is AnswerForm.TEXT and not policy.moments and not request.prompt_profile
    return profile_of(profile.without_passages) if alone and profile.without_passages else profile


def _routes_of(gate: QuestionGate | None) -> tuple[PolicyRequest, ...]:
    """Return the policies that a router may choose; none for a gate."""
    return tuple(PolicyRequest(name) for name in (gate.policies if gate else ()))


def _require_gate_capabilities(
    gate: QuestionGate, policy: EffectivePolicy, model: ModelDescription
) -> None:
    missing = gate.needs - model.capabilities
    if missing:
        names = ", ".join(sorted(missing))
        raise CapabilityMissing(
            f"gate {gate.name} needs {names}, which model {model.model} on engine "
            f"{model.engine} does not provide",
            policy=policy.name,
            missing=names,
        )
    if isinstance(gate, ModelSpecificGate):
        gate.check_model(model)


async def _tolerate(
    describing: Awaitable[_Description], on_failure: OnFailure
) -> _Description | None:
    """Return the description; None if the part fails and drafts may be accepted without it."""
    try:
        return await describing
    except (InvalidRequest, NotFound):
        raise
    except ScaarError:
        if on_failure is OnFailure.FAIL:
            raise
        return None
