"""Questions that are sent to an evaluator."""

from collections.abc import AsyncIterator
from pathlib import Path

from scaar.core.evaluations import EvaluationQuestion
from scaar.evaluation.questions import draw
from scaar.evaluator.prediction_view import describe_question
from scaar.evaluator.service.uploads import collect_questions


async def test_a_question_of_a_file_is_the_same_on_an_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "anatomy_test.csv"
    path.write_text("How many bones has a hand?,25,26,27,28,C\n")
    read = draw(f"mmlu:{path}", limit=None, seed=None).questions

    async def sent() -> AsyncIterator[EvaluationQuestion]:
        for each in read:
            yield describe_question(each)

    assert await collect_questions(sent(), max_questions=10, max_bytes=1_000) == read
    assert read[0].question == "How many bones has a hand? (A) 25 (B) 26 (C) 27 (D) 28"
