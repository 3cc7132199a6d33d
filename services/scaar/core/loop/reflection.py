"""An answer of a model with reflection tokens (Self-RAG, Asai et al. 2024).

Before every segment, the probabilities of the decision tokens are compared. If passages are
retrieved, the model writes the segment once from each of them, and the candidate with the best
judgements is accepted. Segments are accepted as sentences, without reflection tokens.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from scaar.core.loop.answer_state import AnswerState
from scaar.core.loop.passage_retrieval import retrieve_passages
from scaar.core.loop.reflection_scores import probability_of_retrieving, scores_of
from scaar.core.loop.reflection_transcript import Segment, Transcript
from scaar.core.prompts.reflection import (
    CONTINUE_EVIDENCE,
    DECISIONS,
    NO_RETRIEVAL,
    RETRIEVAL,
)
from scaar.core.types import (
    AnswerEvent,
    CandidatesScored,
    Moment,
    RetrievalDecision,
    RetrievalWeighed,
    RetrievedPassage,
    ScoredCandidate,
)


async def reflect(state: AnswerState) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the whole answer, up to its conclusion."""
    transcript = Transcript(state)
    while state.end is None:
        async with aclosing(_segment(state, transcript)) as events:
            async for event in events:
                yield event
    if state.must_conclude:
        conclusion = await transcript.conclude()
        yield state.accept(conclusion, transcript.evidence, concluding=True)


async def _segment(state: AnswerState, transcript: Transcript) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of the next segment, up to its acceptance."""
    decision = RetrievalDecision.SKIP
    if Moment.ON_REFLECTION in state.plan.moments:
        yield (weighed := await _weigh(state, transcript))
        decision = weighed.decision
    written = list[tuple[RetrievedPassage, Segment]]()
    if decision is RetrievalDecision.RETRIEVE:
        async with aclosing(retrieve_passages(state)) as steps:
            async for step in steps:
                yield step
        written = await _candidates(state, transcript, state.found)
    if written:
        yield (scored := _scored(state, written))
        passage, segment = written[scored.kept]
        transcript.append(RETRIEVAL, segment, passage)
        passages: tuple[RetrievedPassage, ...] = (passage,)
    elif state.budget.remaining_tokens > 0:
        continues = decision is RetrievalDecision.CONTINUE
        token = CONTINUE_EVIDENCE if continues else NO_RETRIEVAL
        segment = await transcript.write(token, stage=f"writing segment {state.index}")
        passages = transcript.evidence if continues else ()
        transcript.append(token, segment)
    else:
        segment, passages = Segment(), ()
    sentence = segment.after(state.so_far.text)
    concluded = state.profile.concludes(sentence.text)
    if sentence.text:
        yield state.accept(sentence, passages, concluding=concluded)
    state.end_after(sentence, concluded=concluded)


async def _weigh(state: AnswerState, transcript: Transcript) -> RetrievalWeighed:
    """Return the decision whether to retrieve.

    The model continues with its evidence if it prefers that token to the two others. Otherwise the
    probability of retrieving decides (Self-RAG section 3.3 and appendix A.3).
    """
    found = await transcript.decision(f"weighing segment {state.index}")
    probability, threshold = probability_of_retrieving(found), state.policy.retrieve_above
    preferred = max(DECISIONS, key=lambda name: found.get(name, 0.0))
    if preferred == CONTINUE_EVIDENCE and transcript.evidence:
        decision = RetrievalDecision.CONTINUE
    elif probability <= threshold:
        decision = RetrievalDecision.SKIP
    elif state.can_retrieve:
        decision = RetrievalDecision.RETRIEVE
    else:
        decision = RetrievalDecision.LIMIT
    return RetrievalWeighed(state.index, probability, threshold, decision)


async def _candidates(
    state: AnswerState, transcript: Transcript, passages: tuple[RetrievedPassage, ...]
) -> list[tuple[RetrievedPassage, Segment]]:
    """Return the segment from each passage that fits, while the budget has tokens."""
    written = list[tuple[RetrievedPassage, Segment]]()
    for rank, passage in enumerate(passages, 1):
        if state.budget.remaining_tokens <= 0:
            break
        stage = f"writing segment {state.index} from passage {rank}"
        segment = await transcript.write_from(passage, stage=stage)
        if segment is not None and segment.text:
            written.append((passage, segment))
    return written


def _scored(
    state: AnswerState, written: list[tuple[RetrievedPassage, Segment]]
) -> CandidatesScored:
    """Return the scores of the candidates; the first of the best ones is kept."""
    candidates = list[ScoredCandidate]()
    for passage, segment in written:
        scores = scores_of(segment.tokens)
        candidates.append(
            ScoredCandidate(
                passage_id=passage.id,
                text=segment.after(state.so_far.text).text,
                relevance=scores.relevance,
                support=scores.support,
                utility=scores.utility,
                likelihood=scores.likelihood,
                score=scores.total,
            )
        )
    kept = max(range(len(candidates)), key=lambda at: candidates[at].score)
    return CandidatesScored(state.index, tuple(candidates), kept)
