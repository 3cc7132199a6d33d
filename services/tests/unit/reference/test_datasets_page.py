"""docs/datasets.md shows a valid data set."""

import re
import textwrap
from pathlib import Path
from typing import Any

from reference.__main__ import ROOT
from scaar.evaluator.datasets import KINDS
from scaar.evaluator.datasets.loader import open_dataset

PAGE = ROOT / "docs" / "datasets.md"


def test_the_data_set_of_the_page_reads_its_questions(tmp_path: Path) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    made: dict[str, Any] = {}
    exec(textwrap.dedent(block), made)
    file = tmp_path / "quiz.jsonl"
    file.write_text('{"key": 1, "ask": "Where was Ada born?", "say": ["London"]}\n')
    with KINDS.with_parts({"quiz": made["QUIZ"]}):
        (question,) = open_dataset("quiz", file).questions
    assert (question.id, question.question) == ("1", "Where was Ada born?")
    assert question.answers == ("London",)
