from pathlib import Path

import pytest

from scaar.cli.unknown_variables import edits, unknown_variables
from scaar.testing.commands import run_scaar


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "", 3),
        ("MODEL", "MOEDL", 1),
        ("MODEL", "MODELS", 1),
        ("kitten", "sitting", 3),
        ("ab", "bca", 3),
    ],
)
def test_edits_are_counted(one: str, other: str, count: int) -> None:
    assert edits(one, other) == edits(other, one) == count


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("SCAAR_GENERATOR_MODLE", "SCAAR_GENERATOR_MODEL"),
        ("SCAAR_GENERATOR_MODELS", "SCAAR_GENERATOR_MODEL"),
        ("SCAAR_RETREIVER_INDEXES", "SCAAR_RETRIEVER_INDEXES"),
        ("SCAAR_QUERYBUILDER_ADDRESS", "SCAAR_QUERY_BUILDER_ADDRESS"),
        ("SCAAR_BREAKER_FAILURE", "SCAAR_BREAKER_FAILURES"),
        ("SCAAR_HOMES", "SCAAR_HOME"),
        ("SCAAR_CONFG", "SCAAR_CONFIG"),
    ],
)
def test_a_misspelled_setting_gets_a_suggestion(name: str, suggestion: str) -> None:
    (found,) = unknown_variables({name: "x", "PATH": "/bin"})
    assert str(found) == f"{name} is not a setting; did you mean {suggestion}?"


@pytest.mark.parametrize(
    "name",
    [
        "SCAAR_GENERATOR_MODEL",
        "SCAAR_TEST_DATA",
        "SCAAR_SOMETHING_ELSE",
        "scaar_generator_modle",
        "SCAAR_GENERATOR_SERVICE_HOST",
        "SCAAR_GENERATOR_SERVICE_PORT",
        "SCAAR_GENERATOR_SERVICE_PORT_GRPC",
        "SCAAR_GENERATOR_PORT",
        "SCAAR_GENERATOR_PORT_50052_TCP",
        "SCAAR_GENERATOR_PORT_50052_TCP_ADDR",
        "SCAAR_GENERATOR_PORT_50052_TCP_PORT",
        "SCAAR_GENERATOR_PORT_50052_TCP_PROTO",
    ],
)
def test_other_variables_are_ignored(name: str) -> None:
    assert unknown_variables({name: "x"}) == ()


@pytest.mark.parametrize(
    "command", [("ask", ""), ("serve", "query-builder", "--address", "nowhere")]
)
def test_commands_warn_before_they_start(
    home: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_MODLE", "lab-lm-b")
    monkeypatch.setenv("SCAAR_GENERATOR_SERVICE_HOST", "10.0.0.1")
    warning, error = run_scaar(*command).err.splitlines()
    assert warning == (
        "scaar: warning: SCAAR_GENERATOR_MODLE is not a setting; did you mean "
        "SCAAR_GENERATOR_MODEL?"
    )
    assert error.startswith("scaar: ")
