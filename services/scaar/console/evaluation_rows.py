"""The tables of evaluations: their progress, the figures of settings, and predictions."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote, urlencode

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.number_text import (
    count,
    decimal,
    duration_text,
    ms_text,
    percent,
    share_of,
    time,
)
from scaar.console.record_rows import shortened
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPrediction,
    EvaluationProgress,
    EvaluationState,
    SettingFigures,
)
from scaar.core.plurals import are, counted

STATES = {
    EvaluationState.QUEUED: Mark("queued"),
    EvaluationState.RUNNING: Mark("running"),
    EvaluationState.SUCCEEDED: Mark("succeeded", "good"),
    EvaluationState.FAILED: Mark("failed", "bad"),
    EvaluationState.CANCELLED: Mark("cancelled", "warn"),
}
EVALUATIONS = (
    Column("Evaluation", "The data set, or the request id. It links to the evaluation."),
    Column("State", "State of the evaluation."),
    Column("Progress", "Stored predictions, as a share of all.", "%", number=True),
    Column("Predictions", "Stored predictions of all.", number=True),
    Column("Failed", "Stored predictions without an answer.", number=True),
    Column("Questions", "Number of questions.", number=True),
    Column("Settings", "Number of policy variants.", number=True),
    Column("Index", "The index that is searched."),
    Column("Tenant", "The tenant that created the evaluation."),
    Column("Created", "Time of the request.", "UTC"),
)
_QUESTION = Column("Question", "The question, or its id. It links to the decisions.")
PREDICTIONS = (
    _QUESTION,
    Column("Answer", "The short form of the answer, or the reason of its failure."),
    Column("Accepted", "The accepted answers."),
    Column("Scores", "The score by each measure, the main measure first.", number=True),
    Column("Retrievals", "Number of retrievals of the answer.", number=True),
    Column("Generated", "Tokens that the model wrote.", "tokens", number=True),
    Column("Latency", "Time of the answer.", number=True),
)
_FACTS = (Column("Fact", "What is stated."), Column("Value", "Its value."))


def evaluation_href(evaluation_id: str, part: str = "", **query: str) -> str:
    """Return the path of a page of an evaluation."""
    path = f"/evaluations/{quote(evaluation_id, safe='')}"
    path = f"{path}/{part}" if part else path
    sent = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(sent)}" if sent else path


def evaluation_table(evaluations: Sequence[EvaluationDescription]) -> DataTable:
    """Return the table of evaluations."""
    return data_table("Evaluations", EVALUATIONS, [_evaluation(each) for each in evaluations])


def fact_table(evaluation: EvaluationDescription) -> DataTable:
    """Return what an evaluation runs on, and how far it is."""
    started, ended = time(evaluation.started), time(evaluation.ended)
    facts = [
        ("State", Cell(marks=(STATES[evaluation.state],))),
        ("Id", Cell(evaluation.id, code=True)),
        ("Request id", Cell(evaluation.request_id or "none", foreign=True)),
        ("Data set", Cell(evaluation.dataset or "questions of the request", foreign=True)),
        ("Questions", count(evaluation.questions)),
        ("Index", Cell(evaluation.index, foreign=True)),
        ("Seed", Cell(str(evaluation.seed))),
        ("Time limit of an answer", Cell(f"{evaluation.timeout_s:g} s")),
        ("Tenant", Cell(evaluation.tenant, foreign=True)),
        ("Created (UTC)", time(evaluation.created)),
        ("Started (UTC)", started),
        ("Ended (UTC)", ended),
    ]
    return data_table("Request", _FACTS, [(Cell(name), value) for name, value in facts])


def progress_text(progress: EvaluationProgress | None, evaluation: EvaluationDescription) -> str:
    """Return how far an evaluation is, in a sentence."""
    first = evaluation.first_pass
    predictions = counted(evaluation.total, "prediction")
    text = f"{evaluation.done:,} of {predictions} {are(evaluation.done)} stored"
    if first is not None and first.done < first.total:
        predictions = counted(first.total, "prediction")
        text = f"the pass that places thresholds has {first.done:,} of {predictions}"
    if evaluation.failed:
        text += f", {evaluation.failed:,} of them without an answer"
    if progress is not None and not evaluation.state.ended and progress.rate_per_s > 0:
        text += f", at {progress.rate_per_s:.2g} per second"
        if progress.remaining_s is not None:
            text += f", about {duration_text(progress.remaining_s)} remain"
    return f"{text[0].upper()}{text[1:]}."


def setting_table(
    evaluation: EvaluationDescription, figures: Sequence[SettingFigures]
) -> DataTable:
    """Return the settings with their figures so far."""
    by_setting = {each.setting: each for each in figures}
    measure = next((each.measure for each in figures if each.measure), "measure")
    columns = (
        Column("Setting", "Policy and settings. It links to the predictions."),
        Column("Predictions", "Number of stored predictions.", number=True),
        Column("Failed", "Stored predictions without an answer.", number=True),
        Column(
            f"Mean {measure}",
            "Mean of the main measure over the stored predictions, 0 to 1.",
            number=True,
        ),
        Column("Retrievals", "Mean number of retrievals per question.", "N_R", number=True),
    )
    rows = []
    for label in evaluation.settings:
        found = by_setting.get(label)
        href = evaluation_href(evaluation.id, "predictions", setting=label)
        numbers: tuple[Cell, ...] = (NOTHING,) * 4
        if found is not None:
            numbers = (
                count(found.done),
                count(found.failed),
                decimal(found.mean, 3),
                decimal(found.retrievals),
            )
        rows.append((Cell(label, href=href, foreign=True), *numbers))
    return data_table("Settings", columns, rows)


def prediction_table(
    evaluation_id: str, predictions: Sequence[EvaluationPrediction], *, setting: str
) -> DataTable:
    """Return predictions; with their setting if they are of several."""
    columns: tuple[Column, ...] = PREDICTIONS
    if not setting:
        columns = (_QUESTION, Column("Setting", "Policy and settings."), *PREDICTIONS[1:])
    rows = []
    for each in predictions:
        row = [question_cell(evaluation_id, each), answer_cell(each)]
        if not setting:
            row.insert(1, Cell(each.setting, foreign=True))
        accepted = " / ".join(each.question.answers) if each.question else "–"
        row += [
            Cell(shortened(accepted), foreign=True),
            _scores(each),
            *_usage_cells(each),
        ]
        rows.append(row)
    return data_table("Predictions", columns, rows)


def other_settings_table(
    evaluation_id: str, predictions: Sequence[EvaluationPrediction]
) -> DataTable:
    """Return the predictions of other settings for one question."""
    columns = (
        Column("Setting", "Policy and settings. It links to the decisions."),
        *(each for each in PREDICTIONS[1:] if each.heading != "Accepted"),
    )
    rows = [
        (
            Cell(each.setting, href=prediction_href(evaluation_id, each), foreign=True),
            answer_cell(each),
            _scores(each),
            *_usage_cells(each),
        )
        for each in predictions
    ]
    return data_table("Other settings", columns, rows)


def _usage_cells(prediction: EvaluationPrediction) -> tuple[Cell, ...]:
    usage = prediction.usage
    return (
        count(usage.retrievals),
        count(usage.generated_tokens),
        Cell(ms_text(usage.latency_ms)),
    )


def prediction_href(evaluation_id: str, prediction: EvaluationPrediction) -> str:
    """Return the path of the page of a prediction."""
    return evaluation_href(
        evaluation_id,
        "prediction",
        setting=prediction.setting,
        question=prediction.question_id,
    )


def question_cell(evaluation_id: str, prediction: EvaluationPrediction) -> Cell:
    """Return the question of a prediction, with a link to its decisions."""
    text = prediction.question.question if prediction.question else prediction.question_id
    note = prediction.question_id if prediction.question else ""
    return Cell(
        shortened(text), href=prediction_href(evaluation_id, prediction), note=note, foreign=True
    )


def answer_cell(prediction: EvaluationPrediction) -> Cell:
    """Return the answer of a prediction, or its failure."""
    if prediction.failure is not None:
        mark = (Mark("failed", "bad"),)
        return Cell(prediction.failure.reason, marks=mark, note=prediction.failure.message)
    return Cell(shortened(prediction.answer) or "no answer", foreign=True)


def main_score(prediction: EvaluationPrediction) -> Cell:
    """Return the score by the main measure, and its name."""
    if not prediction.scores:
        return NOTHING
    measure, value = prediction.scores[0]
    return Cell(f"{value:.3g}", note=measure)


def _scores(prediction: EvaluationPrediction) -> Cell:
    """Return the score by the main measure, and the others as a note."""
    others = ", ".join(f"{name} {value:.3g}" for name, value in prediction.scores[1:])
    first = replace(prediction, scores=prediction.scores[:1])
    return Cell(scores_text(first), note=others)


def scores_text(prediction: EvaluationPrediction) -> str:
    """Return the scores by measure."""
    return ", ".join(f"{name} {value:.3g}" for name, value in prediction.scores) or "–"


def _evaluation(evaluation: EvaluationDescription) -> tuple[Cell, ...]:
    name = evaluation.dataset or evaluation.request_id or "questions of the request"
    note = evaluation.id
    error = "" if evaluation.error is None else evaluation.error.reason
    return (
        Cell(name, href=evaluation_href(evaluation.id), note=note, foreign=True),
        Cell(error, marks=(STATES[evaluation.state],)),
        percent(share_of(evaluation.done, evaluation.total)),
        Cell(f"{evaluation.done:,} of {evaluation.total:,}"),
        count(evaluation.failed),
        count(evaluation.questions),
        count(len(evaluation.settings)),
        Cell(evaluation.index, foreign=True),
        Cell(evaluation.tenant, foreign=True),
        time(evaluation.created),
    )
