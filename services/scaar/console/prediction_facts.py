"""The facts of a prediction: its question, its answer, its scores and its usage."""

from scaar.console.data_tables import Cell, Column, DataTable, data_table
from scaar.console.evaluation_rows import scores_text
from scaar.console.number_text import count, ms_text
from scaar.core.evaluations import EvaluationPrediction
from scaar.core.types import AbstentionReason

_FACTS = (Column("Fact", "What is stated."), Column("Value", "Its value."))


def prediction_facts(prediction: EvaluationPrediction) -> DataTable:
    """Return the facts of a prediction."""
    usage, question = prediction.usage, prediction.question
    facts = [
        ("Setting", Cell(prediction.setting, foreign=True)),
        ("Question id", Cell(prediction.question_id, code=True)),
        ("Answer", Cell(prediction.answer or "none", foreign=True)),
    ]
    if question is not None:
        facts += [
            ("Accepted answers", Cell(" / ".join(question.answers) or "none", foreign=True)),
            *((name, Cell(value, foreign=True)) for name, value in question.labels),
        ]
        if question.supports:
            facts.append(("Supports", Cell(", ".join(question.supports), foreign=True)))
    if prediction.failure is not None:
        failure = prediction.failure
        facts.append(("Failure", Cell(failure.reason, note=failure.message, code=True)))
    if prediction.abstained is not None:
        advised = prediction.abstained
        text = "not in the documents"
        if advised.reason is AbstentionReason.GATE:
            text = f"probability {advised.p_correct:.3f}, limit {advised.limit:.3f}"
        facts.append(("Abstained", Cell(text)))
    facts += [
        ("Scores", Cell(scores_text(prediction))),
        ("Retrievals", count(usage.retrievals)),
        ("Searches", count(usage.searches)),
        ("Calls of the model", count(usage.llm_calls)),
        ("Generated tokens", count(usage.generated_tokens)),
        ("Prompt tokens", count(usage.prompt_tokens)),
        ("Prompt tokens read", count(usage.evaluated_prompt_tokens)),
        ("Latency", Cell(ms_text(usage.latency_ms))),
    ]
    return data_table("Prediction", _FACTS, [(Cell(name), value) for name, value in facts])
