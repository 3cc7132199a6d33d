"""Answers of a simulated model, whose drafts have known surprisals and truths."""

from collections.abc import Sequence
from random import Random

from scaar.core.types import ExcludeSeen
from scaar.evaluator.records import Question
from scaar.evaluator.studies.tuning.candidates import Candidate, Label, Retrieving
from scaar.evaluator.studies.tuning.drafting import PlannedAnswer
from scaar.evaluator.studies.tuning.folds import fold_of
from scaar.evaluator.studies.tuning.records import (
    JudgedDraft,
    ModelUsage,
    Trajectory,
    TunedQuestion,
)
from scaar.evaluator.studies.tuning.trajectories import Trajectories

SENTENCES = 3
WAY = Retrieving("current_sentence", 0.8, ExcludeSeen.NONE, 1)
POOR_WAY = Retrieving("span_masked", 0.8, ExcludeSeen.NONE, 1)
"""A way of retrieving that never corrects a draft."""
SUM = Candidate("surprisal_sum", WAY)
LEARNED = Candidate("learned", WAY, Label.WRONG)
BENEFIT = Candidate("learned", WAY, Label.BENEFIT)


def question(number: int, entity: str) -> TunedQuestion:
    """A question about an entity."""
    name = f"q{number}"
    return TunedQuestion(name, 0, Question(name, "Who?", ("X",), entity), entity, fold_of(entity))


def questions(count: int, *, per_entity: int = 2) -> tuple[TunedQuestion, ...]:
    """Questions about entities of which each has some."""
    return tuple(question(number, f"film {number // per_entity}") for number in range(count))


class SimulatedModel:
    """A model whose wrong drafts have higher surprisals on average.

    A retrieval corrects a wrong draft, and an answer is right if all of its sentences are. An error
    that stands makes the later drafts of the answer wrong.
    """

    def __init__(self, *, seed: int = 0, separation: float = 2.0) -> None:
        self._seed = seed
        self._separation = separation
        self.made = 0

    def answer(self, work: PlannedAnswer) -> Trajectory:
        """Return an answer; the same for the same question and plan."""
        drafts, astray = [], False
        for sentence in range(SENTENCES):
            chance = Random(f"{self._seed} {work.question.key} {sentence} {astray}")
            wrong = astray or chance.random() < 0.4
            total = abs(chance.gauss(self._separation if wrong else 0.0, 1.0)) + 0.01
            signals = {"surprisal_sum": total, "words": chance.random()}
            corrected = work.plan >> sentence & 1 and work.retrieving != POOR_WAY
            astray = astray or (wrong and not corrected)
            accepted_wrong = wrong and not corrected
            drafts.append(
                JudgedDraft(sentence, {"surprisal_sum": total}, signals, wrong, accepted_wrong)
            )
        return Trajectory(
            question=work.question.key,
            retrieving=work.retrieving.label if work.plan else "",
            plan=work.plan,
            quality=0.0 if astray else 1.0,
            searches=work.plan.bit_count(),
            drafts=tuple(drafts),
            usage=ModelUsage(
                calls=1 + work.plan.bit_count(),
                tokens_read=100 * work.retrieving.top_k * work.plan.bit_count(),
                tokens_written=30,
            ),
        )

    async def draft(self, work: Sequence[PlannedAnswer]) -> Sequence[Trajectory]:
        """Make answers."""
        self.made += len(work)
        return [self.answer(each) for each in work]

    def trajectories(self) -> Trajectories:
        """Return the trajectories of the model."""
        return Trajectories(self.draft)
