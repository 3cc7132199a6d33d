"""Answers with retrievals at given sentences, and what every trigger says of their drafts.

Passages are dropped after each rewritten sentence, so a draft depends on the text before it alone:
the answer of a policy is that with retrievals at the sentences at which its trigger fires. One
answer with these retrievals therefore serves every trigger and theta that leads to them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from scaar.core.errors import ScaarError
from scaar.core.evidence import Evidence
from scaar.core.policies import PRESETS
from scaar.core.policies.preset import Preset
from scaar.core.ports import Answerer
from scaar.core.triggers import TRIGGERS, Judgement, ThetaRange, TriggerRule, learned
from scaar.core.triggers.rule import PROBABILITY
from scaar.core.triggers.sentence_threshold import judge, least_probable
from scaar.core.types import (
    AnswerRequest,
    EffectivePolicy,
    Moment,
    PolicyRequest,
    QuerySettings,
)
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.execution.items import QuestionLimiter, RecordStore, evaluate_items
from scaar.evaluator.execution.prediction import predict
from scaar.evaluator.oracles import in_world
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Prediction, Setting
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.scoring.scores import main_measure_of, score_of
from scaar.evaluator.studies.tuning.candidates import (
    REFERENCE,
    Retrieving,
    evidence_of_triggers,
)
from scaar.evaluator.studies.tuning.records import (
    ALWAYS,
    NEVER,
    JudgedDraft,
    ModelUsage,
    Trajectory,
    TunedQuestion,
)

FORCED = "forced"
"""The policy and the trigger that retrieve at given sentences."""
MAX_SENTENCES = 48
"""Number of sentences from the start of an answer at which a retrieval can be forced."""
_DIGITS = 6

Values = dict[int, dict[str, float]]
_RECORDED: ContextVar[Values | None] = ContextVar("recorded", default=None)


@dataclass(frozen=True, slots=True)
class Sample:
    """Questions with the answerer of their index; ``template`` is the request of each question."""

    answerer: Answerer
    kind: DatasetKind
    origin: DatasetOrigin
    template: AnswerRequest


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """An answer to make."""

    question: TunedQuestion
    retrieving: Retrieving
    plan: int


@contextmanager
def forced_retrievals(triggers: Collection[str]) -> Iterator[None]:
    """Add the policy ``forced`` within the block, which records the values of the triggers."""
    names = tuple({REFERENCE, *triggers} - {learned.NAME})
    needs = evidence_of_triggers(tuple(triggers))

    def decide(evidence: Evidence, policy: EffectivePolicy) -> Judgement:
        if evidence.context is None:
            raise ScaarError("retrievals can be forced in drafts of an answer only")
        sentence = evidence.context.sentence
        recorded = _RECORDED.get()
        if recorded is not None:
            recorded[sentence] = {name: value_of(name, evidence, policy) for name in names}
        forced = sentence < MAX_SENTENCES and int(policy.theta) - 1 >> sentence & 1
        value = policy.theta + 1.0 if forced else 0.0
        return judge(evidence, policy, value, weights=least_probable(evidence))

    rule = TriggerRule(
        decide, ThetaRange(1.0, maximum=2.0**MAX_SENTENCES, minimum=1.0), needs, by_word=False
    )
    preset = Preset(
        name=FORCED,
        moments=(Moment.UNCERTAIN_DRAFT,),
        trigger=FORCED,
        query=QuerySettings("current_sentence", include_question=False),
    )
    with TRIGGERS.with_parts({FORCED: rule}), PRESETS.with_parts({FORCED: preset}):
        yield


def value_of(trigger: str, evidence: Evidence, policy: EffectivePolicy) -> float:
    """Return the value of a trigger for a draft: it fires if the value is above its threshold.

    That of a trigger that compares probabilities is the negative of its score.
    """
    rule = TRIGGERS[trigger]
    spares = rule.by_word and rule.spares_stop_words
    judged_by = replace(policy, theta=rule.theta.default, spare_stop_words=spares)
    judgement = rule.judge(evidence, judged_by)
    if judgement.score is None:
        return NEVER if judgement.trigger is None else ALWAYS
    return -judgement.score if rule.theta is PROBABILITY else judgement.score


def threshold_of(trigger: str, theta: float) -> float:
    """Return the value above which a trigger fires at a theta."""
    return -theta if TRIGGERS[trigger].theta is PROBABILITY else theta


async def draft(
    work: Sequence[PlannedAnswer],
    samples: Sequence[Sample],
    store: RecordStore[Trajectory],
    *,
    concurrency: int,
) -> Sequence[Trajectory]:
    """Make answers and store them.

    Raises:
        ScaarError: an answer failed or cannot be stored; the others are cancelled.
    """
    made: list[Trajectory] = []

    async def make(work: PlannedAnswer) -> Trajectory:
        return await _trajectory(work, samples[work.question.sample])

    limiter = QuestionLimiter(concurrency)
    await evaluate_items(work, make, store, limiter=limiter, on_stored=made.append)
    return made


async def _trajectory(work: PlannedAnswer, sample: Sample) -> Trajectory:
    overrides = replace(work.retrieving.overrides, theta=float(1 + work.plan))
    setting = Setting(FORCED, PolicyRequest(FORCED, overrides))
    recorded: Values = {}
    token = _RECORDED.set(recorded)
    try:
        made = await answer_of(setting, work.question, sample)
    finally:
        _RECORDED.reset(token)
    return Trajectory(
        question=work.question.key,
        retrieving=work.retrieving.label if work.plan else "",
        plan=work.plan,
        quality=quality_of(made, work.question, sample.kind),
        searches=made.usage.searches,
        drafts=tuple(_drafts(made, recorded)),
        usage=ModelUsage.of(made.usage),
    )


async def answer_of(setting: Setting, question: TunedQuestion, sample: Sample) -> Prediction:
    """Return the answer to a question.

    Raises:
        ScaarError: the answer failed.
    """
    with in_world(sample.origin):
        outcome = await predict(sample.answerer, Work(setting, question.question), sample.template)
    if outcome.prediction.failure is not None:
        text = f"question {question.key} failed: {outcome.prediction.failure.message}"
        raise ScaarError(text)
    return outcome.prediction


def quality_of(prediction: Prediction, question: TunedQuestion, kind: DatasetKind) -> float | None:
    """Return the main measure of an answer; None for a question without answers."""
    if not question.question.answers:
        return None
    return score_of(question.question, prediction, kind).values[main_measure_of(kind)]


def _drafts(
    prediction: Prediction, recorded: Mapping[int, Mapping[str, float]]
) -> Iterator[JudgedDraft]:
    for sentence, each in enumerate(prediction.decisions):
        if each.words:
            yield JudgedDraft(
                sentence,
                _rounded(recorded[sentence]),
                _rounded(each.signals),
                _opposite(each.draft_right),
                _opposite(each.right),
            )


def _opposite(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _rounded(values: Mapping[str, float]) -> Mapping[str, float]:
    return {
        name: value if abs(value) >= ALWAYS else float(f"{value:.{_DIGITS}g}")
        for name, value in values.items()
    }
