"""The judge of drafts: the uncertain words of a sentence, and the material of its query."""

from dataclasses import dataclass, replace

from scaar.core.evidence import Draft, Evidence, Sources, gather
from scaar.core.evidence.attention import attention_of
from scaar.core.evidence.provider import words_containing
from scaar.core.loop.attention import attended_before, attended_from, own_text
from scaar.core.policies.requirements import attends, judging_evidence, trigger_evidence
from scaar.core.prompts.untrusted import safe_question
from scaar.core.queries import FORMULATIONS
from scaar.core.signals import signals_of
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS, Judgement
from scaar.core.types import AttendedWord, AttendRequest, EffectivePolicy, Word


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged draft. ``attended`` is for queries by attention.

    ``unscored`` is whether the draft has no contributions because the scorer cannot read it.
    """

    judgement: Judgement
    attended: tuple[AttendedWord, ...] = ()
    unscored: bool = False


async def judge(draft: Draft, policy: EffectivePolicy, sources: Sources) -> Judged:
    """Return the judgement of a draft, which has at least one word."""
    assert policy.trigger is not None
    evidence = await gather(judging_evidence(policy), draft, sources)
    judgement = TRIGGERS[policy.trigger].judge(evidence, policy)
    judgement = replace(judgement, signals=signals_of(evidence))
    if judgement.trigger is None or not attends(policy.query.formulation):
        return Judged(judgement, unscored=evidence.unscored)
    attended = await _attended(draft, policy, judgement, evidence, sources)
    return Judged(judgement, attended, unscored=evidence.unscored)


async def is_uncertain(draft: Draft, policy: EffectivePolicy, sources: Sources) -> bool:
    """Return whether the trigger finds a sentence uncertain for which no query follows."""
    assert policy.trigger is not None
    evidence = await gather(trigger_evidence(policy), draft, sources)
    return TRIGGERS[policy.trigger].judge(evidence, policy).trigger is not None


async def _attended(
    draft: Draft,
    policy: EffectivePolicy,
    judgement: Judgement,
    evidence: Evidence,
    sources: Sources,
) -> tuple[AttendedWord, ...]:
    """Return the words that the trigger attends to, as the query formulation defines them."""
    assert judgement.trigger is not None
    units = [Word(word.text, word.start, word.end) for word in judgement.words]
    question, so_far = safe_question(draft.question), draft.so_far.text
    if FORMULATIONS[policy.query.formulation].reads_again:
        uncertain = [
            unit for unit, word in zip(units, judgement.words, strict=True) if word.uncertain
        ]
        hits = words_containing(uncertain or [units[judgement.trigger]], draft.words)
        text = f"{question}{so_far}{draft.sentence.text}"
        everything = await sources.attend(AttendRequest("", text))
        words = split_words(own_text(everything))
        first = len(words) - len(draft.words)
        return attended_before(words, sorted({first + hit for hit in hits}), everything)
    attention = evidence.attention or await attention_of(draft, sources)
    word = units[judgement.trigger]
    return attended_from(word, attention, question=question, so_far=len(so_far))
