"""Nested cross-validation of gates on made questions."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from scaar.evaluator.statistics.detection import auroc
from scaar.evaluator.studies.gates.candidates import Gate, gates_of
from scaar.evaluator.studies.gates.choices import choices_of
from scaar.evaluator.studies.gates.learners import Skr
from scaar.evaluator.studies.gates.outcomes import mean_auroc
from scaar.evaluator.studies.gates.sample import GateSample, sample_of
from scaar.evaluator.studies.gates.target import Target
from scaar.evaluator.studies.gates.validation import Trained, cross_validated, transferred
from tests.unit.evaluator.gates.made import WORDS, answered, sample_questions, vectors


@dataclass
class Witness:
    """A learner that records what it is fitted to and judges."""

    seen: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    def fits(self, target: Target) -> Iterator["Witness"]:
        yield self

    def scores(self, sample: GateSample, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        self.seen.append((train, test))
        return np.zeros(len(test))


@pytest.fixture(scope="module")
def sample() -> GateSample:
    return sample_of(sample_questions(150))


def test_no_cluster_is_on_both_sides_of_a_fit_and_every_question_is_judged() -> None:
    questions = [
        answered(at, ("known", "obscure", "misleading")[at % 3], supports=(f"p{at // 2}",))
        for at in range(150)
    ]
    sample, witness = sample_of(questions), Witness()
    judged = cross_validated(sample, [Gate("witness", (Target.WRONG,), witness)], repeats=2)
    assert judged.scores[Trained("witness", Target.WRONG)].shape == (2, 150)
    assert len({each.entity for each in sample.questions}) == 75
    for train, test in witness.seen:
        of_train, of_test = (
            {sample.questions[at].entity for at in positions} for positions in (train, test)
        )
        assert of_train.isdisjoint(of_test)
    # Every outer fit comes after its three inner ones, and judges the questions left to it.
    outer = np.concatenate([test for _, test in witness.seen[3::4]])
    assert sorted(outer) == sorted([*range(150)] * 2)


def test_gates_find_what_the_words_say(sample: GateSample) -> None:
    gates = gates_of(sample, vectors(sample.answered), WORDS)
    judged = cross_validated(sample, gates, repeats=1)
    for name in ("adaptive_rag", "sentence_vector", "combination", "chain_of_thought"):
        scores = judged.scores[Trained(name, Target.WRONG)]
        found = mean_auroc(choices_of(judged, scores).ranks, sample.wrong > 0)
        assert found > 0.95, name
    changed = sample.benefit != 0
    for name in ("skr", "sentence_vector", "combination_and_chain"):
        scores = judged.scores[Trained(name, Target.BENEFIT)]
        found = mean_auroc(choices_of(judged, scores).ranks[changed], sample.benefit[changed] > 0)
        assert found > 0.95, name


def test_gates_find_nothing_where_there_is_nothing() -> None:
    sample = sample_of(sample_questions(240, noisy=True))
    judged = cross_validated(sample, gates_of(sample, vectors(sample.answered), WORDS), repeats=2)
    for trained, scores in judged.scores.items():
        truths = trained.target.values(sample) > 0
        found = mean_auroc(choices_of(judged, scores).ranks, truths)
        assert 0.38 < found < 0.62, trained


def test_gates_of_one_set_judge_the_other_set_alone() -> None:
    sample = sample_of([*sample_questions(120), *sample_questions(90, dataset="other", seed=5)])
    train, test = sample.of("made"), sample.of("other")
    gates = gates_of(sample, vectors(sample.answered), WORDS)
    judged = transferred(sample, gates, train, test, repeats=2)
    scores = judged.scores[Trained("sentence_vector", Target.WRONG)]
    assert scores.shape == (2, 90)
    assert auroc(scores[0], sample.wrong[test] > 0) == 1


def test_the_score_of_skr_is_its_vote_less_its_threshold(sample: GateSample) -> None:
    encoded = vectors(sample.answered).astype(np.float64)
    train, test = np.arange(0, 100), np.arange(100, 150)
    scores = Skr(encoded, 5).scores(sample, train, test)
    for at, score in zip(test, scores, strict=True):
        kind = sample.answered[at].question.question.split()[3]
        if kind != "known":
            # All five neighbours are of the same kind.
            assert (score >= 0) == (kind == "obscure")
