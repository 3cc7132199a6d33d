from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from scaar.console.settings import ConsoleSettings
from scaar.core.errors import InvalidRequest
from scaar.evaluator.settings import EvaluatorSettings
from scaar.gateway.settings import GatewaySettings
from scaar.orchestrator.settings import OrchestratorSettings
from scaar.runtime.config_file import CONFIG_VARIABLE, ConfigFile
from scaar.runtime.settings import (
    ProcessSettings,
    ServiceSettings,
    section_name,
    settings_of,
    variable_of,
)
from scaar.scorer.settings import ScorerSettings


class ExampleSettings(ServiceSettings):
    model_config = settings_of("query_builder")

    threads: int = 2
    names: tuple[str, ...] = ()


def file(**fields: object) -> ConfigFile:
    return ConfigFile(Path("scaar.yaml"), {"query_builder": fields, "scorer": {"threads": 9}})


def refused(config: ConfigFile | None = None, **flags: Any) -> list[str]:
    with pytest.raises(InvalidRequest) as caught:
        ExampleSettings.read(config, **flags)
    return [violation.field for violation in caught.value.violations]


def test_flags_go_over_the_environment_over_the_file_over_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ExampleSettings.read().threads == 2
    assert ExampleSettings.read(file(threads=3)).threads == 3
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_THREADS", "4")
    assert ExampleSettings.read(file(threads=3)).threads == 4
    assert ExampleSettings.read(file(threads=3), threads=5).threads == 5
    assert ExampleSettings.read(file(threads=3), threads=None).threads == 4


def test_the_file_is_the_one_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scaar.yaml"
    path.write_text("query_builder:\n  threads: 7\n  names: [a, b]\n")
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    settings = ExampleSettings.read()
    assert (settings.threads, settings.names) == (7, ("a", "b"))


def test_explicit_values_differ_from_defaults() -> None:
    assert ExampleSettings.read(address="a:1").model_fields_set == {"address"}
    assert ExampleSettings.read(file(address="a:1")).model_fields_set == {"address"}


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        ExampleSettings().threads = 3


def test_the_constructor_reads_no_other_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_THREADS", "4")
    assert ExampleSettings().threads == 2


def test_every_error_is_named_with_its_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_NAMES", "a, b")
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_DRAIN_S", "-1")
    assert refused(file(names=["a", 1], thread=1), max_call_s=0, generator_target="x") == [
        "scaar.yaml: query_builder.names[1]",
        "scaar.yaml: query_builder.thread",
        "SCAAR_QUERY_BUILDER_NAMES",
        "SCAAR_QUERY_BUILDER_DRAIN_S",
        "--max-call-s",
        "--generator",
    ]


def test_an_invalid_setting_is_named_even_if_overridden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_THREADS", "4")
    assert refused(file(threads="many")) == ["scaar.yaml: query_builder.threads"]
    assert refused(file(threads="many"), threads="few") == [
        "scaar.yaml: query_builder.threads",
        "--threads",
    ]


def test_an_unknown_setting_is_reported_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidRequest, match=r"is not a setting; known: address, drain_s, health_address"
    ):
        ExampleSettings.read(file(thread=1))


def test_variables_of_container_platforms_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_SERVICE_HOST", "10.0.0.1")
    assert ExampleSettings.read().threads == 2


def test_an_empty_variable_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("THREADS", "NAMES", "OTLP_ENDPOINT"):
        monkeypatch.setenv(f"SCAAR_QUERY_BUILDER_{name}", "")
    settings = ExampleSettings.read(file(threads=3))
    assert (settings.threads, settings.names, settings.otlp_endpoint) == (3, (), None)


def test_a_section_has_the_name_of_the_service() -> None:
    assert section_name(ExampleSettings) == "query_builder"


@pytest.mark.parametrize(
    ("cls", "field", "target"),
    [
        *((OrchestratorSettings, f"{each}_target", "host") for each in ("scorer", "retriever")),
        (EvaluatorSettings, "orchestrator_target", "nowhere"),
        (ScorerSettings, "triton_target", "triton"),
        (GatewaySettings, "orchestrator_target", "embedded"),
        (ConsoleSettings, "records_target", "host"),
    ],
)
def test_a_target_without_a_port_is_named_with_its_source(
    monkeypatch: pytest.MonkeyPatch, cls: type[ProcessSettings], field: str, target: str
) -> None:
    variable = variable_of(cls, field)
    monkeypatch.setenv(variable, target)
    with pytest.raises(InvalidRequest) as caught:
        cls.read()
    text = f"{variable}: must have a port, unlike {target!r}: write dns:///{target}:PORT"
    assert caught.value.message == text


@pytest.mark.parametrize(
    ("field", "valid", "invalid"),
    [
        ("default_index", "acme-docs", "Acme docs"),
        ("allowed_origins", ("https://app.example.com", "http://a:3000", "*"), ("app.example",)),
        ("allowed_origins", ("null", "chrome-extension://abc"), ("https://app.example.com/",)),
        ("allowed_hosts", ("scaar.example.com:*", "[::1]:8090", "*"), ("https://a.example.com",)),
        ("allowed_hosts", ("scaar-1.example.com:8443", "*.example.com", "gate_way"), ("a@b",)),
    ],
)
def test_names_that_no_request_of_the_gateway_can_have_are_rejected(
    field: str, valid: object, invalid: object
) -> None:
    assert getattr(GatewaySettings.read(**{field: valid}), field) == valid
    with pytest.raises(InvalidRequest, match=f"--{field.replace('_', '-')}: "):
        GatewaySettings.read(**{field: invalid})


@pytest.mark.parametrize("field", ["address", "health_address", "metrics_address"])
def test_an_invalid_address_is_named_with_its_source(
    monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    assert getattr(ExampleSettings.read(**{field: "[::1]:9464"}), field) == "[::1]:9464"
    variable = variable_of(ExampleSettings, field)
    for address in ("9464", "host:port", "127.0.0.1:70000"):
        monkeypatch.setenv(variable, address)
        with pytest.raises(InvalidRequest) as caught:
            ExampleSettings.read()
        assert caught.value.message == f"{variable}: must be host:port, not {address!r}"


@pytest.mark.parametrize("cls", [GatewaySettings, ConsoleSettings])
def test_only_the_servers_of_grpc_listen_on_unix_sockets(cls: type[ProcessSettings]) -> None:
    address = "unix:/run/scaar"
    assert ExampleSettings.read(address=address).address == address
    with pytest.raises(InvalidRequest, match=f"--address: must be host:port, not '{address}'"):
        cls.read(address=address)


def test_a_url_of_traces_without_the_id_of_the_trace_is_rejected() -> None:
    url = "https://traces.example.com/{trace_id}?all"
    assert ConsoleSettings.read(trace_url=url).trace_url == url
    with pytest.raises(InvalidRequest, match="--trace-url: "):
        ConsoleSettings.read(trace_url="https://traces.example.com/")


def test_targets_that_stand_for_no_channel_are_valid() -> None:
    assert OrchestratorSettings.read(scorer_target="embedded").scorer_target == "embedded"
    assert ConsoleSettings(records_target="").records_target == ""
