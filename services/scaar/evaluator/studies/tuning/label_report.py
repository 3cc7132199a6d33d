"""The labels *wrong* and *benefit* side by side, and how well every score separates them.

The drafts are those of the chosen policy's answers. Learned scores are those of parameters that
were fitted without the fold of the draft.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.triggers import learned
from scaar.evaluator.statistics.detection import auroc, entity_draws, estimated
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.tuning.candidates import Candidate, Label
from scaar.evaluator.studies.tuning.labels import LabelledDraft
from scaar.evaluator.studies.tuning.policy import TunedPolicy, value_by
from scaar.evaluator.studies.tuning.procedure import Tuner
from scaar.evaluator.studies.tuning.records import Trajectory
from scaar.evaluator.studies.tuning.selection import clustered_mean

SCORES = {Label.WRONG: "P(wrong)", Label.BENEFIT: "expected benefit"}
"""The names of learned scores by their label."""


@dataclass(frozen=True, slots=True)
class ScoredDraft:
    """A draft with its labels and its scores by name.

    ``entity`` is that of the question, and ``after_right`` whether no accepted sentence before the
    draft states a wrong fact.
    """

    labelled: LabelledDraft
    entity: str
    after_right: bool
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Separation:
    """How often a score is higher for a draft with a label than for one without (AUROC).

    ``wrong_after_right`` is that for wrong drafts among those after right sentences only.
    """

    score: str
    wrong: Estimate
    benefit: Estimate
    wrong_after_right: Estimate


@dataclass(frozen=True, slots=True)
class LabelReport:
    """The drafts of a policy with both labels.

    ``wrong`` is the share of wrong drafts, ``fixed`` the share of those for which a retrieval makes
    the answer better, and ``harmed`` the share of right drafts for which it makes it worse. They
    and the separations of wrong drafts have no value outside the lab. ``better`` and ``worse`` are
    the shares of all drafts for which a retrieval makes the answer better or worse.
    """

    drafts: tuple[ScoredDraft, ...]
    wrong: Estimate
    fixed: Estimate
    harmed: Estimate
    better: Estimate
    worse: Estimate
    separations: tuple[Separation, ...]


async def report_labels(tuner: Tuner, policy: TunedPolicy) -> LabelReport | None:
    """Return the labels of the drafts in a policy's answers; None without learned candidates."""
    retrieving = policy.candidate.retrieving
    candidates = [each for each in tuner.candidates if each.retrieving == retrieving]
    fitted = [each for each in candidates if each.trigger == learned.NAME]
    if not fitted:
        return None
    answers = await tuner.trajectories.answers(retrieving, policy.fires, tuner.questions)
    labelled = await tuner.labeller.label_drafts(Label.BENEFIT, retrieving, policy.fires, answers)
    places = {each.key: each for each in tuner.questions}
    by_question = {each.question: each for each in answers}
    own = {each.trigger for each in candidates if each.trigger != learned.NAME}
    values = {fold: await _learned_by_fold(tuner, fitted, fold) for fold in tuner.folds}
    drafts = []
    for each in labelled:
        question = places[each.question]
        scores = {name: value_by(name)(each.draft) for name in sorted(own)}
        scores |= {name: value(each.draft) for name, value in values[question.fold].items()}
        after_right = _after_right(by_question[each.question], each.draft.sentence)
        drafts.append(ScoredDraft(each, question.entity, after_right, scores))
    return _report(drafts)


async def _learned_by_fold(
    tuner: Tuner, candidates: Sequence[Candidate], fold: int
) -> Mapping[str, Callable[..., float]]:
    """Return the learned scores that were fitted without a fold, by name."""
    found = {}
    for each in candidates:
        policy = await tuner.tuned(each, tuner.folds - {fold})
        if policy is not None and each.label is not None:
            found[SCORES[each.label]] = value_by(each.trigger, policy.learned)
    return found


def _after_right(answer: Trajectory, sentence: int) -> bool:
    return not any(each.accepted_wrong for each in answer.drafts if each.sentence < sentence)


def _report(drafts: Sequence[ScoredDraft]) -> LabelReport:
    truths = [each for each in drafts if each.labelled.wrong is not None]
    wrong = [each for each in truths if each.labelled.wrong]
    right = [each for each in truths if not each.labelled.wrong]
    # A score that was not fitted for every fold has no value for some drafts.
    names = (
        [name for name in drafts[0].scores if all(name in each.scores for each in drafts)]
        if drafts
        else []
    )
    return LabelReport(
        tuple(drafts),
        wrong=_share(truths, lambda each: each.labelled.wrong is True),
        fixed=_share(wrong, _is_better),
        harmed=_share(right, lambda each: each.labelled.harmed),
        better=_share(drafts, _is_better),
        worse=_share(drafts, lambda each: each.labelled.harmed),
        separations=tuple(
            Separation(
                name,
                _separation(name, truths, Label.WRONG),
                _separation(name, drafts, Label.BENEFIT),
                _separation(name, [each for each in truths if each.after_right], Label.WRONG),
            )
            for name in names
        ),
    )


def _is_better(draft: ScoredDraft) -> bool:
    return draft.labelled.has(Label.BENEFIT)


def _share(drafts: Sequence[ScoredDraft], flag: Callable[[ScoredDraft], bool]) -> Estimate:
    if not drafts:
        return Estimate(None)
    flags: Floats = np.array([flag(each) for each in drafts], dtype=np.float64)
    return clustered_mean(flags, [each.entity for each in drafts])


def _separation(name: str, drafts: Sequence[ScoredDraft], label: Label) -> Estimate:
    if not drafts:
        return Estimate(None)
    truths = np.array([each.labelled.has(label) for each in drafts])
    scores = np.array([each.scores[name] for each in drafts])
    return estimated(auroc, scores, truths, entity_draws([each.entity for each in drafts], truths))
