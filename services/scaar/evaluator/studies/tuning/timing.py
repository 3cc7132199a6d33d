"""The time of answers: the cost model of a deployment, and what an answer of a candidate takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.policies.requirements import uses_contributions
from scaar.core.types import PolicyRequest
from scaar.evaluator.execution.progress import RunProgress
from scaar.evaluator.records import Setting
from scaar.evaluator.statistics.cost_model import fit
from scaar.evaluator.statistics.cost_units import SCORED_SENTENCES, SEARCHES
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.tuning.candidates import Candidate
from scaar.evaluator.studies.tuning.drafting import Sample, answer_of
from scaar.evaluator.studies.tuning.records import TimedAnswer, Trajectory, TunedQuestion
from scaar.evaluator.studies.tuning.store import TrajectoryStore

TIMED_QUESTIONS = 24
"""Maximum number of questions that are answered to measure times."""
TIMED_POLICIES = ("no_retrieval", "single_round", "flare")
SCORING_POLICY = "scaar"
"""The policy that is timed too if a candidate uses contributions."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The time of answers as part of an objective.

    ``weight`` is the quality that a second of an answer is worth, and ``times_ms`` the time of each
    unit of usage (:data:`~scaar.evaluator.statistics.cost_units.UNITS`).
    """

    weight: float
    times_ms: Mapping[str, float]

    def seconds(self, candidate: Candidate, answers: Sequence[Trajectory]) -> Floats:
        """Return the time of each answer of a candidate by the cost model."""
        query = candidate.retrieving.query
        scores = uses_contributions(candidate.trigger, query)
        return np.array([self._ms(each, scores=scores) for each in answers]) / 1_000

    def _ms(self, answer: Trajectory, *, scores: bool) -> float:
        usage = answer.usage
        assert usage is not None
        taken = {
            "llm_calls": usage.calls,
            "prompt_tokens": usage.tokens_read,
            "generated_tokens": usage.tokens_written,
            SEARCHES: answer.searches,
            SCORED_SENTENCES: len(answer.drafts) if scores else 0,
        }
        return sum(self.times_ms[name] * count for name, count in taken.items())


async def measure_times(
    samples: Sequence[Sample],
    questions: Sequence[TunedQuestion],
    store: TrajectoryStore,
    progress: RunProgress,
    *,
    scores: bool,
) -> Mapping[str, float]:
    """Return the time of each unit of usage in ms, fitted to timed answers.

    The answers are made one at a time by published policies and stored; those that are stored are
    not made again. ``scores`` is whether a candidate uses contributions.

    Raises:
        ScaarError: an answer failed.
    """
    policies = (*TIMED_POLICIES, SCORING_POLICY) if scores else TIMED_POLICIES
    asked = questions[:: max(1, len(questions) // TIMED_QUESTIONS)][:TIMED_QUESTIONS]
    answers: list[TimedAnswer] = []
    progress.name = "measuring times"
    with progress.watch(len(policies) * len(asked), 0) as count:
        for policy in policies:
            known = {each.question: each for each in store.timed.get(policy, ())}
            for each in asked:
                found = known.get(each.key)
                if found is None:
                    found = await _timed(policy, each, samples[each.sample])
                    await store.add_timed(policy, found)
                answers.append(found)
                count(None)

    def column(name: str) -> Floats:
        if name == SCORED_SENTENCES:
            return np.array([each.scored_sentences for each in answers], dtype=np.float64)
        return np.array([getattr(each.usage, name) for each in answers], dtype=np.float64)

    return fit(column).coefficients


async def _timed(policy: str, question: TunedQuestion, sample: Sample) -> TimedAnswer:
    setting = Setting(policy, PolicyRequest(policy))
    made = await answer_of(setting, question, sample)
    scored = sum(
        any(word.contribution is not None for word in each.words) for each in made.decisions
    )
    return TimedAnswer(question.key, made.usage, scored)
