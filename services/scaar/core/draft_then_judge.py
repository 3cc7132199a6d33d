"""A sentence of a policy that judges: draft, judge, look up where a word is uncertain, accept.

SCAAR section 3.4. The draft is of the model's own memory; from passages the sentence is written
once more and accepted as it is, and the passages are dropped. A policy that never looks up, or
once before the first sentence, goes the same way and judges nothing.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from scaar.core.answering import Answering, Parts
from scaar.core.judge import Draft, Judge, Judged
from scaar.core.triggers import Judgement
from scaar.core.types import (
    AnswerEvent,
    PassagesRetrieved,
    SentenceJudged,
    SentenceRegenerated,
    Truncation,
    When,
)
from scaar.core.writer import Sentence


async def draft_then_judge(answering: Answering) -> AsyncGenerator[AnswerEvent, None]:
    """The events of the next sentence, to its acceptance."""
    draft, answering.begun = answering.begun, None
    if draft is None:
        async with aclosing(drafting(answering)) as parts:
            async for part in parts:
                if isinstance(part, Sentence):
                    draft = part
                else:
                    yield answering.drafted(part)
    assert draft is not None
    sentence, passages = draft, answering.passages
    concluded = answering.profile.concludes(draft.text)
    if answering.when is When.UNCERTAIN_DRAFT and draft.text.strip() and not concluded:
        judged = await _judged(answering, draft)
        if judged is not None:
            yield (told := _told(answering, draft, judged.judgement))
            found = None
            if told.retrieving:
                await answering.writer.stop()
                async with aclosing(answering.look_up(judged)) as steps:
                    async for step in steps:
                        yield step
                        found = step if isinstance(step, PassagesRetrieved) else None
            if found is not None and found.passages:
                begun = _kept(answering, draft, judged.judgement)
                again, used = await answering.write_again(found.passages, begun=begun)
                yield SentenceRegenerated(answering.index, draft.text, again.text)
                # A model that has nothing to say from the passages leaves its draft.
                if again.text.strip():
                    sentence, passages = again, used
                    concluded = answering.profile.concludes(again.text)
    if sentence.text:
        yield answering.accept(sentence, passages)
    answering.end = answering.ended(sentence, concluded=concluded)


def drafting(answering: Answering) -> Parts:
    """The tokens of the next sentence by the model's own memory, then the sentence."""
    stage = f"drafting sentence {answering.index}"
    return answering.write_on(
        lambda prompt: answering.writer.sentence(prompt, answering.so_far, stage=stage)
    )


async def _judged(answering: Answering, sentence: Sentence) -> Judged | None:
    """The draft as it was judged; the model writes on meanwhile."""
    ports, question = answering.ports, answering.request.question
    judge = Judge(ports.generator, ports.scorer, answering.policy, answering.budget)
    prompt = answering.profile.render(question, answering.passages)
    draft = Draft(question, prompt, answering.so_far, sentence)
    stage = f"judging sentence {answering.index}"
    async with answering.writer.writing_ahead():
        return await answering.or_degraded(partial(judge.judge, draft, stage=stage), stage)


def _kept(answering: Answering, draft: Sentence, judgement: Judgement) -> Sentence | None:
    """What of the draft is not written again: what stands before the trigger, or nothing."""
    if answering.policy.truncate is Truncation.SENTENCE or judgement.trigger is None:
        return None
    # The space before a word is the word's, so that no prompt ends in one.
    before = draft.text[: judgement.words[judgement.trigger].start].rstrip()
    return draft.up_to(len(before)) if before else None


def _told(answering: Answering, draft: Sentence, judgement: Judgement) -> SentenceJudged:
    return SentenceJudged(
        sentence=answering.index,
        text=draft.text,
        words=judgement.words,
        trigger=judgement.trigger,
        retrieving=judgement.trigger is not None and answering.can_look_up,
        score=judgement.score,
    )
