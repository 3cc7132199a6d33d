"""Real questions with the answers of a real model."""

from pathlib import Path

import pytest

from scaar.core.prompts.conclusion import extract_answer
from scaar.evaluator.studies.gates.answered import read_answered
from scaar.evaluator.studies.gates.sample import counts_of, sample_of

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("name", "questions", "wrong", "helped", "harmed"),
    [("hotpotqa", 491, 347, 81, 38), ("2wikimultihopqa", 500, 367, 96, 33)],
)
def test_retrieval_helps_and_harms_as_the_page_says(
    name: str, questions: int, wrong: int, helped: int, harmed: int, real_data: Path
) -> None:
    source = f"{name}:{real_data / name}/{name}_1000.dev.jsonl"
    sample = sample_of(read_answered([source], "llama3_8b"))
    counts = counts_of(sample, sample.of(name))
    found = [counts[each] for each in ("questions", "wrong", "helped", "harmed")]
    assert found == [questions, wrong, helped, harmed]
    # The short answers are the conclusions of the chains of thought: the two cannot disagree.
    concluded = [extract_answer(each.thoughts) == each.answer for each in sample.answered]
    assert sum(concluded) > 0.9 * questions
