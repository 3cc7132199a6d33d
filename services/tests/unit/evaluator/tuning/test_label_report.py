from scaar.core.triggers.learned import learned_value
from scaar.evaluator.execution.progress import NoProgress
from scaar.evaluator.studies.tuning.candidates import Candidate, Label
from scaar.evaluator.studies.tuning.control import choose_policy
from scaar.evaluator.studies.tuning.label_report import LabelReport, report_labels
from scaar.evaluator.studies.tuning.labels import Labeller
from scaar.evaluator.studies.tuning.objectives import SearchBudget
from scaar.evaluator.studies.tuning.procedure import Tuner
from scaar.evaluator.studies.tuning.target import Target

from .simulated import BENEFIT, LEARNED, SUM, SimulatedModel, questions

ASKED = questions(120)


async def report(*candidates: Candidate) -> LabelReport | None:
    found = await choose_policy(
        *(SimulatedModel().trajectories(), ASKED, candidates, Label.WRONG),
        *(Target(budget=1.2), NoProgress()),
    )
    return found.labels


async def test_both_labels_of_every_draft_are_reported_side_by_side() -> None:
    found = await report(SUM, LEARNED, BENEFIT)
    assert found is not None
    drafts = [each.labelled for each in found.drafts]
    assert len(drafts) == 3 * len(ASKED)
    assert found.wrong.value == sum(each.wrong is True for each in drafts) / len(drafts)
    # A retrieval for a right draft changes nothing, and can only help a wrong one.
    assert found.harmed.value == 0.0
    assert all(each.wrong for each in drafts if each.gain)
    names = [each.score for each in found.separations]
    assert names == ["surprisal_sum", "P(wrong)", "expected benefit"]
    for each in found.separations:
        assert each.wrong.value is not None
        assert each.wrong.value > 0.7
        assert each.benefit.value is not None
        assert each.benefit.value > 0.6
    # After an error, every draft is wrong; drafts after right sentences are a mixture.
    after = [each for each in found.drafts if each.after_right]
    assert 0 < len(after) < len(drafts)
    assert all(each.labelled.wrong for each in found.drafts if not each.after_right)


async def test_learned_scores_are_those_of_a_fit_without_the_fold_of_the_draft() -> None:
    trajectories = SimulatedModel().trajectories()
    labeller = Labeller(trajectories, ASKED, Label.WRONG)
    tuner = Tuner(
        *(trajectories, ASKED, (SUM, LEARNED)), objective=SearchBudget(1.2), labeller=labeller
    )
    policy = await tuner.tuned(SUM, tuner.folds)
    assert policy is not None
    found = await report_labels(tuner, policy)
    assert found is not None
    folds = {each.key: each.fold for each in ASKED}
    for each in found.drafts:
        own = await tuner.tuned(LEARNED, tuner.folds - {folds[each.labelled.question]})
        assert own is not None
        assert own.learned is not None
        expected = learned_value(own.learned, each.labelled.draft.signals)
        assert each.scores["P(wrong)"] == expected


async def test_without_a_learned_candidate_there_are_no_labels_to_compare() -> None:
    assert await report(SUM) is None
