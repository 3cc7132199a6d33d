"""The adaptive loop (SCAAR section 3.4): draft, judge, retrieve, write again, accept.

For each sentence: draft it from the question and the accepted sentences, without passages. If a
word of it is uncertain, build a query, retrieve, write the sentence again from the passages and
accept that; otherwise accept the draft. The passages of a sentence are dropped after it. The
concluding sentence, which holds the answer phrase, is never judged.
"""

import time
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from scaar.core.budget import Budget
from scaar.core.errors import CapabilityMissing, PromptTooLong
from scaar.core.judge import Judge, needs_contributions
from scaar.core.policies import PRESETS
from scaar.core.policies.effective import effective_policy
from scaar.core.ports import ContributionScorer, Generator, QueryBuilder, Retriever
from scaar.core.prompts import PromptProfile, profile_of
from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    EffectivePolicy,
    JudgedWord,
    ModelDescription,
    PassagesRetrieved,
    Provenance,
    Query,
    QueryBuilt,
    QueryRequest,
    RetrievedPassage,
    RetrieveRequest,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    TokenDrafted,
    When,
)
from scaar.core.validation import validate
from scaar.core.writer import Sentence, SentenceWriter, Writing

SENTENCE_MAX_TOKENS = 128
"""A sentence that has no end by then is taken as it stands."""

CONCLUSION_MAX_TOKENS = 20
"""What a conclusion may take when the model has not come to one by itself."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The four ports that the loop works through."""

    generator: Generator
    scorer: ContributionScorer
    query_builder: QueryBuilder
    retriever: Retriever


class AdaptiveLoop:
    """Answers questions over four ports; itself an :class:`~scaar.core.ports.Answerer`."""

    def __init__(
        self,
        ports: Ports,
        *,
        clock: Callable[[], float] = time.monotonic,
        new_request_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._ports = ports
        self._clock = clock
        self._new_request_id = new_request_id

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        """Every decision as it is made; the last event holds the answer and the bill."""
        validate(request)
        budget = Budget(request.budget, self._clock)
        async with budget.within("opening the answer"):
            provenance = await self._provenance(request)
        run = _Run(self._ports, request, provenance, budget)
        yield AnswerStarted(provenance)
        async with aclosing(run.events()) as events:
            async for event in events:
                yield event
        yield AnswerFinished(run.answer())

    async def _provenance(self, request: AnswerRequest) -> Provenance:
        """What will answer. Refuses, before any work, what the parts cannot serve."""
        model = await self._ports.generator.describe_model()
        policy = effective_policy(request.policy, model)
        _require_capabilities(policy, model)
        profile = profile_of(request.prompt_profile or model.prompt_profile)
        scores = policy.when is When.UNCERTAIN_WORD and needs_contributions(policy)
        retrieves = policy.when is not When.NEVER
        index = await self._ports.retriever.describe_index(request.index) if retrieves else None
        scorer = await self._ports.scorer.describe_model() if scores else None
        return Provenance(
            request_id=request.request_id or self._new_request_id(),
            model=model.model,
            model_revision=model.revision,
            engine=model.engine,
            scorer=scorer.model if scorer else "",
            scorer_revision=scorer.revision if scorer else "",
            index=index.name if index else "",
            index_version=index.version if index else "",
            prompt_profile=profile.label,
            policy=policy,
        )


def _require_capabilities(policy: EffectivePolicy, model: ModelDescription) -> None:
    missing = PRESETS[policy.name].needs - model.capabilities
    if missing:
        names = ", ".join(sorted(missing))
        raise CapabilityMissing(
            f"policy {policy.name} needs {names}, which model {model.model} on engine "
            f"{model.engine} does not give; single_round needs nothing of the kind",
            policy=policy.name,
            missing=names,
        )


@dataclass(slots=True)
class _Run:
    """One answer in the making."""

    ports: Ports
    request: AnswerRequest
    provenance: Provenance
    budget: Budget
    so_far: Writing = field(default_factory=Writing)
    accepted: list[AcceptedSentence] = field(default_factory=list)
    standing_passages: tuple[RetrievedPassage, ...] = ()
    end: AnswerEnd | None = None

    @property
    def policy(self) -> EffectivePolicy:
        return self.provenance.policy

    @property
    def profile(self) -> PromptProfile:
        return profile_of(self.provenance.prompt_profile)

    @property
    def index(self) -> int:
        """The number of the sentence being written."""
        return len(self.accepted)

    async def events(self) -> AsyncGenerator[AnswerEvent, None]:
        writer = SentenceWriter(self.ports.generator, self.budget, self.profile.stop)
        judge = Judge(self.ports.scorer, self.policy, self.budget)
        if self.policy.when is When.ONCE and self.budget.retrievals_left > 0:
            yield (built := await self._build_query())
            yield (retrieved := await self._retrieve(built.query))
            self.standing_passages = retrieved.passages
        while self.end is None:
            draft = None
            async with aclosing(self._draft(writer)) as parts:
                async for part in parts:
                    if isinstance(part, Sentence):
                        draft = part
                    else:
                        yield part
            assert draft is not None
            sentence, passages = draft, self.standing_passages
            if self._is_judged(draft):
                words = await judge.judge(
                    self.request.question, draft, stage=f"judging sentence {self.index}"
                )
                judged = self._judged(draft, words)
                yield judged
                if judged.retrieving:
                    yield (built := await self._build_query(words))
                    yield (retrieved := await self._retrieve(built.query))
                    if retrieved.passages:
                        again, used = await self._regenerate(writer, retrieved.passages)
                        yield SentenceRegenerated(self.index, draft.text, again.text)
                        # A model that has nothing to say from the passages leaves its draft.
                        if again.text.strip():
                            sentence, passages = again, used
            if sentence.text:
                yield self._accept(sentence, passages)
            self.end = self._ended(sentence)
        if self.end is not AnswerEnd.ANSWER_PHRASE:
            yield await self._conclude(writer)

    def answer(self) -> Answer:
        assert self.end is not None
        text = "".join(sentence.text for sentence in self.accepted)
        return Answer(
            answer=self.profile.extract_answer(text) or "",
            sentences=tuple(self.accepted),
            end=self.end,
            usage=self.budget.usage(),
            provenance=self.provenance,
        )

    async def _draft(self, writer: SentenceWriter) -> AsyncGenerator[TokenDrafted | Sentence, None]:
        stage, tokens = f"drafting sentence {self.index}", self._sentence_max_tokens()
        while True:
            prompt = self.profile.render(self.request.question, self.standing_passages)
            drafting = writer.draft(prompt, self.so_far, stage=stage, max_tokens=tokens)
            try:
                async with aclosing(drafting) as parts:
                    async for part in parts:
                        yield part if isinstance(part, Sentence) else TokenDrafted(self.index, part)
                return
            except PromptTooLong:
                if len(self.standing_passages) <= 1:
                    raise
                self.standing_passages = self.standing_passages[:-1]

    def _is_judged(self, draft: Sentence) -> bool:
        concluding = self.profile.concludes(draft.text)
        written = bool(draft.text.strip())
        return self.policy.when is When.UNCERTAIN_WORD and written and not concluding

    def _judged(self, draft: Sentence, words: tuple[JudgedWord, ...]) -> SentenceJudged:
        trigger = next((at for at, word in enumerate(words) if word.uncertain), None)
        # Without tokens left nothing could be written from the passages.
        affordable = self.budget.retrievals_left > 0 and self.budget.tokens_left > 0
        retrieving = trigger is not None and affordable
        return SentenceJudged(self.index, draft.text, words, trigger, retrieving)

    async def _build_query(self, words: tuple[JudgedWord, ...] = ()) -> QueryBuilt:
        asked = QueryRequest(
            question=self.request.question,
            settings=self.policy.query,
            words=words,
            accepted=tuple(sentence.text for sentence in self.accepted),
            recent_tokens=tuple(self.so_far.token_texts[-self.policy.query.last_n_tokens :]),
        )
        async with self.budget.within(f"building the query for sentence {self.index}"):
            return QueryBuilt(self.index, await self.ports.query_builder.build_query(asked))

    async def _retrieve(self, query: Query) -> PassagesRetrieved:
        wanted = RetrieveRequest((query.text,), self.policy.top_k, self.request.index)
        self.budget.count_retrieval()
        async with self.budget.within(f"retrieving for sentence {self.index}"):
            found = await self.ports.retriever.retrieve(wanted)
        (passages,) = found.results
        return PassagesRetrieved(self.index, found.index, found.version, passages)

    async def _regenerate(
        self, writer: SentenceWriter, passages: tuple[RetrievedPassage, ...]
    ) -> tuple[Sentence, tuple[RetrievedPassage, ...]]:
        """The sentence written again, and the passages that the model had room for."""
        stage, tokens = f"writing sentence {self.index} again", self._sentence_max_tokens()
        while True:
            prompt = self.profile.render(self.request.question, passages)
            try:
                written = await writer.write(prompt, self.so_far, stage=stage, max_tokens=tokens)
                return written, passages
            except PromptTooLong:
                if len(passages) == 1:
                    raise
                passages = passages[:-1]

    def _sentence_max_tokens(self) -> int:
        return min(SENTENCE_MAX_TOKENS, self.budget.tokens_left)

    def _accept(
        self, sentence: Sentence, passages: tuple[RetrievedPassage, ...]
    ) -> SentenceAccepted:
        number, start = self.index, len(self.so_far.text)
        self.so_far.accept(sentence)
        accepted = AcceptedSentence(
            text=sentence.text,
            passage_ids=tuple(passage.id for passage in passages),
            concluding=self.profile.concludes(sentence.text),
        )
        self.accepted.append(accepted)
        return SentenceAccepted(number, accepted, start, len(self.so_far.text))

    def _ended(self, sentence: Sentence) -> AnswerEnd | None:
        if self.profile.concludes(sentence.text):
            return AnswerEnd.ANSWER_PHRASE
        if sentence.last or not sentence.text:
            return AnswerEnd.END_OF_SEQUENCE
        if self.index >= self.request.budget.max_sentences:
            return AnswerEnd.MAX_SENTENCES
        if self.budget.tokens_left <= 0:
            return AnswerEnd.MAX_TOKENS
        return None

    async def _conclude(self, writer: SentenceWriter) -> SentenceAccepted:
        """Has the model conclude: the answer phrase, and what it writes after it."""
        phrase = self.profile.forcing_phrase
        prompt = self.profile.render(self.request.question, self.standing_passages)
        forced = Writing(text=self.so_far.text + phrase, token_ids=None)
        written = await writer.write(
            prompt, forced, stage="concluding", max_tokens=CONCLUSION_MAX_TOKENS
        )
        conclusion = Sentence(phrase + written.text, written.tokens, None, last=True)
        return self._accept(conclusion, self.standing_passages)
