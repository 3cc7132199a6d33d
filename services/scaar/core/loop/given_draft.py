"""The judgement of a given draft, by the steps that judge the drafts of the model.

The model reads the draft, and its sentences are judged in turn as if the model had drafted them
(:mod:`scaar.core.loop.draft_then_judge`), up to the first one with a query.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from scaar.core.errors import CapabilityMissing, InvalidRequest, PromptTooLong
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.draft_then_judge import draft_then_judge
from scaar.core.loop.token_stream import DraftedText
from scaar.core.loop.writer import SENTENCE_MAX_TOKENS, Sentence, sentence_of
from scaar.core.policies import PRESETS
from scaar.core.policies.requirements import drafted_tokens, streamed_top_tokens
from scaar.core.text.sentences import split_sentences
from scaar.core.text.words import join_words
from scaar.core.types import (
    AnswerEnd,
    Capability,
    ContinuationKind,
    DraftJudgement,
    JudgeDraftRequest,
    LogprobsRequest,
    ModelDescription,
    Moment,
    PolicyRequest,
    Query,
    QueryBuilt,
    SentenceJudged,
    TextLogprobs,
    Token,
)


def require_judging(policy: PolicyRequest) -> None:
    """Pass a policy that judges drafts.

    Raises:
        InvalidRequest: naming the published policies that do.
    """
    judging = [name for name, each in PRESETS.items() if Moment.UNCERTAIN_DRAFT in each.moments]
    if policy.name not in judging:
        text = f"{policy.label} judges no drafts; policies that do: {', '.join(judging)}"
        raise InvalidRequest.of("policy", text)


def require_given_texts(model: ModelDescription) -> None:
    """Pass a model that reads given texts as it writes its own.

    Raises:
        CapabilityMissing: naming the capability, and the alternative.
    """
    served = f"model {model.model} on engine {model.engine}"
    advice = (
        "use engine onnx, transformers or tgi, or openai with completions of vLLM or SGLang, or "
        "have a draft judged that the model writes (StreamAnswer)"
    )
    if (needed := Capability.TEXT_LOGPROBS) not in model.capabilities:
        text = f"a given draft needs {needed}, which {served} does not provide: {advice}"
        raise CapabilityMissing(text, missing=needed)
    if model.continuation is ContinuationKind.RESTATED:
        text = f"a given draft needs a model that continues the exact text, and {served} does not"
        raise CapabilityMissing(f"{text}: {advice}", missing="native_continuation")


async def judge_given_draft(
    state: AnswerState, request: JudgeDraftRequest, *, rewritten: str = ""
) -> DraftJudgement:
    """Return the judgement of the draft. ``rewritten`` is the standalone question, if there is one.

    Raises:
        InvalidRequest: a sentence is too long, or the texts exceed the model's context.
        CapabilityMissing: the model has no evidence of the trigger for given texts.
    """
    draft = await _GivenText.read(state, request)
    for each in draft.accepted_sentences():
        state.accept(each, ())
    judged, query = list[SentenceJudged](), None
    for each in draft.sentences(drafted_tokens(state.policy)):
        state.keep_draft(each)
        query = await _judge_next(state, judged)
        if query is not None or state.end is not None:
            break
    return DraftJudgement(
        sentences=tuple(judged),
        query=query,
        concluding=state.end is AnswerEnd.ANSWER_PHRASE,
        usage=state.budget.usage(),
        provenance=state.provenance,
        question=rewritten,
    )


async def _judge_next(state: AnswerState, judged: list[SentenceJudged]) -> Query | None:
    """Add the judgement of the kept draft, and return its query; nothing is retrieved for it."""
    async with aclosing(draft_then_judge(state)) as events:
        async for event in events:
            match event:
                case SentenceJudged():
                    judged.append(event)
                case QueryBuilt():
                    return event.query
    return None


@dataclass(frozen=True, slots=True)
class _GivenText:
    """The accepted text and the draft, with the tokens of both."""

    accepted: str
    draft: str
    tokens: tuple[Token, ...]

    @classmethod
    async def read(cls, state: AnswerState, request: JudgeDraftRequest) -> "_GivenText":
        """Let the model read the texts, after the space that it is more likely to begin with."""
        accepted, draft = request.accepted, request.draft.rstrip()
        if not accepted or accepted[-1].isspace() or draft[0].isspace():
            text = f"{accepted}{draft}"
        else:
            text = join_words((accepted, draft))
        forms = (text,) if text[0].isspace() else (f" {text}", text)
        found = [(form, await _logprobs(state, form)) for form in forms]
        text, read = max(found, key=lambda each: _likelihood(each[1].tokens))
        # White space before the draft belongs to its first sentence.
        begin = len(text[: len(text) - len(draft.lstrip())].rstrip())
        return cls(text[:begin], text[begin:], read.tokens)

    def accepted_sentences(self) -> list[Sentence]:
        """Return the sentences of the accepted text."""
        return _cut(self.tokens, split_sentences(self.accepted))

    def sentences(self, draft_tokens: int) -> list[Sentence]:
        """Return the sentences of the draft, with a draft of ``draft_tokens`` if there are some.

        Raises:
            InvalidRequest: a sentence is longer than the model would write it.
        """
        tokens = _moved(self.tokens, len(self.accepted), len(self.accepted) + len(self.draft))
        sentences = _cut(tokens, split_sentences(self.draft, self.accepted))
        begin = 0
        for number, each in enumerate(sentences):
            if len(each.tokens) > SENTENCE_MAX_TOKENS:
                text = f"sentence {number} must have at most {SENTENCE_MAX_TOKENS} tokens"
                raise InvalidRequest.of("draft", f"{text}, not {len(each.tokens)}")
            if draft_tokens:
                within = sum(token.start < begin + len(each.text) for token in tokens)
                whole = tokens[: max(draft_tokens, within)]
                sentences[number] = replace(each, draft=_drafted(whole, begin))
            begin += len(each.text)
        return sentences


async def _logprobs(state: AnswerState, text: str) -> TextLogprobs:
    policy = state.policy
    prompt = state.profile.render(state.request.question)
    request = LogprobsRequest(prompt, text, top_tokens=streamed_top_tokens(policy))
    try:
        return await state.read_text(request, "reading the draft")
    except PromptTooLong as error:
        text = "must fit into the model's context together with the text before it"
        raise PromptTooLong.of("draft", f"{text}: {error.message}") from error
    except InvalidRequest as error:
        if not request.top_tokens or all(each.field != "top_tokens" for each in error.violations):
            raise
        text = (
            f"trigger {policy.trigger} needs the most probable tokens, which engine "
            f"{state.provenance.engine} does not give for given texts"
        )
        raise CapabilityMissing(text, policy=policy.name, missing="top_tokens") from error


def _likelihood(tokens: Sequence[Token]) -> float:
    return sum(float("-inf") if each.logprob is None else each.logprob for each in tokens)


def _cut(tokens: Sequence[Token], sentences: Sequence[str]) -> list[Sentence]:
    """Return the sentences at the start of a text, with their tokens."""
    found, begin = [], 0
    for each in sentences:
        found.append(sentence_of(_moved(tokens, begin, begin + len(each)), each))
        begin += len(each)
    return found


def _moved(tokens: Sequence[Token], begin: int, end: int) -> tuple[Token, ...]:
    """Return the tokens that start between two places, with spans from the first one."""
    return tuple(
        replace(each, start=each.start - begin, end=each.end - begin)
        for each in tokens
        if begin <= each.start < end
    )


def _drafted(tokens: Sequence[Token], begin: int) -> DraftedText:
    return DraftedText(
        text="".join(each.text for each in tokens),
        token_ids=tuple(each.id for each in tokens),
        start=begin,
        tokens_before=sum(each.start < begin for each in tokens),
    )
