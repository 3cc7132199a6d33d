"""``scaar --config FILE``: one file for all services, with all its errors reported together."""

import os
import socket
from pathlib import Path

import pytest

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import read_every, settings_class
from scaar.runtime.breaker_settings import BreakerSettings
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import CONFIG_VARIABLE, SECTIONS
from scaar.runtime.settings import section_name
from scaar.testing.commands import run_scaar

pytestmark = pytest.mark.slow

USAGE, FAILURE = 2, 1
NOWHERE = "dns:///127.0.0.1:1"


@pytest.fixture(autouse=True)
def _own_home(home: Path) -> None:
    """Every command has a data folder of its own."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scaar.yaml"


def test_a_command_reads_the_file(path: Path) -> None:
    path.write_text(f"orchestrator:\n  generator_target: {NOWHERE}\n")
    ran = run_scaar("--config", str(path), "ask", "Who?")
    assert ran.status == FAILURE
    assert ran.err.startswith(f"scaar: {NOWHERE} does not answer")
    assert CONFIG_VARIABLE not in os.environ


def test_a_variable_names_the_file_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(f"orchestrator:\n  generator_target: {NOWHERE}\n")
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    assert run_scaar("ask", "Who?").err.startswith(f"scaar: {NOWHERE} does not answer")
    assert os.environ[CONFIG_VARIABLE] == str(path)


def test_the_option_overrides_the_variable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(f"orchestrator:\n  generator_target: {NOWHERE}\n")
    monkeypatch.setenv(CONFIG_VARIABLE, "/no/where.yaml")
    ran = run_scaar("--config", str(path), "ask", "Who?")
    assert ran.err.startswith(f"scaar: {NOWHERE} does not answer")
    assert run_scaar("ask", "Who?").err == (
        "scaar: /no/where.yaml: cannot be read: No such file or directory\n"
    )


def test_the_environment_overrides_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text("orchestrator:\n  generator_target: dns:///127.0.0.1:2\n")
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_GENERATOR_TARGET", NOWHERE)
    ran = run_scaar("--config", str(path), "ask", "Who?")
    assert ran.err.startswith(f"scaar: {NOWHERE} does not answer")


@pytest.mark.parametrize("command", [("doctor",), ("up",), ("serve", "scorer"), ("index", "list")])
def test_all_invalid_settings_are_reported_in_one_line_with_their_source(
    path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    path.write_text(
        "generator:\n  threads: many\n  tempo: 1\nquery-builder: {}\nretriever: {k1: -1}\n"
    )
    monkeypatch.setenv("SCAAR_SCORER_THREADS", "none")
    monkeypatch.setenv("SCAAR_RETRIEVER_PRELOAD", "lab")
    ran = run_scaar("--config", str(path), *command)
    assert (ran.status, ran.out) == (USAGE, "")
    assert ran.err.count("\n") == 1
    assert ran.err.startswith(
        f"scaar: {path}: query-builder: is not a section; known: orchestrator,"
    )
    for wrong in (
        f"{path}: generator.threads: Input should be a valid integer",
        f"{path}: generator.tempo: is not a setting; known: address,",
        f"{path}: retriever.k1: Input should be greater",
        "SCAAR_SCORER_THREADS: Input should be a valid integer",
        "SCAAR_RETRIEVER_PRELOAD: must be JSON",
    ):
        assert f"; {wrong}" in ran.err


@pytest.mark.parametrize(
    ("service", "field", "value", "problem"),
    [
        ("query_builder", "identities_file", "/no/where.yaml", "cannot be read"),
        ("orchestrator", "gate_file", "/no/where.json", "cannot be read"),
        ("generator", "ca_file", "/no/where.pem", "requires engine tgi or openai"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_where_it_is_set(
    path: Path, service: str, field: str, value: str, problem: str
) -> None:
    path.write_text(f"{service}: {{{field}: {value}, address: '127.0.0.1:0'}}\n")
    ran = run_scaar("--config", str(path), "serve", service.replace("_", "-"))
    assert ran.status == USAGE
    assert ran.err.startswith(f"scaar: {path}: {service}.{field}: ")
    assert problem in ran.err


def test_an_address_in_use_is_reported_with_the_file(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        path.write_text(f"query_builder: {{address: '{address}'}}\n")
        ran = run_scaar("--config", str(path), "serve", "query-builder")
    advice = f"choose another with {path}: query_builder.address"
    assert ran.err == f"scaar: address {address} is already in use; {advice}\n"


def test_a_variable_that_overrides_the_file_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text("query_builder: {identities_file: /no/where.yaml}\n")
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_IDENTITIES_FILE", "/no/where.json")
    ran = run_scaar("--config", str(path), "serve", "query-builder", "--address", "127.0.0.1:0")
    assert ran.err.startswith("scaar: SCAAR_QUERY_BUILDER_IDENTITIES_FILE: ")


def test_a_file_that_is_not_yaml_is_reported_with_line_and_column(path: Path) -> None:
    path.write_text("generator:\n  threads: [1\n")
    ran = run_scaar("--config", str(path), "doctor")
    assert (ran.status, ran.out) == (USAGE, "")
    assert ran.err.startswith(f"scaar: {path}: line 3, column 1: while parsing")


def test_up_reports_every_invalid_setting_before_it_starts_a_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_GENERATOR_THREADS", "many")
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DRAIN_S", "-1")
    ran = run_scaar("up")
    assert ran.status == USAGE
    assert ran.err.startswith("scaar: SCAAR_ORCHESTRATOR_DRAIN_S: ")
    assert "; SCAAR_GENERATOR_THREADS: " in ran.err


def test_every_service_has_settings() -> None:
    assert set(read_every()) == set(ServiceName)


def test_a_scalar_in_the_place_of_a_section_is_answered_with_the_sections(path: Path) -> None:
    path.write_text("address: 127.0.0.1:50051\n")
    err = run_scaar("--config", str(path), "index", "list").err
    problem = f"is not a section of settings; sections: {', '.join(SECTIONS)}"
    assert err == f"scaar: {path}: address: {problem}\n"


def test_the_sections_are_those_of_all_settings() -> None:
    classes = [*map(settings_class, ServiceName), ChannelSecurity, BreakerSettings]
    assert sorted(SECTIONS) == sorted(section_name(cls) for cls in classes)
