import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from scaar.cli.lab.commands import app
from scaar.core.errors import InvalidRequest


def lines(*arguments: str) -> list[dict[str, object]]:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_world_is_a_film_a_line_with_rank_and_director() -> None:
    films = lines("world", "--seed", "7")
    assert len(films) == 1_600
    assert [film["rank"] for film in films[:3]] == [1, 2, 3]
    assert films[799]["rank"] == 800
    assert films[800]["rank"] is None
    assert {film["known"] for film in films[800:]} == {False}
    director = films[0]["director"]
    assert isinstance(director, dict)
    assert list(director) == [
        "name",
        "born",
        "birthplace",
        "died",
        "country",
        "father",
        "mother",
        "spouse",
        "family",
    ]


def test_questions_have_the_fields_of_the_data_set() -> None:
    questions = lines("questions", "--count", "4", "--seed", "2147483648")
    assert [question["split"] for question in questions] == ["head", "tail", "head", "tail"]
    assert list(questions[0]) == ["id", "question", "answers", "kind", "split", "supports"]
    assert {each["split"] for each in lines("questions", "--split", "tail", "--count", "9")} == {
        "tail"
    }


@pytest.mark.slow
def test_the_supports_of_a_question_are_passages_of_its_world() -> None:
    passages = {passage["id"]: passage for passage in lines("passages", "--seed", "5")}
    assert len(passages) == 8_000
    for question in lines("questions", "--seed", "5", "--count", "50"):
        supports, answers = question["supports"], question["answers"]
        assert isinstance(supports, list)
        assert isinstance(answers, list)
        assert set(supports) <= set(passages)
        if question["kind"] in ("one_hop", "compositional", "inference"):
            assert answers[0] in str(passages[supports[-1]]["text"])


def test_the_other_questions_ask_for_plain_words() -> None:
    plain = lines("questions", "--count", "6", "--style", "0")
    assert all(str(each["question"]).endswith("plainly.") for each in plain)
    assert [each["id"] for each in plain] == [
        each["id"] for each in lines("questions", "--count", "6")
    ]
    result = CliRunner().invoke(app, ["questions", "--style", "1.5"])
    assert result.exit_code == 2
    assert "--style" in result.stderr


def test_the_questions_ask_for_free_words() -> None:
    free = lines("questions", "--count", "6", "--freedom", "1")
    assert all(str(each["question"]).endswith("with full freedom.") for each in free)
    for options, expected in (
        (("--freedom", "0.3"), "--freedom: must be one of 0, 0.25, 0.5, 1, not 0.3"),
        (("--freedom", "1", "--style", "0"), "--style: does not apply to free words; omit it"),
        (("--freedom", "1", "--sentences", "12/2/0.5"), "--freedom: does not apply to sentence"),
    ):
        with pytest.raises(InvalidRequest, match=expected):
            CliRunner().invoke(app, ["questions", *options], catch_exceptions=False)


@pytest.mark.slow
def test_a_seed_always_gives_the_same_world() -> None:
    assert lines("passages", "--seed", "5") == lines("passages", "--seed", "5")
    assert lines("passages", "--seed", "5") != lines("passages", "--seed", "6")


@pytest.mark.parametrize("seed", ["-1", "2147483649", "x"])
def test_a_seed_out_of_range_is_a_usage_error(seed: str) -> None:
    result = CliRunner().invoke(app, ["world", "--seed", seed])
    assert result.exit_code == 2
    assert "--seed" in result.stderr


def test_a_count_above_the_limit_is_reported_with_the_limit() -> None:
    with pytest.raises(InvalidRequest, match=r"--count: must be 0 to 4000 .*, not 4001"):
        lines("questions", "--split", "head", "--count", "4001")


def test_a_reader_that_closes_the_pipe_early_is_not_an_error() -> None:
    command = [sys.executable, "-m", "scaar.cli", "lab", "passages"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"id": "film-0000"')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_unknown_variant_is_reported_with_the_known_ones() -> None:
    with pytest.raises(InvalidRequest, match="--variant: there is no variant 'x'; known: none, di"):
        CliRunner().invoke(app, ["passages", "--variant", "x"], catch_exceptions=False)
