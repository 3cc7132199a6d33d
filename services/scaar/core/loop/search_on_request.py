"""An answer of a model that asks: it writes, requests searches in tags, and reads their results.

The model writes one text. A step ends with the closing tag of a query; the loop searches, appends
the results in the tags of the dialect, and the model continues the same text. What the model
writes between the tags of the answer is the answer, and nothing else of the text.
"""

import math
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from scaar.core.errors import PromptTooLong
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.prompted_writing import CONCLUSION_MAX_TOKENS
from scaar.core.loop.token_stream import TokenStream
from scaar.core.loop.writer import CALL_MAX_TOKENS, Sentence
from scaar.core.prompts.dialects import DIALECTS, Dialect
from scaar.core.prompts.untrusted import MAX_PASSAGE_CHARACTERS, cut, one_line
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    FinishReason,
    GenerateRequest,
    GenerationProgress,
    Query,
    RetrievedPassage,
    SearchDecision,
    SearchRequested,
    Token,
)


async def search_on_request(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the whole answer, up to its acceptance."""
    dialect = DIALECTS[state.policy.dialect]
    transcript = _Transcript(dialect, _prompt(state, dialect))
    limited, step = False, _Step()
    while state.budget.remaining_tokens > 0:
        step = await transcript.write(state)
        start = dialect.query_start(step.text)
        if start < 0 or step.reason is not FinishReason.STOP:
            break
        asked = dialect.request_in(step.text[start:])
        query = cut(one_line(asked.query), MAX_PASSAGE_CHARACTERS)
        probability = step.probability(*(start + each for each in asked.span))
        decision = _decide(state, transcript, query, probability, malformed=bool(asked.fault))
        number, thought = transcript.requests, step.text[: start - len(dialect.query[0])]
        yield SearchRequested(number, thought, query, decision, probability)
        found: tuple[RetrievedPassage, ...] = ()
        if decision is SearchDecision.SEARCHED:
            made = Query(query, formulation="request")
            async with aclosing(retrieve_passages(state, query=made)) as steps:
                async for event in steps:
                    yield event
            found = state.found
        fault = asked.fault if decision is SearchDecision.MALFORMED else ""
        transcript.append(step, _Results(decision, found, fault))
        step = _Step()
        if limited and decision is SearchDecision.LIMIT:
            break
        limited |= decision is SearchDecision.LIMIT
    answer, end = step.part(*dialect.answer_in(step.text)), AnswerEnd.ANSWER_PHRASE
    if not answer.text:
        spent = state.budget.remaining_tokens <= 0
        end = AnswerEnd.MAX_TOKENS if spent else AnswerEnd.END_OF_SEQUENCE
        answer = await transcript.force(state, step)
    yield state.accept_whole(answer, transcript.read, end=end)


def _prompt(state: AnswerState, dialect: Dialect) -> str:
    """Return the prompt, which explains the tags unless the model was trained on them."""
    question = dialect.safe(state.request.question)
    if state.profile.trained_dialect == state.policy.dialect:
        return state.profile.render(question)
    return state.profile.after_system(dialect.render(question, state.policy.max_searches))


def _decide(
    state: AnswerState,
    transcript: "_Transcript",
    query: str,
    probability: float | None,
    *,
    malformed: bool,
) -> SearchDecision:
    """Count a request, and return the decision on it."""
    transcript.requests += 1
    if transcript.requests > state.policy.max_searches or not state.can_retrieve:
        return SearchDecision.LIMIT
    if malformed:
        return SearchDecision.MALFORMED
    if not query:
        return SearchDecision.EMPTY
    if query.casefold() in transcript.searched:
        return SearchDecision.REPEATED
    threshold = state.policy.skip_above
    if threshold is not None and probability is not None and probability >= threshold:
        return SearchDecision.SKIPPED
    transcript.searched.add(query.casefold())
    return SearchDecision.SEARCHED


@dataclass(frozen=True, slots=True)
class _Step:
    """What the model wrote in one step, without the closing tag that ended it."""

    text: str = ""
    tokens: tuple[Token, ...] = ()
    reason: FinishReason | None = None

    def probability(self, start: int, end: int) -> float | None:
        """Return the smallest probability of the tokens of a part of the text; None if unknown."""
        logprobs = [each.logprob for each in self.tokens if each.start < end and each.end > start]
        known = [each for each in logprobs if each is not None]
        return math.exp(min(known)) if known and len(known) == len(logprobs) else None

    def part(self, start: int, end: int) -> Sentence:
        """Return a part of the text, with the tokens that have text in it."""
        tokens = (
            replace(each, start=each.start - start, end=each.end - start)
            for each in self.tokens
            if each.start < end and each.end > start
        )
        return Sentence(self.text[start:end], tuple(tokens), None, last=True)


@dataclass(frozen=True, slots=True)
class _Results:
    """What the model reads after a request."""

    decision: SearchDecision
    passages: tuple[RetrievedPassage, ...] = ()
    fault: str = ""

    def text(self, dialect: Dialect) -> str:
        return dialect.results_of(self.decision, self.passages, fault=self.fault)


class _Transcript:
    """The text that the model continues, and the results that it has read."""

    def __init__(self, dialect: Dialect, prompt: str) -> None:
        self._dialect = dialect
        self._prompt = prompt
        self._text = ""
        self._last: _Results | None = None
        self._earlier: tuple[RetrievedPassage, ...] = ()
        self.requests = 0
        self.searched = set[str]()

    @property
    def read(self) -> tuple[RetrievedPassage, ...]:
        """The passages in the text, each once."""
        last = self._last.passages if self._last else ()
        return tuple({each.id: each for each in (*self._earlier, *last)}.values())

    def append(self, step: _Step, results: _Results) -> None:
        """Append a step, and what follows its request."""
        self._text, self._earlier = self._with_results(), self.read
        self._text += step.text + self._dialect.query[1]
        self._last = results

    async def write(self, state: AnswerState) -> _Step:
        """Return the next step. Passages that do not fit are dropped, the worst first."""
        stage = f"writing up to search {self.requests + 1}"
        while True:
            prefix = self._with_results()
            try:
                return await _generate(state, self._prompt, prefix, self._dialect.stop, stage=stage)
            except PromptTooLong:
                if self._last is None or not self._last.passages:
                    raise
                self._last = replace(self._last, passages=self._last.passages[:-1])

    async def force(self, state: AnswerState, step: _Step) -> Sentence:
        """Return the answer that the model writes after the opening tag of an answer.

        An incomplete request at the end of the step is dropped, and the step if it does not fit.
        """
        dialect, text = self._dialect, step.text
        start = dialect.query_start(text)
        if start >= 0:
            text = text[: start - len(dialect.query[0])]
        before, stop = self._with_results(), (dialect.answer[1], dialect.query[0])
        for prefix in (before + text, before):
            try:
                forced = await _generate(
                    *(state, self._prompt, prefix + dialect.forcing, stop),
                    stage="concluding",
                    max_tokens=CONCLUSION_MAX_TOKENS,
                )
            except PromptTooLong:
                if prefix == before:
                    raise
            else:
                return forced.part(*dialect.without_rest(forced.text))
        raise AssertionError("the last prefix returns or raises")

    def _with_results(self) -> str:
        return self._text + (self._last.text(self._dialect) if self._last else "")


async def _generate(
    state: AnswerState,
    prompt: str,
    prefix: str,
    stop: tuple[str, ...],
    *,
    stage: str,
    max_tokens: int | None = None,
) -> _Step:
    """Return the text up to a stop string, its end, or the limit of tokens."""
    text, tokens = "", list[Token]()
    while True:
        left = state.budget.remaining_tokens if max_tokens is None else max_tokens - len(tokens)
        request = GenerateRequest(
            prompt, prefix + text, max_tokens=min(left, CALL_MAX_TOKENS), stop=stop
        )
        stream = TokenStream(state.ports.generator, request, state.budget, offset=len(text))
        try:
            while (token := await stream.read(stage)) is not None:
                if isinstance(token, GenerationProgress):
                    continue
                tokens.append(token)
        finally:
            await stream.aclose()
        text = "".join(token.text for token in tokens)
        if not stream.was_cut or left <= CALL_MAX_TOKENS:
            return _Step(text, tuple(tokens), stream.finish_reason)
