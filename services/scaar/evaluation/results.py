"""The results of an evaluation, of a folder or of an evaluator."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scaar.core.errors import CapabilityMissing, InvalidRequest, ScaarError
from scaar.core.evaluations import EvaluationPrediction, EvaluationQuestion
from scaar.core.plurals import are, counted
from scaar.core.types import AnswerEvent, PolicyRequest, Usage
from scaar.core.value_types import wrong_path
from scaar.evaluation.evaluator import open_evaluations
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.prediction_view import describe_prediction, describe_question, with_details
from scaar.evaluator.records import Prediction, Question, Score, Setting
from scaar.evaluator.replay import events_of
from scaar.evaluator.results import Results as StoredResults
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.store.folder import read_results

if TYPE_CHECKING:
    import pandas

    from scaar.evaluator.statistics.table import ScoreTable

REPORT_HEIGHT_PX = 900
"""Height of a report in a notebook, in CSS pixels."""

_USAGE = tuple(each.name for each in fields(Usage))


@dataclass(frozen=True, slots=True)
class Difference:
    """The paired difference of a measure between two settings: the second minus the first.

    ``low`` and ``high`` are its 95% interval, by a bootstrap over the entities of the questions,
    and ``p`` is two-sided. The three are None if the interval is undefined.
    """

    measure: str
    first: str
    second: str
    value: float
    low: float | None
    high: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class SettingSummary:
    """The means of a setting per question: every measure, and the usage, by name.

    ``low`` and ``high`` are the 95% interval of the main ``measure``; None if it is undefined.
    """

    setting: str
    measure: str
    means: Mapping[str, float]
    low: float | None
    high: float | None


class Results:
    """The predictions of an evaluation and their scores.

    ``settings`` are the labels of the settings, such as ``scaar:theta=0.3``; ``predictions`` are in
    the order of the plan, by question and then by setting. Use :func:`~scaar.evaluation.evaluate`
    or :meth:`load` to get results.
    """

    def __init__(
        self,
        *,
        settings: Sequence[str],
        questions: Sequence[EvaluationQuestion],
        predictions: Sequence[EvaluationPrediction],
        planned: int,
        seed: int,
        source: "_Source",
    ) -> None:
        self.settings = tuple(settings)
        self.questions = tuple(questions)
        self.predictions = tuple(predictions)
        self._planned = planned
        self._seed = seed
        self._source = source

    @classmethod
    def load(cls, folder: Path | str) -> "Results":
        """Return the results in a folder of ``scaar eval run`` or of :func:`evaluate`.

        Warns if the evaluation is not complete; see :attr:`missing`.

        Raises:
            InvalidRequest: it is not a path.
            NotFound: the folder contains no evaluation.
            DataCorrupt: names the damaged file and line.
        """
        if wrong := list(wrong_path(folder, "folder")):
            raise InvalidRequest(wrong)
        results = of_stored(read_results(Path(folder)))
        if results.missing:
            warnings.warn(f"{folder}: {results._incomplete()}", stacklevel=2)
        return results

    @property
    def missing(self) -> int:
        """The number of predictions that are not made yet. Means and differences count them as 0.

        :meth:`frame` has no rows of them.
        """
        return self._planned - len(self.predictions)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures of the data set."""
        found = (tuple(name for name, _ in each.scores) for each in self.predictions)
        return next((names for names in found if names), ())

    @cached_property
    def report_html(self) -> str:
        """The report with its tables and figures, as a whole HTML document.

        Raises:
            WrongState: the evaluation of an evaluator has not succeeded.
        """
        return self._source.report()

    def frame(self) -> "pandas.DataFrame":
        """Return a row for each prediction: question, answers, scores, usage and labels.

        Raises:
            CapabilityMissing: pandas is not installed.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            text = "a data frame needs pandas: install scaar[notebook]"
            raise CapabilityMissing(text) from error
        return pandas.DataFrame(self.rows())

    def records(self) -> Iterable[Prediction]:
        """Return the predictions of a folder with all their stored fields.

        Raises:
            InvalidRequest: the results are those of an evaluator, which has no such records.
        """
        return self._source.records()

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of :meth:`frame` as dictionaries, all with the same columns.

        A label with the name of another column is in the column ``label_NAME``. A label that a
        question lacks is None.
        """
        questions, measures = {each.id: each for each in self.questions}, self.measures
        rows = [_row(each, questions[each.question_id], measures) for each in self.predictions]
        columns = _label_columns(self.questions, rows[0] if rows else ())
        for row in rows:
            labels = dict(questions[row["question_id"]].labels)
            row |= {column: labels.get(name) for name, column in columns.items()}
        return rows

    def summaries(self) -> list[SettingSummary]:
        """Return the means of every setting, with the 95% interval of the main measure."""
        # Only summaries load numpy.
        from scaar.evaluator.scoring.summary import main_measure, summaries

        table = self._table(self.settings)
        measure = main_measure(table)
        return [
            SettingSummary(each.setting, measure, each.means, each.main.low, each.main.high)
            for each in summaries(table, seed=self._seed)
        ]

    def detailed(self) -> Iterator[EvaluationPrediction]:
        """Yield every prediction with its question and the events of its answer."""
        yield from self._source.detailed()

    def compare(self, first: str, second: str, *, measure: str | None = None) -> Difference:
        """Return the paired difference of a measure between two settings, second minus first.

        The default measure is F1, or the first one of a data set without F1.

        Raises:
            InvalidRequest: a setting or the measure is unknown; lists the known ones.
            ScaarError: there are no predictions yet.
        """
        # Only comparisons load numpy.
        from scaar.evaluator.statistics.estimate import difference
        from scaar.evaluator.statistics.means import resampled_means

        if not self.predictions:
            raise ScaarError("there are no predictions yet")
        if measure is None:
            measure = "f1" if "f1" in self.measures else self.measures[0]
        for field, name, known in (
            ("first", first, self.settings),
            ("second", second, self.settings),
            ("measure", measure, self.measures),
        ):
            if name not in known:
                raise InvalidRequest.of(field, f"must be one of {', '.join(known)}, not {name!r}")
        if first == second:
            raise InvalidRequest.of("second", "must be another setting than the first")
        table = self._table((first, second))
        means = resampled_means(table, seed=self._seed).of(measure)
        found = difference(means[:, 1] - means[:, 0])
        assert found.value is not None
        return Difference(measure, first, second, found.value, found.low, found.high, found.p)

    def decisions(self, question_id: str, setting: str | None = None) -> tuple[AnswerEvent, ...]:
        """Return every decision of an answer, as the events of an answerer.

        ``setting`` can be left out if there is only one.

        Raises:
            InvalidRequest: there is no prediction of the setting for the question.
            ScaarError: the answer failed.
        """
        if setting is None:
            if len(self.settings) > 1:
                raise InvalidRequest.of("setting", f"is required: {', '.join(self.settings)}")
            (setting,) = self.settings
        for each in self.predictions:
            if (each.setting, each.question_id) == (setting, question_id):
                if each.failure is not None:
                    raise ScaarError(f"the answer failed: {each.failure.message}")
                return tuple(self._source.events(setting, question_id))
        text = f"there is no prediction of {setting!r} for {question_id!r}"
        raise InvalidRequest.of("question_id", text)

    def _table(self, settings: Sequence[str]) -> "ScoreTable":
        """The scores of settings."""
        from scaar.evaluator.statistics.table import TableBuilder

        questions = [
            Question(each.id, each.question, each.answers, each.entity or each.id)
            for each in self.questions
        ]
        policies = [PolicyRequest(each.partition(":")[0]) for each in settings]
        builder = TableBuilder(questions, list(map(Setting, settings, policies)))
        for prediction in self.predictions:
            if prediction.setting in settings:
                builder.add_score(_score(prediction))
        return builder.build()

    def _incomplete(self) -> str:
        count = f"{counted(self.missing, 'prediction')} {are(self.missing)} missing"
        return f"{count}, counted as 0: the evaluation is not complete"

    def _repr_html_(self) -> str:
        """Show the report in a notebook, apart from the notebook's own styles."""
        style = f"width:100%;height:{REPORT_HEIGHT_PX}px;border:0"
        notice = f"<p>{self._incomplete()}</p>" if self.missing else ""
        return f'{notice}<iframe srcdoc="{escape(self.report_html)}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        counts = ", ".join(
            (
                counted(len(self.questions), "question"),
                counted(len(self.predictions), "prediction"),
            )
        )
        if self.missing:
            counts += f", {self.missing} missing"
        return f"<Results of {', '.join(self.settings)}: {counts}>"


def _row(
    prediction: EvaluationPrediction, question: EvaluationQuestion, measures: Sequence[str]
) -> dict[str, Any]:
    """The row of a prediction, without the labels of its question."""
    scores = dict(prediction.scores)
    return {
        "setting": prediction.setting,
        "question_id": prediction.question_id,
        "question": question.question,
        "accepted_answers": question.answers,
        "answer": prediction.answer,
        **{name: scores.get(name) for name in measures},
        **{name: getattr(prediction.usage, name) for name in _USAGE},
        "failure": prediction.failure.reason if prediction.failure else None,
    }


def _label_columns(
    questions: Iterable[EvaluationQuestion], others: Iterable[str]
) -> dict[str, str]:
    """The column of each label, under a name that no other column has."""
    names = dict.fromkeys(name for each in questions for name, _ in each.labels)
    taken = set(others)
    columns = {}
    for name in names:
        column = name
        while column in taken or (column != name and column in names):
            column = f"label_{column}"
        columns[name] = column
        taken.add(column)
    return columns


def _score(prediction: EvaluationPrediction) -> Score:
    failed = prediction.failure is not None
    values = dict(prediction.scores)
    return Score(
        prediction.setting, prediction.question_id, values, prediction.usage, failed=failed
    )


class _Source(Protocol):
    """Where the parts of results are that are read on demand. Sources can be pickled."""

    def report(self) -> str:
        """Return the report as HTML."""
        ...

    def events(self, setting: str, question_id: str) -> Sequence[AnswerEvent]:
        """Return the events of the answer of a setting to a question."""
        ...

    def detailed(self) -> Iterable[EvaluationPrediction]:
        """Return the predictions with their questions and events."""
        ...

    def records(self) -> Iterable[Prediction]:
        """Return the predictions with all their stored fields."""
        ...


@dataclass(frozen=True, slots=True)
class _Stored:
    """The evaluation in a folder, which has been read."""

    stored: StoredResults

    def report(self) -> str:
        from scaar.evaluator.report.builder import ReportBuilder
        from scaar.evaluator.report.html import to_html

        builder = ReportBuilder(self.stored.evaluation, self.stored.questions)
        for score in scores_of(self.stored):
            builder.add_score(score)
        for prediction in self.stored.predictions:
            builder.add_prediction(prediction)
        return to_html(builder.build()[0])

    def events(self, setting: str, question_id: str) -> Sequence[AnswerEvent]:
        (prediction,) = (
            each
            for each in self.stored.predictions
            if (each.setting, each.question_id) == (setting, question_id)
        )
        return tuple(events_of(prediction, self.stored.evaluation.provenance[setting]))

    def detailed(self) -> Iterator[EvaluationPrediction]:
        provenance = self.stored.evaluation.provenance
        for each, prediction, question in self.described():
            yield with_details(each, prediction, question, provenance[each.setting])

    def records(self) -> Iterable[Prediction]:
        return self.stored.predictions

    def described(self) -> Iterator[tuple[EvaluationPrediction, Prediction, Question]]:
        kind = kind_of(self.stored.evaluation.dataset.name)
        questions = {each.id: each for each in self.stored.questions}
        for each in self.stored.predictions:
            question = questions[each.question_id]
            yield describe_prediction(each, question, kind), each, question


@dataclass(frozen=True, slots=True)
class _Hosted:
    """An evaluation of the evaluator at a target."""

    target: str
    evaluation_id: str

    def report(self) -> str:
        with open_evaluations(self.target) as client:
            return client.report(self.evaluation_id, "html")

    def events(self, setting: str, question_id: str) -> Sequence[AnswerEvent]:
        with open_evaluations(self.target) as client:
            (found,) = client.predictions(
                self.evaluation_id, setting=setting, question_id=question_id, detailed=True
            )
        return found.events

    def detailed(self) -> Iterator[EvaluationPrediction]:
        with open_evaluations(self.target) as client:
            yield from client.predictions(self.evaluation_id, detailed=True)

    def records(self) -> Iterable[Prediction]:
        text = "needs the folder of an evaluation: an evaluator has no such records"
        raise InvalidRequest.of("format", text)


def of_stored(stored: StoredResults) -> Results:
    """Return the results of an evaluation in a folder."""
    source = _Stored(stored)
    return Results(
        settings=[each.label for each in stored.evaluation.settings],
        questions=[describe_question(each) for each in stored.questions],
        predictions=[each for each, _, _ in source.described()],
        planned=len(stored.predictions) + stored.missing,
        seed=stored.evaluation.dataset.seed,
        source=source,
    )


def of_service(target: str, evaluation_id: str) -> Results:
    """Return the results of an evaluation of the evaluator at a target.

    Its report needs an evaluation that has succeeded.
    """
    with open_evaluations(target) as client:
        described = client.get_evaluation(evaluation_id)
        first = described.settings[0]
        of_first = client.predictions(evaluation_id, setting=first, detailed=True)
        questions = [each.question for each in of_first if each.question is not None]
        predictions = list(client.predictions(evaluation_id))
    return Results(
        settings=described.settings,
        questions=questions,
        predictions=predictions,
        planned=described.total,
        seed=described.seed,
        source=_Hosted(target, evaluation_id),
    )
