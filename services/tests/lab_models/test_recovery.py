"""The lab's world as JSON lines, and back: what is printed is what is indexed."""

import json
from pathlib import Path

from scaar.testing.commands import run_scaar

SEED = ("--seed", "2000")


def build(tmp_path: Path, name: str) -> None:
    corpus = tmp_path / f"{name}.jsonl"
    corpus.write_text(run_scaar("lab", "passages", *SEED).out)
    ran = run_scaar("index", "build", "--corpus", str(corpus), "--index", name)
    assert (ran.status, ran.err) == (0, "")


def test_the_printed_passages_make_the_index_that_the_first_search_makes(tmp_path: Path) -> None:
    build(tmp_path, "printed")
    printed, first = (
        run_scaar("index", "describe", name, "--format", "json").records[0]
        for name in ("printed", "lab")
    )
    assert printed["passages"] == first["passages"] == 8_000
    assert printed["version"] == first["version"]


def test_the_supports_of_printed_questions_are_found_and_hold_their_answers(
    tmp_path: Path,
) -> None:
    questions = run_scaar("lab", "questions", *SEED, "--count", "10").records
    for question in questions:
        found = run_scaar("search", question["question"], "--format", "json").records
        texts = {passage["id"]: passage["text"] for passage in found}
        assert question["supports"][0] in texts
        if question["kind"] == "one_hop":
            assert question["answers"][0] in texts[question["supports"][0]]


def test_the_printed_world_holds_the_answers_of_its_questions() -> None:
    films = {film["id"]: film for film in run_scaar("lab", "world", *SEED).records}
    questions = run_scaar("lab", "questions", *SEED, "--count", "200").records
    requested = [question for question in questions if question["kind"] == "compositional"]
    assert requested
    for question in requested:
        film = films[question["supports"][0]]
        relation = question["id"].rpartition("-")[2]
        assert film["title"] in question["question"]
        assert question["answers"] == [film["director"][relation]]
        assert film["known"] == (question["split"] == "head")


def test_what_is_printed_is_a_record_a_line() -> None:
    for command in ("world", "questions", "passages"):
        lines = run_scaar("lab", command, *SEED).out.splitlines()
        assert all(isinstance(json.loads(line), dict) for line in lines)
