"""A sentence of a policy that judges: draft, judge, retrieve if a word is uncertain, accept.

SCAAR section 3.4. The model drafts from its own memory. With passages, it writes the sentence once
more; that sentence is accepted whatever its certainty, and the passages are dropped, unless the
policy accumulates passages. A policy that never retrieves, or only before the first sentence, takes
the same steps without judging.

A draft from memory that says that the model does not know retrieves for the question, however
certain its words are: nothing in it could be searched for.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from scaar.core.evidence import Draft, Sources
from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.judge import Judged, is_uncertain, judge
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.prompted_writing import (
    Parts,
    merge_passages,
    regenerate,
    write_with_passages,
)
from scaar.core.loop.writer import Sentence
from scaar.core.text.sentence_counts import has_words
from scaar.core.triggers import Judgement
from scaar.core.types import (
    AnswerEvent,
    AttentionSpan,
    EffectivePolicy,
    ExcludeSeen,
    Moment,
    Query,
    RetrievedPassage,
    SentenceJudged,
    SentenceRegenerated,
    Truncation,
)


async def draft_then_judge(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the next sentence, up to its acceptance."""
    draft = state.take_draft()
    if draft is None:
        async with aclosing(drafting(state)) as parts:
            async for part in parts:
                if isinstance(part, Sentence):
                    draft = part
                else:
                    yield state.drafted(part)
    assert draft is not None
    sentence, passages = draft, state.passages
    concluded = state.profile.concludes(draft.text)
    judges = Moment.UNCERTAIN_DRAFT in state.plan.moments and has_words(draft.text)
    if judges and _is_judged(state.policy, concluded=concluded):
        judged = await _judged(state, draft, concluded=concluded)
        if judged is not None:
            yield (event := _judgement_event(state, draft, judged))
            found: tuple[RetrievedPassage, ...] = ()
            if event.retrieving:
                await state.writer.stop()
                query = Query(state.search_question, "question") if event.abstains else None
                async with aclosing(retrieve_passages(state, judged, query=query)) as steps:
                    async for step in steps:
                        yield step
                found = state.found
            if found:
                prefix = _kept_prefix(state, draft, judged.judgement)
                again, used = await regenerate(state, found, prefix=prefix)
                if state.policy.max_passages:
                    state.put_into_prompt(merge_passages(state, used))
                uncertain = await _stays_uncertain(state, again, used)
                if uncertain or state.policy.exclude_seen is ExcludeSeen.SEEN:
                    state.exclude(used)
                yield SentenceRegenerated(state.index, draft.text, again.text, uncertain)
                # If the model writes nothing with the passages, the draft is accepted.
                if again.text.strip():
                    sentence, passages = again, used
                    concluded = state.profile.concludes(again.text)
    if sentence.text:
        yield state.accept(sentence, passages)
    state.end_after(sentence, concluded=concluded)


def drafting(state: AnswerState) -> Parts:
    """Yield the tokens of the next sentence from the model's memory, then the sentence."""
    stage = f"drafting sentence {state.index}"
    return write_with_passages(
        state, lambda prompt: state.writer.sentence(prompt, state.so_far, stage=stage)
    )


def _is_judged(policy: EffectivePolicy, *, concluded: bool) -> bool:
    """Return whether a policy judges a draft, which may conclude."""
    return policy.judge_conclusion or not concluded


async def _judged(state: AnswerState, sentence: Sentence, *, concluded: bool) -> Judged | None:
    """Return the judged draft. The model keeps writing meanwhile."""
    stage = f"judging sentence {state.index}"
    draft, sources = _draft(state, sentence, state.passages), _sources(state, stage)
    async with state.writer.writing_ahead():
        judged = await state.or_degraded(partial(judge, draft, state.policy, sources), stage)
        shadow = state.shadow
        if judged and shadow and _is_judged(shadow.policy, concluded=concluded):
            await shadow.compare(draft, judged, sources)
    if judged is not None and judged.unscored:
        state.budget.count_unscored()
    return judged


async def _stays_uncertain(
    state: AnswerState, again: Sentence, passages: tuple[RetrievedPassage, ...]
) -> bool | None:
    """Return whether a regenerated sentence is uncertain; None if that is not to be judged."""
    policy, concluded = state.policy, state.profile.concludes(again.text)
    judges = _is_judged(policy, concluded=concluded)
    if policy.exclude_seen is not ExcludeSeen.UNHELPFUL or not judges:
        return None
    if not again.text.strip():
        return True
    stage = f"judging sentence {state.index} again"
    draft, sources = _draft(state, again, passages), _sources(state, stage)
    return await state.or_degraded(partial(is_uncertain, draft, policy, sources), stage)


def _draft(state: AnswerState, sentence: Sentence, passages: tuple[RetrievedPassage, ...]) -> Draft:
    if state.policy.attention_span is AttentionSpan.SENTENCE:
        # A router's other policies may need the whole draft.
        sentence = replace(sentence, draft=None)
    return Draft(
        state.search_question,
        state.profile.render(state.request.question, passages),
        state.so_far,
        sentence,
        state.policy.granularity,
        state.index,
        passages_read=state.has_read_passages,
        passages=passages,
        message=state.request.question,
    )


def _sources(state: AnswerState, stage: str) -> Sources:
    ports, counts = state.ports, state.corpus_counts
    return Sources(ports.generator, ports.scorer, state.budget, stage, counts)


def _kept_prefix(state: AnswerState, draft: Sentence, judgement: Judgement) -> Sentence | None:
    """Return the part of the draft that is not regenerated: the text before the trigger, if any."""
    if state.policy.truncate is Truncation.SENTENCE or judgement.trigger is None:
        return None
    # The space before a word belongs to the word, so that no prompt ends with a space.
    before = draft.text[: judgement.words[judgement.trigger].start].rstrip()
    return draft.up_to(len(before)) if before else None


def _judgement_event(state: AnswerState, draft: Sentence, judged: Judged) -> SentenceJudged:
    judgement = judged.judgement
    abstains = not state.has_read_passages and state.profile.abstains(draft.text)
    return SentenceJudged(
        sentence=state.index,
        text=draft.text,
        words=judgement.words,
        trigger=judgement.trigger,
        retrieving=(abstains or judgement.trigger is not None) and state.can_retrieve,
        score=judgement.score,
        signals=judgement.signals,
        without_contributions=judged.unscored,
        scorer_mismatch=state.has_scorer_mismatch and not judged.unscored,
        abstains=abstains,
    )
