"""Two settings compared question by question, of one evaluation or of two."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scaar.console.data_tables import NOTHING, Cell, Column, DataTable, Mark, data_table
from scaar.console.evaluation_rows import answer_cell, main_score, prediction_href
from scaar.console.number_text import count, decimal, decimal_text
from scaar.console.record_rows import shortened
from scaar.core.evaluations import EvaluationPrediction

_EQUAL = 1e-9


class Outcome(enum.StrEnum):
    """The result of the second setting, compared with that of the first."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNSCORED = "unscored"
    """One of the two failed, or has no score."""


_MARKS = {
    Outcome.BETTER: Mark("B better", "good"),
    Outcome.WORSE: Mark("B worse", "bad"),
    Outcome.SAME: Mark("same score"),
    Outcome.UNSCORED: Mark("no score", "warn"),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The predictions of two settings for a question."""

    first: EvaluationPrediction
    second: EvaluationPrediction

    @property
    def outcome(self) -> Outcome:
        """The result of the second one by the main measure of the first."""
        difference = self.difference
        if difference is None:
            return Outcome.UNSCORED
        if abs(difference) < _EQUAL:
            return Outcome.SAME
        return Outcome.BETTER if difference > 0 else Outcome.WORSE

    @property
    def difference(self) -> float | None:
        """The score of the second one, less that of the first; None without both."""
        if self.first.failure or self.second.failure or not self.first.scores:
            return None
        measure, score = self.first.scores[0]
        other = dict(self.second.scores).get(measure)
        return None if other is None else other - score

    @property
    def differs(self) -> bool:
        """Whether the scores, the answers or the numbers of retrievals differ."""
        return (
            self.outcome is not Outcome.SAME
            or self.first.answer != self.second.answer
            or self.first.usage.retrievals != self.second.usage.retrievals
        )


SHOWN: Mapping[str, tuple[str, Callable[[Pair], bool]]] = {
    "all": ("all questions", lambda pair: True),
    "different": (
        "questions with another score, answer or number of retrievals",
        lambda pair: pair.differs,
    ),
    "better": ("questions on which B is better", lambda pair: pair.outcome is Outcome.BETTER),
    "worse": ("questions on which B is worse", lambda pair: pair.outcome is Outcome.WORSE),
    "unscored": ("questions without both scores", lambda pair: pair.outcome is Outcome.UNSCORED),
}
"""The choices of the questions that are listed."""


def pairs_of(
    first: Sequence[EvaluationPrediction], second: Sequence[EvaluationPrediction]
) -> tuple[Pair, ...]:
    """Return the predictions of the questions that both have, in the order of the first."""
    others = {each.question_id: each for each in second}
    return tuple(
        Pair(each, others[each.question_id]) for each in first if each.question_id in others
    )


def summary_table(pairs: Sequence[Pair]) -> DataTable:
    """Return the means of both settings, and on how many questions they differ."""
    measure = next((pair.first.scores[0][0] for pair in pairs if pair.first.scores), "measure")
    scored = [pair for pair in pairs if pair.difference is not None]
    columns = (
        Column("Figure", "What is compared."),
        Column("A", "The first setting.", number=True),
        Column("B", "The second setting.", number=True),
        Column("B − A", "The difference.", number=True),
    )
    rows = [
        _means(f"Mean {measure}, 0 to 1", [_scores(pair, measure) for pair in scored], 3),
        _means("Retrievals per question", [_of(pair, "retrievals") for pair in pairs], 2),
        _means(
            "Generated tokens per question", [_of(pair, "generated_tokens") for pair in pairs], 1
        ),
        _means("Latency, ms per question", [_of(pair, "latency_ms") for pair in pairs], 0),
    ]
    return data_table("Means of the common questions", columns, rows)


def outcome_counts(pairs: Sequence[Pair]) -> dict[Outcome, int]:
    """Return the number of questions by outcome."""
    found = [pair.outcome for pair in pairs]
    return {each: found.count(each) for each in Outcome}


def pair_table(
    pairs: Sequence[Pair], evaluations: tuple[str, str], questions: dict[str, str]
) -> DataTable:
    """Return the questions with both answers; ``questions`` are texts by id, where known."""
    columns = (
        Column("Question", "The question, or its id."),
        Column("Outcome", "The score of B, compared with that of A by the main measure of A."),
        Column("Answer of A", "It links to the decisions."),
        Column("Score of A", "By its main measure, 0 to 1.", number=True),
        Column("Retrievals of A", "Number of retrievals.", number=True),
        Column("Answer of B", "It links to the decisions."),
        Column("Score of B", "By its main measure, 0 to 1.", number=True),
        Column("Retrievals of B", "Number of retrievals.", number=True),
    )
    rows = []
    for pair in pairs:
        name = pair.first.question_id
        text = questions.get(name, "")
        question = Cell(shortened(text), note=name, foreign=True) if text else Cell(name)
        outcome = Cell(_difference_text(pair), marks=(_MARKS[pair.outcome],))
        sides = zip(evaluations, (pair.first, pair.second), strict=True)
        cells = [cell for evaluation, each in sides for cell in _side(evaluation, each)]
        rows.append((question, outcome, *cells))
    return data_table("Questions", columns, rows)


def _side(evaluation_id: str, prediction: EvaluationPrediction) -> tuple[Cell, ...]:
    answer = answer_cell(prediction)
    linked = Cell(
        answer.text,
        href=prediction_href(evaluation_id, prediction),
        note=answer.note,
        marks=answer.marks,
        foreign=True,
    )
    return linked, main_score(prediction), count(prediction.usage.retrievals)


def _difference_text(pair: Pair) -> str:
    difference = pair.difference
    return "" if difference is None else decimal_text(difference, 3, sign="+")


def _scores(pair: Pair, measure: str) -> tuple[float, float]:
    return pair.first.scores[0][1], dict(pair.second.scores)[pair.first.scores[0][0]]


def _of(pair: Pair, name: str) -> tuple[float, float]:
    return getattr(pair.first.usage, name), getattr(pair.second.usage, name)


def _means(name: str, values: Sequence[tuple[float, float]], decimals: int) -> tuple[Cell, ...]:
    if not values:
        return Cell(name), NOTHING, NOTHING, NOTHING
    first, second = (sum(column) / len(values) for column in zip(*values, strict=True))
    return (
        Cell(name),
        decimal(first, decimals),
        decimal(second, decimals),
        decimal(second - first, decimals, sign="+"),
    )
