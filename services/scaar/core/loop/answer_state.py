"""The state of an answer, which the steps of all policies share."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from scaar.core.calls.capacity import AnswerPlace
from scaar.core.errors import ScaarError
from scaar.core.filters import newest_excluded
from scaar.core.loop.accepted_tokens import accepted_tokens
from scaar.core.loop.budget import Budget, Part
from scaar.core.loop.retrieval_plan import RetrievalPlan
from scaar.core.loop.shadow import Shadow
from scaar.core.loop.system_turn import SystemTurnGenerator
from scaar.core.loop.writer import Sentence, Writer, Writing
from scaar.core.policies.requirements import (
    drafted_tokens,
    judging_evidence,
    streamed_top_tokens,
    streams_attention,
)
from scaar.core.ports import (
    ContributionScorer,
    CorpusCounts,
    Generator,
    QueryBuilder,
    Retriever,
)
from scaar.core.prompts import PromptProfile, profile_of
from scaar.core.sentence_filter.learned_filter import LearnedFilter
from scaar.core.text.questions import searched_question
from scaar.core.text.sentence_counts import SentenceCounter
from scaar.core.text.support import supporting_passages
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    UNSUPPORTED,
    Abstention,
    AcceptedSentence,
    AcceptedToken,
    Answer,
    AnswerEnd,
    AnswerRequest,
    Degradation,
    EffectivePolicy,
    EvidenceKind,
    ExcludeSeen,
    GenerationProgress,
    LogprobsRequest,
    MessageRole,
    Moment,
    OnFailure,
    Passage,
    PromptRead,
    Provenance,
    RetrievedPassage,
    SentenceAccepted,
    TextLogprobs,
    Token,
    TokenDrafted,
)

MAX_CITED_CHARACTERS = 10_000
"""Maximum length of the text of a cited passage in the answer, in code points."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Ports:
    """The four ports of the loop."""

    generator: Generator
    scorer: ContributionScorer
    query_builder: QueryBuilder
    retriever: Retriever


class AnswerState:
    """The state of one answer, and the acceptance of its sentences."""

    def __init__(
        self,
        ports: Ports,
        request: AnswerRequest,
        provenance: Provenance,
        budget: Budget,
        place: AnswerPlace,
        *,
        draft_ahead: bool,
        routes: Mapping[str, EffectivePolicy],
        shadow: Shadow | None = None,
        sentence_filter: LearnedFilter | None = None,
        corpus_counts: CorpusCounts | None = None,
        system_turn: bool = False,
    ) -> None:
        """``system_turn`` is whether the model has a turn for the text of the system."""
        self._place = place
        self.request = request
        self.provenance = provenance
        self.plan = RetrievalPlan(provenance.policy, routes)
        """When the answer retrieves."""
        self.shadow = shadow
        """The trigger of a second policy on the same drafts; None without one."""
        self.profile = _profile_for(request, provenance)
        """The prompt profile in the form of the answer, with the text of the system."""
        generator = place.generator(ports.generator)
        if system_turn and (system := self.profile.system):
            opening = self.profile.after_system("")
            generator = SystemTurnGenerator(generator, system, opening=opening)
        self.ports = replace(ports, generator=generator)
        self.budget = budget
        served = tuple(routes.values()) or (self.policy,)
        judging = (*served, shadow.policy) if shadow else served
        self.writer = Writer(
            self.ports.generator,
            budget,
            stop_strings=self.profile.stop,
            draft_ahead=draft_ahead,
            attention=any(map(streams_attention, served)),
            top_tokens=max(map(streamed_top_tokens, judging)),
            draft_tokens=max(map(drafted_tokens, served)),
        )
        self.so_far = Writing()
        self._counter = SentenceCounter()
        self._whole: Sentence | None = None
        self.accepted: list[AcceptedSentence] = []
        self._read: dict[str, RetrievedPassage] = {}
        self._passages: tuple[RetrievedPassage, ...] = ()
        self.sentence_filter = sentence_filter
        """The filter of policies that filter sentences; None without one."""
        self.corpus_counts = corpus_counts
        """The counts of a corpus; None without any."""
        self.found: tuple[RetrievedPassage, ...] = ()
        """The passages of the last retrieval, with the sentences that the model is given."""
        self._excluded: dict[str, None] = {}
        self._degraded: Degradation | None = None
        self._end: AnswerEnd | None = None
        self._short_answer: str | None = None
        self._first_draft: Sentence | None = None
        self._rewritten = ""
        self._withheld = False

    @property
    def has_scorer_mismatch(self) -> bool:
        """Whether the policy judges by contributions of a scorer that does not fit."""
        if not self.provenance.scorer_mismatch:
            return False
        return EvidenceKind.CONTRIBUTIONS in judging_evidence(self.policy)

    @property
    def search_question(self) -> str:
        """The question as it is searched for and judged by: what it asks, if it is long."""
        return searched_question(self.request.question)

    def answer_instead(self, question: str) -> None:
        """Answer a standalone question instead of the last one of the conversation."""
        self.request = replace(self.request, question=question)
        self._rewritten = question

    def keep_draft(self, draft: Sentence) -> None:
        """Use a draft as that of the first sentence."""
        self._first_draft = draft

    def take_draft(self) -> Sentence | None:
        """Return the draft of the first sentence, once, if it is already written."""
        draft, self._first_draft = self._first_draft, None
        return draft

    def put_into_prompt(self, passages: tuple[RetrievedPassage, ...]) -> None:
        """Write the following text with these passages."""
        self._passages = passages

    def discard_answer(self) -> None:
        """Discard everything that is written; only passages that are excluded stay excluded."""
        self.so_far, self.accepted, self._read = Writing(), [], {}
        self._whole, self._counter = None, SentenceCounter()
        self._degraded = self._end = None

    def withhold(self) -> None:
        """Accept the answer, which says what no passage read has, without giving it."""
        self._withheld = True

    def end_answer(self, end: AnswerEnd) -> None:
        """End the answer with the last accepted sentence."""
        self._end = end

    def exclude(self, passages: Iterable[RetrievedPassage]) -> None:
        """Exclude the passages from later retrievals of the answer."""
        self._excluded.update(dict.fromkeys(passage.id for passage in passages))

    @property
    def passages(self) -> tuple[RetrievedPassage, ...]:
        """The passages in the prompt."""
        return self._passages

    @property
    def read_passages(self) -> Collection[RetrievedPassage]:
        """The passages that accepted sentences were written from, in the order of first use."""
        return self._read.values()

    @property
    def excluded_ids(self) -> tuple[str, ...]:
        """The ids of passages that retrievals leave out, as many of the newest as can be sent."""
        return newest_excluded(tuple(self._excluded))

    @property
    def whole(self) -> Sentence | None:
        """The accepted text as one sentence, with its tokens; None if there is none."""
        return self._whole

    @property
    def has_read_passages(self) -> bool:
        """Whether passages are in the prompt, or an accepted sentence was written from some."""
        return bool(self._passages) or any(each.passage_ids for each in self.accepted)

    @property
    def end(self) -> AnswerEnd | None:
        """Why the answer has ended; None while it continues."""
        return self._end

    @property
    def policy(self) -> EffectivePolicy:
        """The policy that answers."""
        return self.plan.policy

    @property
    def index(self) -> int:
        """Number of the current sentence, from 0."""
        return len(self.accepted)

    @property
    def can_retrieve(self) -> bool:
        """Whether the budget has a retrieval, and tokens to write with its passages."""
        return self.budget.remaining_retrievals > 0 and self.budget.remaining_tokens > 0

    async def or_degraded(self, work: Callable[[], Awaitable[_T]], stage: str) -> _T | None:
        """Return the result of the work; None if it failed and the answer continues without it.

        Work that is refused for overload is repeated if the answer would otherwise fail.
        """
        try:
            if self.request.on_failure is not OnFailure.FAIL:
                return await work()
            async with self.budget.within(stage):
                return await self._place.repeated(work)
        except ScaarError as error:
            if self.request.on_failure is OnFailure.FAIL or self.budget.remaining_s <= 0:
                raise
            self._degraded = Degradation(stage, error.reason, error.message)
            return None

    def drafted(self, token: Token | GenerationProgress) -> TokenDrafted | PromptRead:
        if isinstance(token, GenerationProgress):
            return PromptRead(self.index, token.prompt_tokens, token.read_tokens)
        # The attention is for the judge; clients do not need a thousand numbers per token.
        return TokenDrafted(self.index, replace(token, attention=()) if token.attention else token)

    def accept(
        self,
        sentence: Sentence,
        passages: tuple[RetrievedPassage, ...],
        *,
        concluding: bool | None = None,
    ) -> SentenceAccepted:
        """Append the sentence to the answer."""
        if concluding is None:
            concluding = self.profile.concludes(sentence.text)
        number, start = self.index, len(self.so_far.text)
        self.so_far.accept(sentence)
        self._whole = sentence if self._whole is None else self._whole.then(sentence)
        accepted = AcceptedSentence(
            text=sentence.text,
            passage_ids=tuple(passage.id for passage in passages),
            concluding=concluding,
            degraded=self._degraded,
            tokens=self._tokens_of(sentence),
            supporting_passage_ids=supporting_passages(
                sentence.text, self.search_question, passages
            ),
        )
        self.accepted.append(accepted)
        self._counter.add(sentence.text)
        for passage in passages:
            self._read.setdefault(passage.id, passage)
        if self.policy.exclude_seen is ExcludeSeen.SEEN:
            self.exclude(passages)
        if Moment.BEFORE_ANSWER not in self.plan.moments:
            # The failure of a retrieval before the answer degrades every sentence.
            self._degraded = None
        return SentenceAccepted(number, accepted, start, len(self.so_far.text))

    def _tokens_of(self, sentence: Sentence) -> tuple[AcceptedToken, ...]:
        if not self.request.logprobs:
            return ()
        return accepted_tokens(sentence.text, sentence.tokens)

    def accept_whole(
        self, answer: Sentence, passages: tuple[RetrievedPassage, ...], *, end: AnswerEnd
    ) -> SentenceAccepted:
        """Accept a whole answer without an answer phrase; the text is also the short answer.

        In the form ``text`` there is no short answer.
        """
        self._short_answer, self._end = answer.text, end
        return self.accept(answer, passages, concluding=self.profile.concluding)

    async def read_text(self, request: LogprobsRequest, stage: str) -> TextLogprobs:
        """Return the log-probabilities of a given text, which count as one call.

        Raises:
            DeadlineExceeded: the answer's time is used up.
        """
        # An answer has at most one generation in flight.
        await self.writer.stop()
        async with self.budget.within(stage, Part.GENERATION):
            read = await self.ports.generator.compute_logprobs(request)
        tokens = read.prompt_tokens + len(read.tokens)
        self.budget.count_call(prompt_tokens=tokens, generated_tokens=0)
        return read

    def accept_drafted(self, drafted: SentenceAccepted) -> SentenceAccepted:
        """Accept a sentence of a drafted answer, degraded if retrieving for the answer failed."""
        degraded = self._degraded or drafted.accepted.degraded
        accepted = replace(drafted.accepted, degraded=degraded)
        self.accepted[drafted.sentence] = accepted
        return replace(drafted, accepted=accepted)

    def end_after(self, sentence: Sentence, *, concluded: bool) -> None:
        """End the answer if the sentence, which has been accepted, is its last."""
        self._end = self._end_with(sentence, concluded=concluded)

    def _end_with(self, sentence: Sentence, *, concluded: bool) -> AnswerEnd | None:
        if concluded:
            return AnswerEnd.ANSWER_PHRASE
        if sentence.last or self.abstains:
            return AnswerEnd.END_OF_SEQUENCE
        counted = self._counter
        if counted.count >= self.request.budget.max_sentences and not counted.in_block:
            return AnswerEnd.MAX_SENTENCES
        if self.budget.remaining_tokens <= 0 and not self.writer.has_more:
            return AnswerEnd.MAX_TOKENS
        return None if sentence.text else AnswerEnd.END_OF_SEQUENCE

    @property
    def abstains(self) -> bool:
        """Whether the text, or its last sentence, says that the model does not know the answer."""
        last = self.accepted[-1].text if self.accepted else ""
        return self.profile.abstains(last) or self.profile.abstains(self.so_far.text)

    @property
    def must_conclude(self) -> bool:
        """Whether the model is to be made to conclude its text, which has ended."""
        concluded = self._end is AnswerEnd.ANSWER_PHRASE
        return self.profile.concluding and not concluded and not self.abstains

    def answer(self) -> Answer:
        assert self.end is not None
        usage = self.budget.usage()
        return Answer(
            answer=self._short() if self.profile.concluding else "",
            sentences=tuple(self.accepted),
            end=self.end,
            usage=usage,
            provenance=self.provenance,
            passages=tuple(map(_cited, self.read_passages)),
            question=self._rewritten,
            abstained=self._abstention() if usage.retrievals else None,
        )

    def _abstention(self) -> Abstention | None:
        if self.abstains:
            return NOT_IN_DOCUMENTS
        return UNSUPPORTED if self._withheld else None

    def _short(self) -> str:
        if self._short_answer is not None:
            return self._short_answer
        return self.profile.extract_answer(self.so_far.text) or ""


def _profile_for(request: AnswerRequest, provenance: Provenance) -> PromptProfile:
    profile = profile_of(provenance.prompt_profile).in_form(request.answer)
    first = next(iter(request.messages), None)
    if first is None or first.role is not MessageRole.SYSTEM:
        return profile
    return profile.with_system(first.content)


def _cited(passage: RetrievedPassage) -> Passage:
    """Return the passage as the answer carries it: without score and rank, its text cut."""
    text = passage.text[:MAX_CITED_CHARACTERS]
    return Passage(passage.id, passage.title, text, passage.metadata)
