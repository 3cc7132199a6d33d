"""Answers to many questions by one command, which opens models and index once."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scaar.lab.questions import Question
from scaar.testing.commands import run_scaar


def answer_all(questions: Sequence[Question], *options: str) -> list[dict[str, Any]]:
    """Return the record of each answer by ``scaar ask --file``, in the order of the questions."""
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "questions.jsonl", Path(folder) / "answers.jsonl"
        given = [{"id": str(at), "question": each.question} for at, each in enumerate(questions)]
        file.write_text("".join(f"{json.dumps(each)}\n" for each in given))
        ran = run_scaar("ask", "--file", str(file), "--out", str(out), *options)
        count = len(questions)
        assert ran.status == 0, ran.err
        assert ran.err.endswith(f"{count} questions: {count} answered, 0 failed\n")
        records = [json.loads(line) for line in out.read_text().splitlines()]
    return sorted(records, key=lambda each: int(each["id"]))
