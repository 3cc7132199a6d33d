"""Answers to the lab's questions, by the embedded engine and by a model server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar

POLICIES = (
    *("no_retrieval", "single_round", "fixed_length", "fixed_sentence", "ircot"),
    *("perplexity", "flare", "scaar"),
)
"""Policies that need neither entropy nor attention."""
WITHOUT_LOGPROBS = ("no_retrieval", "single_round", "fixed_sentence", "ircot", "iter_retgen")
"""Policies that need no log-probabilities and count no tokens."""
_COMPARED = ("id", "answer", "text", "end", "retrievals", "llm_calls")


def lab_data(home: Path) -> Path:
    """Build the lab's index in a data folder, and return the folder."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(home))
        assert run_scaar("search", "film").status == 0
    return home


def answer_questions(
    home: Path, *, policy: str, count: int, generator: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Return the record of each answer, or of its error, in the order of their ids.

    ``generator`` are settings of the engine ``openai``; None runs the embedded engine.
    """
    questions, out = home / "questions.jsonl", home / "answers.jsonl"
    listed = run_scaar("lab", "questions", "--seed", "2000", "--count", str(count)).out
    questions.write_text(listed)
    out.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(home))
        for name, value in _settings(generator).items():
            environment.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
        ran = run_scaar("ask", "--file", str(questions), "--out", str(out), "--policy", policy)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(records) == count, ran.err
    return sorted(records, key=lambda each: str(each["id"]))


def different_answers(
    home: Path, *, policy: str, count: int, generator: Mapping[str, str]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the answers of the embedded engine and of a server that are not the same.

    Their number is printed.
    """
    expected = answer_questions(home, policy=policy, count=count)
    found = answer_questions(home, policy=policy, count=count, generator=generator)
    pairs = list(zip(map(_compared, expected), map(_compared, found), strict=True))
    different = [(one, other) for one, other in pairs if one != other]
    print(f"{policy}, {generator}: {len(different)} of {count} answers differ")
    return different


def _settings(generator: Mapping[str, str] | None) -> Mapping[str, str]:
    if generator is None:
        return {}
    # A server does not report the recommendations of the lab's model.
    known = json.loads((model_folder(LAB_LM) / "scaar.json").read_text())
    given = {"engine": "openai", "prompt_profile": "lab", "read_timeout_s": "300"}
    return {**given, "recommended": json.dumps(known["recommended"]), **generator}


def _compared(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an answer that do not depend on the engine."""
    return {name: record[name] for name in _COMPARED}
