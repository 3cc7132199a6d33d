"""The labels of the drafts in the answers of a policy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scaar.evaluator.studies.tuning.candidates import Label, Retrieving
from scaar.evaluator.studies.tuning.records import JudgedDraft, Trajectory, TunedQuestion
from scaar.evaluator.studies.tuning.trajectories import Fires, Trajectories


@dataclass(frozen=True, slots=True)
class LabelledDraft:
    """A draft of an answer with its labels.

    ``wrong`` is whether the draft states a wrong fact. ``gain`` is the quality of the answer with a
    retrieval at this sentence minus that without, where all before it is equal and the policy
    decides after it. Either is None if it is unknown.
    """

    question: str
    draft: JudgedDraft
    wrong: bool | None = None
    gain: float | None = None

    def has(self, label: Label) -> bool:
        """Return whether the draft has a label."""
        return self.wrong is True if label is Label.WRONG else (self.gain or 0.0) > 0.0

    @property
    def harmed(self) -> bool:
        """Whether a retrieval makes the answer worse."""
        return (self.gain or 0.0) < 0.0


class Labeller:
    """Labels drafts of answers by the truth of their facts, or by counterfactual answers.

    ``label`` is what makes the acceptance of a draft a loss.
    """

    def __init__(
        self, trajectories: Trajectories, questions: Sequence[TunedQuestion], label: Label
    ) -> None:
        self._trajectories = trajectories
        self._questions: Mapping[str, TunedQuestion] = {each.key: each for each in questions}
        self.label = label

    async def label_drafts(
        self, label: Label, retrieving: Retrieving, fires: Fires, answers: Sequence[Trajectory]
    ) -> list[LabelledDraft]:
        """Return the drafts of a policy's answers whose label is known."""
        if label is Label.BENEFIT:
            return await self._compared(retrieving, fires, answers)
        return [
            LabelledDraft(each.question, draft, draft.wrong)
            for each in answers
            for draft in each.drafts
            if draft.wrong is not None
        ]

    async def accepted(
        self, retrieving: Retrieving, fires: Fires, answers: Sequence[Trajectory]
    ) -> list[bool]:
        """Return for each answer whether a draft with the label was accepted unchecked."""
        found = dict.fromkeys((each.question for each in answers), False)
        for each in await self.label_drafts(self.label, retrieving, fires, answers):
            if each.has(self.label) and not fires(each.draft):
                found[each.question] = True
        return list(found.values())

    async def _compared(
        self, retrieving: Retrieving, fires: Fires, answers: Sequence[Trajectory]
    ) -> list[LabelledDraft]:
        """Compare each answer with the one that decides otherwise at a sentence."""
        drafts = [(each, draft) for each in answers for draft in each.drafts]
        starts = [
            (
                self._questions[each.question],
                (each.plan & ((1 << draft.sentence) - 1)) | (~each.plan & (1 << draft.sentence)),
                draft.sentence,
            )
            for each, draft in drafts
        ]
        others = await self._trajectories.answers_from(retrieving, fires, starts)
        labelled = []
        for (each, draft), other in zip(drafts, others, strict=True):
            retrieved = each.plan >> draft.sentence & 1
            with_it, without = (each, other) if retrieved else (other, each)
            gain = (with_it.quality or 0.0) - (without.quality or 0.0)
            labelled.append(LabelledDraft(each.question, draft, draft.wrong, gain))
        return labelled
