"""A small evaluation with questions and predictions, for tests of stores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scaar.core.types import (
    AnswerEnd,
    BudgetLimits,
    EffectivePolicy,
    JudgedWord,
    Moment,
    Provenance,
    Query,
    QuerySettings,
    Usage,
)
from scaar.evaluator.planning.settings import plan_settings
from scaar.evaluator.records import Decision, Failure, Prediction, Question
from scaar.evaluator.results import DatasetOrigin, Evaluation, Results
from scaar.evaluator.store.database.stored_results import store_results
from scaar.evaluator.store.folder import read_results
from scaar.evaluator.store.record_json import RecordJson

QUESTIONS = (
    Question("q1", "Who is Ada?", ("a countess",), "Ada", labels=(("kind", "one_hop"),)),
    Question("q2", "Wer ist Łukasiewicz?\u2028?", ("ein Logiker", "logician"), "Łukasiewicz"),
)
SETTINGS = plan_settings(("no_retrieval", "flare"), {"theta": (0.3, 0.8)})
LABELS = tuple(each.label for each in SETTINGS)
USAGE = Usage(1, 2, 30, 40, 12.5, 3.25, 0.1, 1 / 3)


def provenance(label: str) -> Provenance:
    """Return the provenance under a setting."""
    policy = EffectivePolicy(
        name=label.split(":")[0],
        moments=(Moment.UNCERTAIN_DRAFT,),
        trigger="flare",
        theta=0.3,
        theta_cap=1.0,
        query=QuerySettings("current_sentence", include_question=False),
        top_k=3,
    )
    return Provenance("", "lm", "1", "onnx", "", "", "lab", "v1", "lab-1", policy)


EVALUATION = Evaluation(
    scaar="1.0",
    created="2030-01-01T00:00:00+00:00",
    dataset=DatasetOrigin("lab", "", 2000, 2, "c0ffee"),
    settings=SETTINGS,
    provenance={label: provenance(label) for label in LABELS},
    budget=BudgetLimits(timeout_s=60.0),
)


def prediction(label: str, question_id: str, *, answer: str = "a countess") -> Prediction:
    """Return a prediction with a decision that retrieved."""
    word = JudgedWord("a", 0, 1, probability=None, threshold=0.3, uncertain=True)
    decision = Decision(
        text=" a countess.",
        draft=" a queen.",
        words=(word,),
        score=0.0,
        trigger=0,
        query=Query("Ada?", "current_sentence", kept=(1, 2)),
        passage_ids=("p1", "p2"),
    )
    return Prediction(
        *(label, question_id, answer, " a countess.", USAGE, AnswerEnd.ANSWER_PHRASE, (decision,))
    )


def failed(label: str, question_id: str) -> Prediction:
    """Return a failed prediction."""
    nothing = Usage(0, 0, 0, 0, 0.0)
    failure = Failure("BACKEND_UNAVAILABLE", "nobody answers")
    return Prediction(label, question_id, "", "", nothing, failure=failure)


async def store(
    folder: Path,
    predictions: Sequence[Prediction],
    *,
    evaluation: Evaluation = EVALUATION,
    questions: Sequence[Question] = QUESTIONS,
) -> None:
    """Store an evaluation with some of its predictions in a folder."""
    await store_results(folder, Results(evaluation, tuple(questions), tuple(predictions)))


def evaluation_record(folder: Path) -> dict[str, Any]:
    """Return the evaluation of a folder as JSON values."""
    record = json.loads(RecordJson(Evaluation).document(read_results(folder).evaluation))
    assert isinstance(record, dict)
    return record


def question_records(folder: Path) -> list[dict[str, Any]]:
    """Return the questions of a folder as JSON values."""
    return [json.loads(RecordJson(Question).line(each)) for each in read_results(folder).questions]


def prediction_records(folder: Path) -> list[dict[str, Any]]:
    """Return the predictions of a folder as JSON values, in the order of the plan."""
    predictions = read_results(folder).predictions
    return [json.loads(RecordJson(Prediction).line(each)) for each in predictions]
