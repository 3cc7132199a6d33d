"""The answers of policies over the trajectories that are known, and those made on demand."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from scaar.evaluator.studies.tuning.candidates import Retrieving
from scaar.evaluator.studies.tuning.drafting import PlannedAnswer
from scaar.evaluator.studies.tuning.records import JudgedDraft, Trajectory, TunedQuestion

Fires = Callable[[JudgedDraft], bool]
"""Whether a trigger fires for a draft."""
Draft = Callable[[Sequence[PlannedAnswer]], Awaitable[Sequence[Trajectory]]]
"""Makes answers."""


@dataclass(slots=True)
class _Walk:
    """An answer of a policy as far as it is known: the retrievals so far, the last of them."""

    question: TunedQuestion
    plan: int
    last: int


class Trajectories:
    """The known trajectories; missing ones are made when a policy needs them."""

    def __init__(self, draft: Draft, known: Sequence[Trajectory] = ()) -> None:
        self._draft = draft
        self._known: defaultdict[tuple[str, str], dict[int, Trajectory]] = defaultdict(dict)
        self._without: dict[str, Trajectory] = {}
        for each in known:
            self._add(each)

    async def answers(
        self, retrieving: Retrieving, fires: Fires, questions: Sequence[TunedQuestion]
    ) -> list[Trajectory]:
        """Return the answer to each question by the policy that retrieves where ``fires`` says."""
        return await self._finish(
            retrieving, fires, questions, [_Walk(each, 0, -1) for each in questions]
        )

    async def differing(
        self,
        retrieving: Retrieving,
        fires: Fires,
        questions: Sequence[TunedQuestion],
        searches: Sequence[int],
    ) -> int:
        """Return the number of questions whose answers have other searches than the given ones."""
        answers = await self.answers(retrieving, fires, questions)
        pairs = zip(answers, searches, strict=True)
        return sum(each.searches != given for each, given in pairs)

    async def answers_from(
        self,
        retrieving: Retrieving,
        fires: Fires,
        starts: Sequence[tuple[TunedQuestion, int, int]],
    ) -> list[Trajectory]:
        """Return the answers that start with given decisions up to a sentence.

        Each start has the question, the plan up to the sentence, and its number.
        """
        questions = [question for question, _, _ in starts]
        return await self._finish(retrieving, fires, questions, [_Walk(*each) for each in starts])

    async def _finish(
        self,
        retrieving: Retrieving,
        fires: Fires,
        questions: Sequence[TunedQuestion],
        walks: Sequence[_Walk],
    ) -> list[Trajectory]:
        found: list[Trajectory | None] = [None] * len(walks)
        open_ = list(range(len(walks)))
        while open_:
            for at in open_:
                found[at] = self._advance(retrieving, fires, walks[at])
            open_ = [at for at in open_ if found[at] is None]
            missing = {
                (walks[at].question.key, walks[at].plan): PlannedAnswer(
                    walks[at].question, retrieving, walks[at].plan
                )
                for at in open_
            }
            if missing:
                for each in await self._draft(tuple(missing.values())):
                    self._add(each)
        return [each for each in found if each is not None]

    def _advance(self, retrieving: Retrieving, fires: Fires, walk: _Walk) -> Trajectory | None:
        """Walk on while the answers are known; return the final one."""
        known = self._known[retrieving.label, walk.question.key]
        while True:
            found = known.get(walk.plan) if walk.plan else self._without.get(walk.question.key)
            if found is None:
                return None
            for each in found.drafts:
                if each.sentence > walk.last and fires(each):
                    walk.plan |= 1 << each.sentence
                    walk.last = each.sentence
                    break
            else:
                return found

    def _add(self, each: Trajectory) -> None:
        if each.plan:
            self._known[each.retrieving, each.question][each.plan] = each
        else:
            # Without a retrieval, the answer is the same for every way of retrieving.
            self._without[each.question] = each
