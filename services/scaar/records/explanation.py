"""Recorded drafts judged again under other settings, without a model."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from scaar.core.errors import InvalidRequest, ScaarError, Violation, WrongState
from scaar.core.evidence.evidence import DraftContext, Evidence
from scaar.core.evidence.provider import words_containing
from scaar.core.policies.checks import check_policy
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.requirements import trigger_evidence
from scaar.core.queries import build_query
from scaar.core.queries.draft_words import (
    masked_words,
    query_words,
    uses_draft,
    without_contributions,
)
from scaar.core.records import (
    AnswerRecord,
    ExplainedDraft,
    ExplainRecordRequest,
    RecordContent,
    RecordExplanation,
)
from scaar.core.text import word_classes
from scaar.core.text.questions import searched_question
from scaar.core.text.words import split_tokens, split_words
from scaar.core.triggers import TRIGGERS, Judgement, learned
from scaar.core.triggers.rule import first_uncertain
from scaar.core.types import (
    AnswerRequest,
    AnswerStarted,
    EffectivePolicy,
    EvidenceKind,
    Granularity,
    JudgedWord,
    LogprobKind,
    ModelDescription,
    Moment,
    PolicyOverrides,
    PolicyRequest,
    QueryRequest,
    SentenceJudged,
    SettingSource,
    Token,
    Word,
)
from scaar.records.recorded_drafts import RecordedDraft, drafts_in

_Value = TypeVar("_Value")

JUDGING_SETTINGS = ("theta", "theta_cap", "trigger", "granularity", "spare_stop_words")
"""The settings by which a trigger judges a recorded draft."""

# The recommendations of the model that answered are not recorded.
_NO_MODEL = ModelDescription("", "", "", LogprobKind.UNKNOWN, frozenset(), 0, "")


def explain(record: AnswerRecord, request: ExplainRecordRequest) -> RecordExplanation:
    """Return the judgements of a record's drafts under the settings of the request.

    Raises:
        InvalidRequest: naming every setting that is unknown, out of range or without effect.
        WrongState: the record has no judged draft, or lacks the evidence that the trigger needs.
    """
    started = next((each for each in record.events if isinstance(each, AnswerStarted)), None)
    if started is None:
        raise WrongState("the answer failed before it started: the record has no decision")
    recorded = started.provenance.policy
    policy = _policy_of(recorded, request)
    drafts = list(drafts_in(record))
    if not drafts:
        raise WrongState(f"the policy {recorded.name} judged no draft of this answer")
    judge = _judge_of(record, recorded, policy)
    left = _retrievals_left(record.request, policy)
    explained = []
    for draft in drafts:
        judgement = judge(draft)
        abstains, trigger = draft.judged.abstains, judgement.trigger
        if abstains and TRIGGERS[str(policy.trigger)].withholds:
            trigger = None
        retrieving = (abstains or trigger is not None) and left > 0
        left -= retrieving
        judged = replace(
            draft.judged,
            words=_with_contributions(judgement.words, draft.judged.words),
            trigger=trigger,
            retrieving=retrieving,
            score=judgement.score,
        )
        each = ExplainedDraft(judged, draft.judged.retrieving)
        has_texts = record.summary.content is RecordContent.FULL
        explained.append(_with_query(each, draft, policy) if retrieving and has_texts else each)
    different = (
        each.judged.sentence
        for each in explained
        if each.judged.retrieving != each.recorded_retrieving
    )
    return RecordExplanation(
        policy,
        tuple(explained),
        first_difference=next(different, None),
        recorded_retrievals=sum(each.recorded_retrieving for each in explained),
        retrievals=sum(each.judged.retrieving for each in explained),
    )


def _retrievals_left(request: AnswerRequest, policy: EffectivePolicy) -> int:
    """Return how many retrievals drafts can have."""
    left = request.budget.max_retrievals
    if Moment.AFTER_ANSWER not in policy.moments:
        return left
    return min(left - (Moment.BEFORE_ANSWER in policy.moments), policy.rounds - 1)


def _policy_of(recorded: EffectivePolicy, request: ExplainRecordRequest) -> EffectivePolicy:
    """Return the policy that judges: the named one, or that of the record with other settings."""
    given = request.overrides.given()
    others = [
        Violation(f"overrides.{name}", f"is not one of {', '.join(JUDGING_SETTINGS)}")
        for name in given
        if name not in JUDGING_SETTINGS
    ]
    if others:
        raise InvalidRequest(others)
    if request.policy:
        named = PolicyRequest(request.policy, request.overrides)
        wrong = check_policy(named)
        if not wrong:
            policy = effective_policy(named, _NO_MODEL)
            if policy.trigger is not None:
                return policy
            wrong = [Violation("policy", f"{request.policy} has no trigger")]
        raise InvalidRequest([_own_field(each) for each in wrong])
    if recorded.trigger is None:
        text = f"the policy {recorded.name} of the record has no trigger: name a policy"
        raise InvalidRequest.of("policy", text)
    return _adjusted(recorded, request.overrides)


def _own_field(wrong: Violation) -> Violation:
    """Return a violation of a policy request with the field of this request."""
    if wrong.field in ("policy", "policy.name"):
        return Violation("policy", wrong.description)
    name = wrong.field.rpartition(".")[2]
    return Violation(f"overrides.{name}", wrong.description)


def _adjusted(recorded: EffectivePolicy, overrides: PolicyOverrides) -> EffectivePolicy:
    """Return the policy of a record with other settings.

    Another trigger has its own default theta and stop words, unless the request sets them.
    """
    given = overrides.given()
    trigger = overrides.trigger or recorded.trigger or ""
    if trigger not in TRIGGERS:
        raise InvalidRequest.of("overrides.trigger", TRIGGERS.unknown(trigger))
    rule = TRIGGERS[trigger]
    own = trigger == recorded.trigger
    theta = _first(overrides.theta, recorded.theta if own else rule.theta.default)
    theta_cap = _first(overrides.theta_cap, recorded.theta_cap)
    wrong = []
    if not rule.theta.holds(theta):
        text = f"must be {rule.theta} for the trigger {trigger}, not {theta:g}"
        wrong.append(Violation("overrides.theta", text))
    if not 0.0 < theta_cap <= 1.0:
        wrong.append(Violation("overrides.theta_cap", f"must be (0, 1], not {theta_cap:g}"))
    if "theta_cap" in given and not rule.uses_theta_cap:
        text = f"has no effect on the trigger {trigger}"
        wrong.append(Violation("overrides.theta_cap", text))
    for name in ("granularity", "spare_stop_words"):
        if name in given and not rule.by_word:
            text = f"has no effect on the trigger {trigger}, which judges sentences"
            wrong.append(Violation(f"overrides.{name}", text))
    if wrong:
        raise InvalidRequest(wrong)
    spared = recorded.spare_stop_words if own else rule.spares_stop_words
    sources = {**dict(recorded.sources), **dict.fromkeys(given, SettingSource.REQUEST)}
    return replace(
        recorded,
        trigger=trigger,
        theta=theta,
        theta_cap=theta_cap,
        granularity=_first(overrides.granularity, recorded.granularity),
        spare_stop_words=_first(overrides.spare_stop_words, spared),
        sources=tuple(sources.items()),
    )


def _first(given: _Value | None, otherwise: _Value) -> _Value:
    return otherwise if given is None else given


def _with_contributions(
    words: tuple[JudgedWord, ...], recorded: tuple[JudgedWord, ...]
) -> tuple[JudgedWord, ...]:
    """Return the words with the recorded contributions that their trigger does not use."""
    if len(words) != len(recorded) or any(each.contribution is not None for each in words):
        return words
    return tuple(
        replace(word, contribution=each.contribution)
        for word, each in zip(words, recorded, strict=True)
    )


def _with_query(
    explained: ExplainedDraft, draft: RecordedDraft, policy: EffectivePolicy
) -> ExplainedDraft:
    """Return the draft with the query of the policy, if the record has what the query needs."""
    if not uses_draft(policy.query.formulation):
        return explained
    words = masked_words(explained.judged.words, policy.mask_below)
    settings = policy.query
    if draft.judged.without_contributions:
        settings = without_contributions(settings)
    request = QueryRequest(draft.question, settings, words, draft.accepted, read=draft.read)
    try:
        query = build_query(request)
    except InvalidRequest:
        # The contributions are not recorded.
        return explained
    found = query_words(words, query, settings)
    return replace(explained, query=query, query_words=found.words, query_cut_off=found.cut_off)


def _judge_of(
    record: AnswerRecord, recorded: EffectivePolicy, policy: EffectivePolicy
) -> Callable[[RecordedDraft], Judgement]:
    """Return the function that judges a draft under the policy.

    Raises:
        WrongState: the record lacks evidence.
    """
    assert policy.trigger is not None
    rule = TRIGGERS[policy.trigger]
    needs = trigger_evidence(policy)
    same = (policy.trigger, policy.granularity, policy.spare_stop_words) == (
        recorded.trigger,
        recorded.granularity,
        recorded.spare_stop_words,
    )
    if same and (policy.trigger == learned.NAME or needs & _VALUES_ONLY):
        return lambda draft: _by_values(draft, policy)
    if policy.trigger == learned.NAME:
        text = f"the trigger {policy.trigger} needs the parameters of a tuned policy"
        raise WrongState(f"{text}, which the record does not have")
    missing = needs & _VALUES_ONLY
    if EvidenceKind.WORD_CLASSES in needs and record.summary.content is not RecordContent.FULL:
        missing |= {EvidenceKind.WORD_CLASSES}
    if missing:
        raise _lacking(policy, missing)

    def judge(draft: RecordedDraft) -> Judgement:
        evidence = _evidence_of(draft, record, recorded, policy, needs)
        try:
            return rule.judge(evidence, policy)
        except ScaarError as error:
            text = f"the trigger {policy.trigger} cannot judge the record: {error.message}"
            raise WrongState(text) from error

    return judge


_OF_WORDS = frozenset({EvidenceKind.CORPUS_COUNTS, EvidenceKind.SUPPORT})
"""Evidence of sentences that gives each word a value of its own."""
_VALUES_ONLY = _OF_WORDS | {EvidenceKind.ATTENTION, EvidenceKind.OWN_ATTENTION}
"""Evidence that is recorded as the values of the trigger alone."""


def _lacking(policy: EffectivePolicy, kinds: frozenset[EvidenceKind]) -> WrongState:
    names = ", ".join(sorted(each.value for each in kinds))
    return WrongState(f"the record lacks what the trigger {policy.trigger} needs: {names}")


def _by_values(draft: RecordedDraft, policy: EffectivePolicy) -> Judgement:
    """Judge by the recorded values of the same trigger, with another theta."""
    judged, rule = draft.judged, TRIGGERS[str(policy.trigger)]
    if rule.by_word or rule.needs & _OF_WORDS:
        words = tuple(
            replace(
                word,
                threshold=policy.theta,
                # A word with an unknown value is uncertain if it is judged at all.
                uncertain=word.uncertain if word.value is None else word.value > policy.theta,
            )
            for word in judged.words
        )
        return Judgement(words, first_uncertain(words), judged.score)
    words = tuple(replace(word, threshold=policy.theta) for word in judged.words)
    uncertain = judged.score is None or judged.score > policy.theta
    trigger = judged.trigger
    if uncertain and trigger is None:
        probabilities = [word.probability or 0.0 for word in words]
        trigger = probabilities.index(min(probabilities))
    return Judgement(words, trigger if uncertain else None, judged.score)


def _evidence_of(
    draft: RecordedDraft,
    record: AnswerRecord,
    recorded: EffectivePolicy,
    policy: EffectivePolicy,
    needs: frozenset[EvidenceKind],
) -> Evidence:
    """Return the evidence of a draft.

    Raises:
        WrongState: the record lacks some of it.
    """
    judged, tokens = draft.judged, draft.tokens
    units = tuple(Word(word.text, word.start, word.end) for word in judged.words)
    has_text = record.summary.content is RecordContent.FULL
    if policy.granularity is not recorded.granularity:
        if not has_text or tokens is None:
            text = f"granularity {policy.granularity}: the record has no texts or no tokens"
            raise WrongState(f"the record lacks what is needed for {text}")
        units = (
            split_tokens(judged.text, tokens)
            if policy.granularity is Granularity.TOKEN
            else split_words(judged.text)
        )
    if tokens is None:
        if needs - {EvidenceKind.PROBABILITIES, EvidenceKind.CONTRIBUTIONS} - _OF_TEXT or (
            not TRIGGERS[str(policy.trigger)].by_word
        ):
            text = "the record lacks the tokens of its drafts, which the trigger"
            raise WrongState(f"{text} {policy.trigger} needs")
        tokens = _tokens_of_words(judged)
    known: Mapping[str, object] = {}
    if EvidenceKind.CONTRIBUTIONS in needs:
        known = {"contributions": _contributions(judged, policy, len(units))}
    if EvidenceKind.ENTROPY in needs and any(each.entropy is None for each in tokens):
        raise _lacking(policy, frozenset({EvidenceKind.ENTROPY}))
    if EvidenceKind.TOP_TOKENS in needs and any(len(each.top) < 2 for each in tokens):
        raise _lacking(policy, frozenset({EvidenceKind.TOP_TOKENS}))
    if EvidenceKind.WORD_CLASSES in needs:
        words = split_words(judged.text)
        classes = word_classes.word_classes([word.text for word in words])
        known = {
            **known,
            "word_classes": tuple(classes[at] for at in words_containing(units, words)),
        }
    context = DraftContext(
        searched_question(record.request.last_question), judged.text, judged.sentence
    )
    return Evidence(units, tokens, context=context, **known)  # type: ignore[arg-type]


_OF_TEXT = frozenset({EvidenceKind.WORD_CLASSES})


def _contributions(
    judged: SentenceJudged, policy: EffectivePolicy, units: int
) -> tuple[float, ...]:
    if judged.without_contributions:
        return ()
    found = [word.contribution for word in judged.words]
    known = tuple(each for each in found if each is not None)
    if len(known) != units:
        raise _lacking(policy, frozenset({EvidenceKind.CONTRIBUTIONS}))
    return known


def _tokens_of_words(judged: SentenceJudged) -> tuple[Token, ...]:
    """Return a token for each word, which gives the word its recorded probability."""
    return tuple(
        Token(0, word.text, word.start, word.end, _logprob(word.probability))
        for word in judged.words
    )


def _logprob(probability: float | None) -> float | None:
    return math.log(probability) if probability else None
