"""The adaptive loop: answers over four ports, by the steps of a policy.

A policy that judges drafts a sentence, and retrieves if a word of the draft is uncertain (SCAAR
section 3.4, :mod:`scaar.core.loop.draft_then_judge`). A policy that always retrieves does so before
it writes (:mod:`scaar.core.loop.retrieve_then_write`). A policy that retrieves after the answer
writes the whole answer again (:mod:`scaar.core.loop.rounds`), if it has no trigger or its trigger
finds the answer uncertain, and one that retrieves when the model asks reads the requests from its
text (:mod:`scaar.core.loop.search_on_request`). A policy of a
model with reflection tokens lets them decide (:mod:`scaar.core.loop.reflection`). Under every other
policy, the concluding sentence, which has the answer phrase, is never judged and never triggers a
retrieval.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from scaar.core.calls.capacity import AnswerCapacity
from scaar.core.calls.context import name_request
from scaar.core.errors import CapabilityMissing, InvalidRequest, NotFound, ScaarError
from scaar.core.filters import check_declared
from scaar.core.gates import AbstainingGate, ModelSpecificGate, QuestionGate, gate_without_file
from scaar.core.gates.quco import QucoGate
from scaar.core.loop.accepted_tokens import require_logprobs
from scaar.core.loop.answer_state import AnswerState, Ports
from scaar.core.loop.budget import Budget
from scaar.core.loop.draft_then_judge import draft_then_judge
from scaar.core.loop.gate import pass_gate
from scaar.core.loop.given_draft import judge_given_draft, require_given_texts, require_judging
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.prompted_writing import conclude
from scaar.core.loop.reflection import reflect
from scaar.core.loop.reflection_check import check_reflection_tokens
from scaar.core.loop.retrieve_then_write import retrieve_then_write
from scaar.core.loop.rewriting import is_follow_up, rewrite_question
from scaar.core.loop.rounds import write_rounds
from scaar.core.loop.search_on_request import search_on_request
from scaar.core.loop.shadow import ShadowSampling
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import TunedPolicies, check_conditions
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import (
    capabilities,
    needs_corpus_counts,
    needs_cosines,
    needs_reranker,
    needs_retriever,
    needs_scorer,
    needs_search_mode,
    needs_sentence_filter,
    served_by,
)
from scaar.core.ports import CorpusCounts, Generator
from scaar.core.prompts import profile_of
from scaar.core.search_stages import require_mode, require_reranker
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.types import (
    Abstention,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    Capability,
    DraftJudgement,
    EffectivePolicy,
    IndexDescription,
    JudgeDraftRequest,
    ModelDescription,
    Moment,
    OnFailure,
    PolicyRequest,
    Provenance,
    Query,
    RewriteOutcome,
    SearchMode,
    VectorMetric,
)
from scaar.core.validation import validate, validate_draft

__all__ = ["AdaptiveLoop", "Ports"]

DESCRIPTION_TTL_S = 1.0
"""Time, in seconds, for which the description of a part is cached. An answer can name a model as
the model was described this long ago."""

_Description = TypeVar("_Description")


class CachedDescription(Generic[_Description]):
    """The description of a part, cached for :data:`DESCRIPTION_TTL_S`. Failures are not cached."""

    def __init__(
        self, describe: Callable[[], Awaitable[_Description]], clock: Callable[[], float]
    ) -> None:
        self._describe = describe
        self._clock = clock
        self._cached: tuple[float, _Description] | None = None

    async def get(self) -> _Description:
        """Return the description, at most :data:`DESCRIPTION_TTL_S` old."""
        now = self._clock()
        if self._cached is not None and now - self._cached[0] < DESCRIPTION_TTL_S:
            return self._cached[1]
        description = await self._describe()
        self._cached = (now, description)
        return description


class AdaptiveLoop:
    """An :class:`~scaar.core.ports.Answerer` over four ports, and a judge of given drafts.

    With ``draft_ahead``, the model keeps writing while a sentence is judged, in one generation for
    as long as its text is accepted. Otherwise every sentence is a call; the events are the same.
    ``gate`` is the gate of a file; requests can also name gates that need no file.
    ``sentence_filter`` is the filter of policies that filter sentences, ``corpus_counts`` are the
    counts of policies that decide by the occurrences of entities in a corpus. ``policies`` are
    the tuned policies that requests can name. ``shadow`` runs the trigger of a second policy.
    ``capacity`` limits the concurrent answers; the default has the default
    :class:`~scaar.core.calls.capacity.CapacityLimits`.
    """

    def __init__(
        self,
        ports: Ports,
        *,
        draft_ahead: bool = True,
        gate: QuestionGate | None = None,
        sentence_filter: LearnedFilter | None = None,
        corpus_counts: CorpusCounts | None = None,
        policies: TunedPolicies | None = None,
        shadow: ShadowSampling | None = None,
        capacity: AnswerCapacity | None = None,
        clock: Callable[[], float] = time.monotonic,
        new_request_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._ports = ports
        self._draft_ahead = draft_ahead
        self._gate = gate
        self._sentence_filter = sentence_filter
        self._corpus_counts = corpus_counts
        self.policies = TunedPolicies() if policies is None else policies
        """The tuned policies, and the default policy."""
        self._shadow = shadow
        self._capacity = capacity or AnswerCapacity()
        self._clock = clock
        self._new_request_id = new_request_id
        self._model = CachedDescription(lambda: ports.generator.describe_model(), clock)
        self._scorer = CachedDescription(lambda: ports.scorer.describe_model(), clock)
        self._reflecting = set[tuple[str, str]]()

    @property
    def gate_revision(self) -> str:
        """The digest of the gate's file; empty without a gate."""
        return self._gate.revision if self._gate else ""

    @property
    def sentence_filter_digest(self) -> str:
        """The digest of the sentence filter; empty without one."""
        return self._sentence_filter.digest if self._sentence_filter else ""

    def resolve(self, request: AnswerRequest) -> AnswerRequest:
        """Return the request by a published policy (:meth:`TunedPolicies.resolve`)."""
        return replace(request, policy=self.policies.resolve(request.policy))

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Yield every decision as it is made; the last event has the answer and its usage."""
        request = self.resolve(request)
        validate(request, tuned=self.policies)
        request = self._named(request)
        gate = self._required_gate(request)
        async with self._opened(request, gate, self._shadow) as (state, model):
            yield AnswerStarted(state.provenance)
            if request.provenance_only:
                return
            if is_follow_up(request):
                yield await rewrite_question(state)
            async with aclosing(_sentences(state, gate, model)) as events:
                async for event in events:
                    yield event
        answer = state.answer()
        if gate is not None and answer.usage.retrievals:
            answer = replace(answer, abstained=_abstention(gate, state))
        yield AnswerFinished(answer)

    async def judge_draft(self, request: JudgeDraftRequest) -> DraftJudgement:
        """Return the judgement of a given draft, without a gate and without a shadow."""
        request = replace(request, policy=self.policies.resolve(request.policy))
        validate_draft(request, tuned=self.policies)
        require_judging(request.policy)
        answer, rewritten = self._named(request.for_answer()), ""
        async with self._opened(answer) as (state, model):
            require_given_texts(model)
            if is_follow_up(answer):
                found = await rewrite_question(state)
                if found.outcome is RewriteOutcome.REWRITTEN:
                    rewritten = found.question
            return await judge_given_draft(state, request, rewritten=rewritten)

    def _named(self, request: AnswerRequest) -> AnswerRequest:
        """Return the request with its id, or a new one, which the current call has too."""
        request = replace(request, request_id=request.request_id or self._new_request_id())
        name_request(request.request_id)
        return request

    @asynccontextmanager
    async def _opened(
        self,
        request: AnswerRequest,
        gate: QuestionGate | None = None,
        shadow: ShadowSampling | None = None,
    ) -> AsyncIterator[tuple[AnswerState, ModelDescription]]:
        """Open an answer that the parts can serve; yield its state and the model."""
        self._require_filter(_routes_of(gate) or (request.policy,))
        self._require_counts(_routes_of(gate) or (request.policy,))
        budget = Budget(request.budget, self._clock)
        async with budget.within("opening the answer"):
            model = await self._model.get()
        if request.logprobs:
            require_logprobs(model)
        placing = self._capacity.place(
            declared=model.max_concurrent_generations, remaining_s=budget.remaining_s
        )
        async with placing as place:
            async with budget.within("opening the answer"):
                provenance = await self._provenance(request, model, gate)
            routes = {each.name: effective_policy(each, model) for each in _routes_of(gate)}
            # A router's policies answer instead of the request's.
            for policy in routes.values() or (provenance.policy,):
                self._require_capabilities(policy, model)
                if Moment.ON_REFLECTION in policy.moments:
                    async with budget.within("opening the answer"):
                        generator = place.generator(self._ports.generator)
                        await self._require_reflection_tokens(policy, model, generator)
            if gate is not None:
                _require_gate_capabilities(gate, provenance.policy, model)
            yield (
                AnswerState(
                    self._ports,
                    replace(request, question=request.last_question),
                    provenance,
                    budget,
                    place,
                    draft_ahead=self._draft_ahead,
                    routes=routes,
                    shadow=shadow.sample(provenance, model) if shadow else None,
                    sentence_filter=self._sentence_filter,
                    corpus_counts=self._corpus_counts,
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
                    index = self._ports.retriever.describe_index(request.index)
                    # Without the description, the index could be of any kind.
                    required = OnFailure.FAIL if any(map(_needs_kind, policies)) else on_failure
                    describing_index = parts.create_task(_tolerate(index, required))
                if any(map(needs_scorer, policies)):
                    describing_scorer = parts.create_task(_tolerate(self._scorer.get(), on_failure))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        found = describing_index.result() if describing_index else None
        if found is not None:
            check_declared(request.filters, found.metadata_fields, index=request.index)
            _require_cosines(policies, found)
            _require_stages(policies, found)
        scorer = describing_scorer.result() if describing_scorer else None
        policy = self.policies.effective(
            request.policy, model, gate_threshold=gate.threshold if gate else None
        )
        filters = any(map(needs_sentence_filter, policies))
        counts = self._corpus_counts if any(map(needs_corpus_counts, policies)) else None
        reranks = any(map(needs_reranker, policies))
        artefact = self.policies.get(request.policy.artefact)
        differences: tuple[str, ...] = ()
        if artefact is not None:
            allowed = request.policy.allow_mismatch
            differences = check_conditions(artefact, model, scorer, found, allow_mismatch=allowed)
        profile = profile_of(request.prompt_profile or model.prompt_profile)
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
            sentence_filter_digest=self.sentence_filter_digest if filters else "",
            corpus_counts_digest=counts.digest if counts else "",
            reranker=found.reranker if found and reranks else "",
            reranker_revision=found.reranker_revision if found and reranks else "",
        )

    def _require_capabilities(self, policy: EffectivePolicy, model: ModelDescription) -> None:
        missing = capabilities(policy) - model.capabilities
        if missing:
            names = ", ".join(sorted(missing))
            served = ", ".join(name for name in served_by(model) if self._has_files(name))
            raise CapabilityMissing(
                f"policy {policy.name} needs {names}, which model {model.model} on engine "
                f"{model.engine} does not provide; policies that this model can serve: {served}",
                policy=policy.name,
                missing=names,
            )

    def _has_files(self, policy: str) -> bool:
        """Return whether the policy needs no file that is not set."""
        request = PolicyRequest(policy)
        filters = self._sentence_filter is None and needs_sentence_filter(request)
        return not filters and not (self._corpus_counts is None and needs_corpus_counts(request))

    def _require_filter(self, policies: Iterable[PolicyRequest]) -> None:
        """Reject policies that need a sentence filter if there is none."""
        for each in policies:
            if self._sentence_filter is None and needs_sentence_filter(each):
                raise CapabilityMissing(
                    f"policy {each.label} needs the file of a sentence filter, and the "
                    "orchestrator has none: write one with scaar eval filter fit, and set "
                    "SCAAR_ORCHESTRATOR_SENTENCE_FILTER_FILE",
                    policy=each.label,
                    missing="sentence_filter_file",
                )

    def _require_counts(self, policies: Iterable[PolicyRequest]) -> None:
        """Reject policies that decide by corpus counts if there are none."""
        for each in policies:
            if self._corpus_counts is None and needs_corpus_counts(each):
                raise CapabilityMissing(
                    f"policy {each.label} needs a file of corpus counts, and the orchestrator has "
                    "none: write one with scaar corpus count, and set "
                    "SCAAR_ORCHESTRATOR_CORPUS_COUNTS_FILE",
                    policy=each.label,
                    missing="corpus_counts_file",
                )

    async def _require_reflection_tokens(
        self, policy: EffectivePolicy, model: ModelDescription, generator: Generator
    ) -> None:
        """Reject a model without reflection tokens. Each model is checked once."""
        if (checked := (model.model, model.revision)) not in self._reflecting:
            await check_reflection_tokens(generator, model, policy=policy.name)
            self._reflecting.add(checked)

    def _required_gate(self, request: AnswerRequest) -> QuestionGate | None:
        """Return the gate of the request, if it has one: that of the file, or one without file."""
        name = request.policy.overrides.gate or PRESETS[request.policy.name].gate
        if name is None:
            return None
        of_file = self._gate is not None and self._gate.name == name
        gate = self._gate if of_file else gate_without_file(name)
        if gate is None:
            found = f"that of {self._gate.name}" if self._gate else "none"
            raise CapabilityMissing(
                f"policy.gate {name} needs its file, and the orchestrator has {found}: "
                "set SCAAR_ORCHESTRATOR_GATE_FILE",
                policy=request.policy.label,
                missing="gate_file",
            )
        if gate.policies and request.policy.overrides.gate_threshold is not None:
            text = f"has no effect on {name}, which chooses among policies"
            raise InvalidRequest.of("policy.gate_threshold", text)
        if isinstance(gate, QucoGate):
            return replace(gate, counts=self._corpus_counts)
        return gate


def _routes_of(gate: QuestionGate | None) -> tuple[PolicyRequest, ...]:
    """Return the policies that a router may choose; none for a gate."""
    return tuple(PolicyRequest(name) for name in (gate.policies if gate else ()))


async def _sentences(
    state: AnswerState, gate: QuestionGate | None, model: ModelDescription
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events from the gate to the last sentence."""
    try:
        if gate is not None:
            async with aclosing(pass_gate(state, gate, model)) as judged:
                async for event in judged:
                    yield event
        if Moment.BEFORE_ANSWER in state.moments and state.can_retrieve:
            # The query of a policy that judges drafts is made of a draft.
            judges = Moment.UNCERTAIN_DRAFT in state.policy.moments
            query = Query(state.request.question, "question") if judges else None
            async with aclosing(retrieve_passages(state, query=query)) as steps:
                async for step in steps:
                    yield step
            state.put_into_prompt(state.found)
        async with aclosing(write_rounds(state, _written)) as events:
            async for event in events:
                yield event
    finally:
        await state.writer.stop()


async def _written(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the sentences of one answer."""
    if Moment.ON_REQUEST in state.moments:
        async with aclosing(search_on_request(state)) as events:
            async for event in events:
                yield event
        return
    if Moment.ON_REFLECTION in state.policy.moments:
        async with aclosing(reflect(state)) as events:
            async for event in events:
                yield event
        return
    while state.end is None:
        write_next = retrieve_then_write if state.retrieves_first else draft_then_judge
        async with aclosing(write_next(state)) as events:
            async for event in events:
                yield event
    if state.end is not AnswerEnd.ANSWER_PHRASE:
        yield await conclude(state)


def _require_cosines(policies: Iterable[PolicyRequest], index: IndexDescription) -> None:
    """Reject policies that rank passages by cosines if the index has other scores."""
    dense = index.dense
    if dense is not None and dense.settings.metric is VectorMetric.INNER_PRODUCT:
        return
    kind = "an index by BM25" if dense is None else "an index of vectors by distance"
    for each in policies:
        if needs_cosines(each):
            raise CapabilityMissing(
                f"policy {each.label} ranks passages by angles and needs an index of vectors by "
                f"inner product, and {index.name!r} is {kind}: name another index, or set "
                "policy.fusion to rank",
                policy=each.label,
                missing="vector_index",
            )


def _needs_kind(policy: PolicyRequest) -> bool:
    """Return whether the policy needs an index or a retriever of some kind."""
    by_mode = needs_search_mode(policy) is not SearchMode.INDEX
    return by_mode or needs_cosines(policy) or needs_reranker(policy)


def _require_stages(policies: Iterable[PolicyRequest], index: IndexDescription) -> None:
    """Reject policies that search in a mode, or rerank, if index or retriever cannot."""
    for each in policies:
        require_mode(needs_search_mode(each), index)
        if needs_reranker(each):
            require_reranker(index)


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


def _abstention(gate: QuestionGate, state: AnswerState) -> Abstention | None:
    """Return why the answer should not be given, if the gate judges answers."""
    if isinstance(gate, AbstainingGate):
        return gate.abstention(state.so_far.token_logprobs)
    return None


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
