"""Questions that a model has answered without retrieval and with one retrieval.

They come from a finished evaluation of ``no_retrieval`` and ``single_round``, or from a file of
questions whose records contain both answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scaar.core.defaults.text_kinds import default_encoder, encoder_advice, kind_of_name
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.plurals import counted
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.core.policies.single_round import SINGLE_ROUND
from scaar.core.types import Usage
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.datasets.kind import DatasetKind
from scaar.evaluator.datasets.reader import records_of
from scaar.evaluator.datasets.records import Record
from scaar.evaluator.datasets.sample import draw_questions
from scaar.evaluator.records import Prediction, Question, Score
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import measured_in, score_of
from scaar.evaluator.store.folder import read_results

CORRECT, QUALITY = "exact_match", "f1"
"""The measure by which questions are labelled, and the one by which answers are compared."""
FIELDS = ("no_retrieval", "one_retrieval", "cot_no_retrieval")
"""The fields of a record after the prefix: both answers, and the optional chain of thought."""

_NOTHING = Usage(0, 0, 0, 0, 0.0)


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with the scores of its answers without retrieval and with one.

    ``answer`` and ``thoughts`` are the short answer and the chain of thought that the model wrote
    without passages; ``thoughts`` is empty if it is unknown.
    """

    dataset: str
    question: Question
    without: Mapping[str, float]
    retrieved: Mapping[str, float]
    answer: str
    thoughts: str = ""

    @property
    def wrong(self) -> bool:
        """Whether the answer without retrieval is wrong."""
        return self.without[CORRECT] < 1

    @property
    def benefit(self) -> int:
        """1 if retrieval makes a wrong answer right, -1 if it makes a right one wrong, else 0."""
        return int(self.retrieved[CORRECT] >= 1) - int(not self.wrong)


def read_answered(sources: Sequence[str], prefix: str = "") -> tuple[AnsweredQuestion, ...]:
    """Return the questions of sources: each the folder of an evaluation, or ``NAME:FILE``.

    ``prefix`` and an underscore begin the names of the answers' fields in a file, :data:`FIELDS`.

    Raises:
        InvalidRequest: an answer is missing, a source cannot be read, or there is a prefix and no
            file; names what is wrong.
        NotFound: a folder contains no evaluation.
    """
    file = next((each for each in sources if ":" in each), None)
    if file and not prefix:
        raise InvalidRequest.of("--answers", f"is required for {file}: the prefix of its fields")
    if prefix and not file:
        text = "has no effect on folders of evaluations: it needs a source NAME:FILE"
        raise InvalidRequest.of("--answers", text)
    return tuple(each for source in sources for each in _of_source(source, prefix))


def default_encoder_of(answered: Sequence[AnsweredQuestion]) -> Path:
    """Return the folder of the default encoder for questions.

    Raises:
        CapabilityMissing: none is installed, or a question is of the lab.
    """
    kind = next(filter(None, (kind_of_name(each.dataset) for each in answered)), "")
    folder = default_encoder(kind)
    if folder is None:
        text = f"the vectors of questions need an encoder: {encoder_advice(kind, '--encoder')}"
        raise CapabilityMissing(text)
    return folder


def _of_source(source: str, prefix: str) -> tuple[AnsweredQuestion, ...]:
    name, colon, path = source.partition(":")
    return _of_file(name, path, prefix) if colon else _of_results(read_results(Path(source)))


def _of_results(results: Results) -> tuple[AnsweredQuestion, ...]:
    settings, scores = baseline_labels(results), scored_by_setting(results)
    answers = {
        each.question_id: each.answer for each in results.predictions if each.setting == settings[0]
    }
    found = []
    for question in results.questions:
        without, retrieved = (scores[each][question.id] for each in settings)
        if not without.failed and not retrieved.failed:
            name, answer = results.evaluation.dataset.name, answers[question.id]
            found.append(AnsweredQuestion(name, question, without.values, retrieved.values, answer))
    return tuple(found)


def baseline_labels(results: Results) -> tuple[str, str]:
    """Return the labels of the settings of no retrieval and of one retrieval without a gate.

    Raises:
        InvalidRequest: there is not one of each.
    """
    without, retrieved = (
        label_without_gate(results, name) for name in (NO_RETRIEVAL.name, SINGLE_ROUND.name)
    )
    return without, retrieved


def label_without_gate(results: Results, policy: str, source: str = "SOURCE") -> str:
    """Return the label of the setting of a policy without a gate.

    Raises:
        InvalidRequest: there is not one; ``source`` names the evaluation in the error.
    """
    labels = [
        each.label
        for each in results.evaluation.settings
        if each.policy.name == policy and each.policy.overrides.gate is None
    ]
    if len(labels) != 1:
        text = f"must have one setting of {policy} without a gate, not {len(labels)}"
        raise InvalidRequest.of(source, text)
    return labels[0]


def scored_by_setting(results: Results) -> Mapping[str, Mapping[str, Score]]:
    """Return the scores of an evaluation by setting and question, in both measures.

    Raises:
        InvalidRequest: the evaluation is not finished.
    """
    if results.missing:
        text = f"lacks {counted(results.missing, 'prediction')}: finish the evaluation first"
        raise InvalidRequest.of("SOURCE", text)
    kind = _measured(kind_of(results.evaluation.dataset.name))
    questions = {each.id: each for each in results.questions}
    scores: dict[str, dict[str, Score]] = {}
    for each in results.predictions:
        score = score_of(questions[each.question_id], each, kind)
        scores.setdefault(each.setting, {})[each.question_id] = score
    return scores


def _measured(kind: DatasetKind) -> DatasetKind:
    return measured_in(measured_in(kind, CORRECT), QUALITY)


def _of_file(name: str, path: str, prefix: str) -> tuple[AnsweredQuestion, ...]:
    drawn = draw_questions(name, path, limit=None, seed=None)
    kind = _measured(drawn.kind)
    records = {each.identity("id"): each for each in records_of(Path(path))}
    without, retrieved, thoughts = (f"{prefix}_{each}" for each in FIELDS)
    found = []
    for question in drawn.questions:
        record = records[question.id]
        scored = _scored(record, question, kind)
        found.append(
            AnsweredQuestion(
                name,
                question,
                scored(without),
                scored(retrieved),
                record.text(without),
                record.label(thoughts),
            )
        )
    return tuple(found)


def _scored(
    record: Record, question: Question, kind: DatasetKind
) -> Callable[[str], Mapping[str, float]]:
    """Return the function that scores the answer in a field."""

    def scores(field: str) -> Mapping[str, float]:
        answer = record.text(field)
        return score_of(
            question, Prediction("", question.id, answer, answer, _NOTHING), kind
        ).values

    return scores
