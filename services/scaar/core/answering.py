"""One answer in the making: what stands, what was found, and what both policies' steps share."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from scaar.core.budget import Budget, Part
from scaar.core.capacity import AnswerPlace
from scaar.core.errors import PromptTooLong, ScaarError
from scaar.core.judge import Judged
from scaar.core.policies.needs import streams_attention
from scaar.core.ports import ContributionScorer, Generator, QueryBuilder, Retriever
from scaar.core.prompts import PromptProfile, profile_of
from scaar.core.sentences import split_sentences
from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerRequest,
    Degradation,
    EffectivePolicy,
    Formulation,
    OnFailure,
    PassagesRetrieved,
    Provenance,
    Query,
    QueryBuilt,
    QueryRequest,
    QuerySettings,
    RetrievedPassage,
    RetrieveRequest,
    RetrieveResult,
    SentenceAccepted,
    Token,
    TokenDrafted,
    When,
)
from scaar.core.writer import SENTENCE_MAX_TOKENS, Sentence, Writer, Writing

CONCLUSION_MAX_TOKENS = 20
"""What a conclusion may take when the model has not come to one by itself."""

_T = TypeVar("_T")
Parts = AsyncGenerator[Token | Sentence, None]


@dataclass(frozen=True, slots=True)
class Ports:
    """The four ports that the loop works through."""

    generator: Generator
    scorer: ContributionScorer
    query_builder: QueryBuilder
    retriever: Retriever


class Answering:
    """The state of one answer, and what may be done to it."""

    def __init__(
        self,
        ports: Ports,
        request: AnswerRequest,
        provenance: Provenance,
        budget: Budget,
        place: AnswerPlace,
        *,
        draft_ahead: bool,
    ) -> None:
        self.ports = replace(ports, generator=place.generator(ports.generator))
        self._place = place
        self.request = request
        self.provenance = provenance
        self.budget = budget
        self.writer = Writer(
            self.ports.generator,
            budget,
            stop_strings=self.profile.stop,
            draft_ahead=draft_ahead,
            attention=streams_attention(self.policy),
        )
        self.so_far = Writing()
        self.accepted: list[AcceptedSentence] = []
        self.passages: tuple[RetrievedPassage, ...] = ()
        """What stands in the prompt."""
        self.degraded: Degradation | None = None
        """What failed for the sentence that is being written."""
        self.end: AnswerEnd | None = None
        self.begun: Sentence | None = None
        """The first sentence as the gate had it drafted, where it is not to be drafted again."""
        self.common = False
        """The gate found the question common: nothing is looked up for it."""

    @property
    def when(self) -> When:
        """When the policy retrieves for this question."""
        return When.NEVER if self.common else self.policy.when

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

    @property
    def can_look_up(self) -> bool:
        """The budget has a retrieval left, and tokens to write from what it finds."""
        return self.budget.retrievals_left > 0 and self.budget.tokens_left > 0

    async def look_up(
        self, judged: Judged | None = None
    ) -> AsyncGenerator[QueryBuilt | PassagesRetrieved, None]:
        """The query, then the passages; it breaks off, degraded, where a failure is accepted."""
        stage = f"building the query for sentence {self.index}"
        query = await self.or_degraded(partial(self._build_query, judged, stage), stage)
        if query is None:
            return
        yield QueryBuilt(self.index, query)
        stage = f"retrieving for sentence {self.index}"
        self.budget.count_retrieval()
        found = await self.or_degraded(partial(self._retrieve, query, stage), stage)
        if found is not None:
            (passages,) = found.results
            yield PassagesRetrieved(self.index, found.index, found.version, passages)

    async def or_degraded(self, work: Callable[[], Awaitable[_T]], stage: str) -> _T | None:
        """The result of the work; None where it failed and the answer goes on without it.

        Work that is refused for overload is repeated where the answer would fail with it.
        """
        try:
            if self.request.on_failure is not OnFailure.FAIL:
                return await work()
            async with self.budget.within(stage):
                return await self._place.repeated(work)
        except ScaarError as error:
            if self.request.on_failure is OnFailure.FAIL or self.budget.seconds_left <= 0:
                raise
            self.degraded = Degradation(stage, error.reason, error.message)
            return None

    async def write_on(self, write: Callable[[str], Parts]) -> Parts:
        """What is written to the prompt, with as many of the passages as the model has room for."""
        while True:
            prompt = self.profile.render(self.request.question, self.passages)
            try:
                async with aclosing(write(prompt)) as parts:
                    async for part in parts:
                        yield part
                return
            except PromptTooLong:
                if len(self.passages) <= 1:
                    raise
                await self.writer.stop()
                # Of passages that accumulate the oldest go first, else the worst.
                oldest = self.policy.max_passages > 0
                self.passages = self.passages[1:] if oldest else self.passages[:-1]

    async def write_again(
        self, passages: tuple[RetrievedPassage, ...], *, begun: Sentence | None = None
    ) -> tuple[Sentence, tuple[RetrievedPassage, ...]]:
        """The sentence from passages, and those of them that the model had room for.

        It goes on from what it is ``begun`` with, if anything; one that the model does not go on
        with is empty.
        """
        stage = f"writing sentence {self.index} again"
        most = min(SENTENCE_MAX_TOKENS, self.budget.tokens_left)
        while True:
            prompt = self.profile.render(self.request.question, passages)
            try:
                again = await self.writer.write(
                    prompt, self.so_far, stage=stage, max_tokens=most, begun=begun
                )
                if begun is not None and again.text.strip():
                    again = begun.then(again)
                return again, passages
            except PromptTooLong:
                if len(passages) == 1:
                    raise
                passages = passages[:-1]

    def drafted(self, token: Token) -> TokenDrafted:
        # The attention is for the judge; a client has no use for some thousand numbers a token.
        return TokenDrafted(self.index, replace(token, attention=()) if token.attention else token)

    def accept(
        self,
        sentence: Sentence,
        passages: tuple[RetrievedPassage, ...],
        *,
        concluding: bool | None = None,
    ) -> SentenceAccepted:
        """Adds the sentence to what stands."""
        if concluding is None:
            concluding = self.profile.concludes(sentence.text)
        number, start = self.index, len(self.so_far.text)
        self.so_far.accept(sentence)
        accepted = AcceptedSentence(
            text=sentence.text,
            passage_ids=tuple(passage.id for passage in passages),
            concluding=concluding,
            degraded=self.degraded,
        )
        self.accepted.append(accepted)
        if self.when is not When.ONCE:
            self.degraded = None
        return SentenceAccepted(number, accepted, start, len(self.so_far.text))

    def ended(self, sentence: Sentence, *, concluded: bool) -> AnswerEnd | None:
        """Why the answer ends with the sentence, if it does."""
        if concluded:
            return AnswerEnd.ANSWER_PHRASE
        if sentence.last:
            return AnswerEnd.END_OF_SEQUENCE
        if self.index >= self.request.budget.max_sentences:
            return AnswerEnd.MAX_SENTENCES
        if self.budget.tokens_left <= 0 and not self.writer.has_more:
            return AnswerEnd.MAX_TOKENS
        return None if sentence.text else AnswerEnd.END_OF_SEQUENCE

    async def conclude(self) -> SentenceAccepted:
        """Has the model conclude: the answer phrase, and what it writes after it."""
        await self.writer.stop()
        phrase = self.profile.forcing_phrase
        prompt = self.profile.render(self.request.question, self.passages)
        forced = Writing(text=self.so_far.text + phrase, token_ids=None)
        written = await self.writer.write(
            prompt, forced, stage="concluding", max_tokens=CONCLUSION_MAX_TOKENS
        )
        conclusion = Sentence(phrase + written.text, written.tokens, None, last=True)
        return self.accept(conclusion, self.passages, concluding=True)

    def answer(self) -> Answer:
        assert self.end is not None
        text = self.so_far.text
        return Answer(
            answer=self.profile.extract_answer(text) or "",
            sentences=tuple(self.accepted),
            end=self.end,
            usage=self.budget.usage(),
            provenance=self.provenance,
        )

    async def _build_query(self, judged: Judged | None, stage: str) -> Query:
        settings = self.policy.query
        asked = QueryRequest(
            question=self.request.question,
            settings=settings if judged or self.accepted else _of_the_question(settings),
            words=judged.judgement.words if judged else (),
            accepted=self._sentences(),
            recent_tokens=tuple(self.so_far.token_texts[-settings.last_n_tokens :]),
            attended=judged.attended if judged else (),
        )
        async with self.budget.within(stage):
            return await self.ports.query_builder.build_query(asked)

    async def _retrieve(self, query: Query, stage: str) -> RetrieveResult:
        asked = self.request
        wanted = RetrieveRequest((query.text,), self.policy.top_k, asked.index, asked.filters)
        async with self.budget.within(stage, Part.RETRIEVAL):
            return await self.ports.retriever.retrieve(wanted)

    def _sentences(self) -> tuple[str, ...]:
        if self.policy.when is When.EVERY_WINDOW:
            return split_sentences(self.so_far.text)
        return tuple(sentence.text for sentence in self.accepted)


def _of_the_question(settings: QuerySettings) -> QuerySettings:
    """The query of what stands before the first sentence."""
    return replace(settings, formulation=Formulation.QUESTION, include_question=False)
