"""Evaluations as they are told of: what they are, how they get on, what was answered."""

from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationError,
    EvaluationPage,
    EvaluationPrediction,
    EvaluationProgress,
    PredictionPage,
    SettingFigures,
)
from scaar.v1 import evaluator_pb2 as pb
from scaar.v1.answer_pb2 import ANSWER_END_UNSPECIFIED as NO_END
from scaar.wire.messages.answer import usage_from_pb, usage_to_pb
from scaar.wire.messages.enums import ANSWER_END, EVALUATION_STATE
from scaar.wire.messages.evaluation_requests import (
    evaluation_question_from_pb,
    evaluation_question_to_pb,
)
from scaar.wire.messages.events import answer_event_from_pb, answer_event_to_pb
from scaar.wire.messages.fields import finite, required


def evaluation_to_pb(evaluation: EvaluationDescription) -> pb.Evaluation:
    return pb.Evaluation(
        id=evaluation.id,
        tenant=evaluation.tenant,
        request_id=evaluation.request_id,
        state=EVALUATION_STATE.to_pb(evaluation.state),
        dataset=evaluation.dataset,
        questions=evaluation.questions,
        settings=evaluation.settings,
        seed=evaluation.seed,
        limit=evaluation.limit,
        index=evaluation.index,
        timeout_s=evaluation.timeout_s,
        created=evaluation.created,
        started=evaluation.started,
        ended=evaluation.ended,
        wanted=evaluation.wanted,
        done=evaluation.done,
        failed=evaluation.failed,
        error=_error_to_pb(evaluation.error),
    )


def evaluation_from_pb(message: pb.Evaluation) -> EvaluationDescription:
    return EvaluationDescription(
        id=message.id,
        tenant=message.tenant,
        request_id=message.request_id,
        state=EVALUATION_STATE.from_pb(message.state, "evaluation.state"),
        dataset=message.dataset,
        questions=message.questions,
        settings=tuple(message.settings),
        seed=message.seed,
        limit=message.limit if message.HasField("limit") else None,
        index=message.index,
        timeout_s=finite("evaluation.timeout_s", message.timeout_s),
        created=message.created,
        started=message.started,
        ended=message.ended,
        wanted=message.wanted,
        done=message.done,
        failed=message.failed,
        error=_error_from_pb(message.error) if message.HasField("error") else None,
    )


def evaluations_to_pb(page: EvaluationPage) -> pb.ListEvaluationsResponse:
    return pb.ListEvaluationsResponse(
        evaluations=[evaluation_to_pb(each) for each in page.evaluations],
        next_page_token=page.next_page_token,
    )


def evaluations_from_pb(message: pb.ListEvaluationsResponse) -> EvaluationPage:
    found = tuple(evaluation_from_pb(each) for each in message.evaluations)
    return EvaluationPage(found, message.next_page_token)


def evaluation_progress_to_pb(progress: EvaluationProgress) -> pb.WatchEvaluationResponse:
    return pb.WatchEvaluationResponse(
        evaluation=evaluation_to_pb(progress.evaluation),
        rate_per_s=progress.rate_per_s,
        time_left_s=progress.time_left_s,
        figures=[
            pb.SettingFigures(
                setting=each.setting,
                done=each.done,
                failed=each.failed,
                measure=each.measure,
                mean=each.mean,
                retrievals=each.retrievals,
            )
            for each in progress.figures
        ],
    )


def evaluation_progress_from_pb(message: pb.WatchEvaluationResponse) -> EvaluationProgress:
    required("evaluation", message.HasField("evaluation"))
    left = finite("time_left_s", message.time_left_s) if message.HasField("time_left_s") else None
    return EvaluationProgress(
        evaluation=evaluation_from_pb(message.evaluation),
        rate_per_s=finite("rate_per_s", message.rate_per_s),
        time_left_s=left,
        figures=tuple(_figures_from_pb(each) for each in message.figures),
    )


def _figures_from_pb(message: pb.SettingFigures) -> SettingFigures:
    mean = finite("figures.mean", message.mean) if message.HasField("mean") else None
    retrievals = None
    if message.HasField("retrievals"):
        retrievals = finite("figures.retrievals", message.retrievals)
    return SettingFigures(
        message.setting, message.done, message.failed, message.measure, mean, retrievals
    )


def predictions_to_pb(page: PredictionPage) -> pb.ListPredictionsResponse:
    return pb.ListPredictionsResponse(
        predictions=[_prediction_to_pb(each) for each in page.predictions],
        next_page_token=page.next_page_token,
    )


def predictions_from_pb(message: pb.ListPredictionsResponse) -> PredictionPage:
    found = tuple(_prediction_from_pb(each) for each in message.predictions)
    return PredictionPage(found, message.next_page_token)


def _prediction_to_pb(prediction: EvaluationPrediction) -> pb.EvaluationPrediction:
    return pb.EvaluationPrediction(
        setting=prediction.setting,
        question_id=prediction.question_id,
        answer=prediction.answer,
        text=prediction.text,
        end=ANSWER_END.to_pb(prediction.end) if prediction.end else NO_END,
        usage=usage_to_pb(prediction.usage),
        failure=_error_to_pb(prediction.failure),
        scores=[pb.MeasureValue(measure=name, value=value) for name, value in prediction.scores],
        question=evaluation_question_to_pb(prediction.question) if prediction.question else None,
        events=[answer_event_to_pb(each) for each in prediction.events],
    )


def _prediction_from_pb(message: pb.EvaluationPrediction) -> EvaluationPrediction:
    question = None
    if message.HasField("question"):
        question = evaluation_question_from_pb(message.question)
    events = (answer_event_from_pb(each) for each in message.events)
    return EvaluationPrediction(
        setting=message.setting,
        question_id=message.question_id,
        answer=message.answer,
        text=message.text,
        usage=usage_from_pb(message.usage, "usage"),
        end=ANSWER_END.from_pb(message.end, "end") if message.end else None,
        failure=_error_from_pb(message.failure) if message.HasField("failure") else None,
        scores=tuple((each.measure, finite("scores", each.value)) for each in message.scores),
        question=question,
        events=tuple(each for each in events if each is not None),
    )


def _error_to_pb(error: EvaluationError | None) -> pb.EvaluationError | None:
    return None if error is None else pb.EvaluationError(reason=error.reason, message=error.message)


def _error_from_pb(message: pb.EvaluationError) -> EvaluationError:
    return EvaluationError(message.reason, message.message)
