"""The labels of the drafts in the answers of a policy."""

from collections.abc import Mapping, Sequence

from scaar.evaluator.studies.tuning.candidates import Retrieving
from scaar.evaluator.studies.tuning.records import JudgedDraft, Trajectory, TunedQuestion
from scaar.evaluator.studies.tuning.trajectories import Fires, Trajectories

Labelled = tuple[JudgedDraft, bool]
"""A draft, and whether it has the label."""


def wrong_drafts(answers: Sequence[Trajectory]) -> list[Labelled]:
    """Return the drafts whose truth is known, with whether they are wrong."""
    return [
        (draft, draft.wrong) for each in answers for draft in each.drafts if draft.wrong is not None
    ]


async def beneficial_drafts(
    trajectories: Trajectories,
    retrieving: Retrieving,
    fires: Fires,
    questions: Mapping[str, TunedQuestion],
    answers: Sequence[Trajectory],
) -> list[Labelled]:
    """Return the drafts of a policy's answers, with whether a retrieval there is a benefit.

    It is one if the answer is better with the retrieval than without, with the same text before
    the sentence and the policy deciding after it.
    """
    drafts = [(each, draft) for each in answers for draft in each.drafts]
    flipped = await trajectories.answers_from(
        retrieving,
        fires,
        [
            (
                questions[each.question],
                (each.plan & ((1 << draft.sentence) - 1)) | ((~each.plan) & (1 << draft.sentence)),
                draft.sentence,
            )
            for each, draft in drafts
        ],
    )
    labelled = []
    for (each, draft), other in zip(drafts, flipped, strict=True):
        retrieved = each.plan >> draft.sentence & 1
        with_, without = (each, other) if retrieved else (other, each)
        labelled.append((draft, (with_.quality or 0.0) > (without.quality or 0.0)))
    return labelled
