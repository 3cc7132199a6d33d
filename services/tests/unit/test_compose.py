"""deploy/compose.yaml sets what the services take, opens what has to be open, and no more."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import read_every, settings_class
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.policies.requirements import needs_scorer
from scaar.core.types import PolicyRequest
from scaar.runtime.channel_security import ChannelSecurity
from scaar.runtime.config_file import ConfigFile
from scaar.runtime.settings import Settings, variable_of

DEPLOY = Path(__file__).parents[3] / "deploy"
CONFIGURED = "/etc/scaar/config.yaml"
ENDS = {"index-lab", "migration", "records-database", "records-migration"}
"""What does its work and ends."""

UNASKED = {"worker", "collector"}
"""What no other waits for, and has nothing that could be asked for its health."""

SETTINGS: tuple[type[Settings], ...] = (
    *(settings_class(service) for service in ServiceName),
    ChannelSecurity,
)


def interpolated(node: Any) -> Any:
    """The same with the default of every variable in the place where compose puts its value."""
    match node:
        case str():
            return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", node).replace("$$", "$")
        case dict():
            return {key: interpolated(value) for key, value in node.items()}
        case list():
            return [interpolated(value) for value in node]
        case _:
            return node


FILE: dict[str, Any] = interpolated(yaml.safe_load((DEPLOY / "compose.yaml").read_text()))
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
PROFILES = ("lab", "production", "observability")


def of(profile: str) -> dict[str, dict[str, Any]]:
    return {name: each for name, each in SERVICES.items() if profile in each["profiles"]}


def environment(name: str) -> dict[str, str]:
    found: dict[str, str] = SERVICES[name].get("environment", {})
    return {variable: value for variable, value in found.items() if variable.startswith("SCAAR_")}


def secrets(name: str) -> dict[str, str]:
    """The files below /run/secrets of a service, and the secrets that they are."""
    given = SERVICES[name].get("secrets", ())
    return {
        each if isinstance(each, str) else each["target"]: (
            each if isinstance(each, str) else each["source"]
        )
        for each in given
    }


def networks(name: str) -> set[str]:
    return set(SERVICES[name].get("networks", ["default"]))


def is_ours(name: str) -> bool:
    return str(SERVICES[name]["image"]).startswith("scaar/")


every_service = pytest.mark.parametrize("name", SERVICES)


def test_a_service_is_of_one_profile() -> None:
    assert {profile for each in SERVICES.values() for profile in each["profiles"]} == {*PROFILES}
    assert all(len(each["profiles"]) == 1 for each in SERVICES.values())


@every_service
def test_its_variables_are_settings_and_their_values_are_taken(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = environment(name)
    known = {variable_of(cls, field) for cls in SETTINGS for field in cls.model_fields}
    assert set(given) <= known | {"SCAAR_CONFIG"}
    config = given.pop("SCAAR_CONFIG", None)
    for variable, value in given.items():
        assert isinstance(value, str), variable
        monkeypatch.setenv(variable, value)
    assert config in (None, CONFIGURED)
    read_every(ConfigFile.read(DEPLOY / "examples" / "production.yaml") if config else None)


@every_service
def test_no_variable_is_a_secret(name: str) -> None:
    secret = {
        variable_of(cls, field)
        for cls in SETTINGS
        for field, info in cls.model_fields.items()
        if "SecretStr" in str(info.annotation)
    }
    assert secret, SecretStr
    found = SERVICES[name].get("environment", {})
    # The URL of an SQLite file has no password.
    given = {variable for variable, value in found.items() if not value.startswith("sqlite:///")}
    assert not given & secret
    assert not [each for each in given if re.search(r"(PASSWORD|TOKEN|KEY)$", each)]


@pytest.mark.parametrize("profile", PROFILES)
def test_only_public_services_publish_a_port_on_loopback(
    profile: str,
) -> None:
    ports = [port for each in of(profile).values() for port in each.get("ports", ())]
    public = ("50051", "50056", "50057", "8090", "8091")
    open_ports = ("3000",) if profile == "observability" else public
    assert ports == [f"127.0.0.1:{port}:{port}" for port in open_ports]


@every_service
def test_it_is_contained(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid", "ipc", "devices"}
    assert re.fullmatch(r"\d+[gm]", service["mem_limit"])
    assert service["pids_limit"] > 0
    assert service["logging"]["driver"] == "local"
    assert service["restart"] == ("no" if name in ENDS else "unless-stopped")
    assert re.search(r":v?\d+\.\d+", service["image"]), "pinned"


@every_service
def test_it_tells_its_health_and_waits_for_that_of_others(name: str) -> None:
    reported = not SERVICES[name].get("healthcheck", {}).get("disable") and (
        "test" in SERVICES[name].get("healthcheck", {}) or is_ours(name)
    )
    assert reported == (name not in {*ENDS, "collector"})
    for other, how in SERVICES[name].get("depends_on", {}).items():
        assert SERVICES[other]["profiles"] == SERVICES[name]["profiles"]
        assert other not in UNASKED
        ended = "service_completed_successfully" if other in ENDS else "service_healthy"
        assert how == {"condition": ended}


@every_service
def test_what_it_is_given_from_the_folder_is_there_and_cannot_be_written(name: str) -> None:
    for volume in SERVICES[name].get("volumes", ()):
        source, _, mode = volume.split(":") if volume.count(":") == 2 else (*volume.split(":"), "")
        if source.startswith("./models/"):
            assert mode == "ro"
        elif source.startswith("."):
            assert mode == "ro"
            assert (DEPLOY / source).exists()
        else:
            assert source in FILE["volumes"]


def test_every_secret_is_a_file_that_a_service_has() -> None:
    for name, secret in FILE["secrets"].items():
        assert secret == {"file": f"./secrets/{name}"}
    had = {secret for name in SERVICES for secret in secrets(name).values()}
    assert had == set(FILE["secrets"])


@pytest.mark.parametrize("service", ServiceName)
def test_a_service_of_production_has_the_files_that_its_settings_name(
    service: ServiceName, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in environment(service).items():
        monkeypatch.setenv(variable, value)
    config = ConfigFile.read(DEPLOY / "examples" / "production.yaml")
    settings = [read_every(config)[service], ChannelSecurity.read(config)]
    named = [path for each in settings for path in re.findall(r"'(/run/[^']+)'", str(each))]
    assert {path.removeprefix("/run/secrets/") for path in named} == set(secrets(service))


def test_every_certificate_has_its_own_key() -> None:
    keys = [
        (secret, name)
        for name in SERVICES
        for secret in secrets(name).values()
        if secret.endswith(".key")
    ]
    assert keys == [(f"{name}.key", name) for _, name in keys]
    assert {name for _, name in keys} >= {*ServiceName, "worker", "triton", "redis"}


def test_a_server_of_production_shares_a_network_with_those_who_ask_it_alone() -> None:
    for network, settings in FILE["networks"].items():
        if network != "default":
            assert settings == {"internal": True}
    beside = {
        name: {
            other
            for other in of("production")
            if networks(other) & networks(name) and other != name
        }
        for name in of("production")
        if not is_ours(name)
    }
    asking = {"evaluator", "worker", "migration"}
    recording = {"orchestrator", "records", "records-migration"}
    assert beside == {
        "tgi": {"generator"},
        "triton": {"scorer"},
        "opensearch": {"retriever"},
        "postgresql": {*asking, *recording, "records-database", "redis"},
        "records-database": {*recording, "postgresql"},
        "redis": {*asking, "postgresql"},
    }


class Overriding(yaml.SafeLoader):
    """Reads the tags with which a file for compose replaces or removes what it is laid over."""


Overriding.add_constructor("!reset", lambda loader, node: None)
Overriding.add_constructor(
    "!override", lambda loader, node: loader.construct_mapping(node, deep=True)
)


def test_vllm_takes_the_place_of_tgi(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DEPLOY / "compose.vllm.yaml").read_text()
    over = interpolated(yaml.load(text, Overriding))["services"]
    assert over.pop("tgi", "kept") is None
    vllm, generator = over.pop("vllm"), over.pop("generator")
    assert not over
    values = yaml.safe_load((DEPLOY.parent / "helm" / "scaar" / "values.yaml").read_text())
    assert vllm["image"] == values["vllm"]["image"]
    own = {"image", "command", "environment", "shm_size", "healthcheck"}
    assert vllm.keys() == SERVICES["tgi"].keys()
    assert {key: vllm[key] for key in vllm.keys() - own} == {
        key: SERVICES["tgi"][key] for key in vllm.keys() - own
    }
    assert generator["depends_on"] == {"vllm": SERVICES["generator"]["depends_on"]["tgi"]}
    for variable, value in {**environment("generator"), **generator["environment"]}.items():
        monkeypatch.setenv(variable, value)
    config = ConfigFile.read(DEPLOY / "examples" / "production.yaml")
    settings = read_every(config)[ServiceName.GENERATOR]
    assert (settings.engine, settings.url) == ("openai", "http://vllm:8080")  # type: ignore[attr-defined]


def test_a_gguf_file_takes_the_place_of_the_labs_model(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (DEPLOY / "compose.llama-cpp.yaml").read_text()
    over = interpolated(yaml.load(text, Overriding))
    services = over["services"]
    assert services.pop("tgi-lab", "kept") is None
    model, generator = services.pop("model-lab"), services.pop("generator-lab")
    orchestrator = services.pop("orchestrator-lab")
    assert not services
    assert over["volumes"].keys().isdisjoint(FILE["volumes"])
    contained = SERVICES["index-lab"]
    own = {"image", "command", "volumes", "mem_limit", "depends_on"}
    assert model.keys() | {"depends_on"} == contained.keys() | {"volumes"}
    assert {key: model[key] for key in model.keys() - own} == {
        key: contained[key] for key in model.keys() - own
    }
    assert model["image"] == SERVICES["generator-lab"]["image"]
    assert generator["volumes"] == model["volumes"]
    assert generator["depends_on"] == {"model-lab": {"condition": "service_completed_successfully"}}
    for variable in environment("generator-lab").keys() & generator["environment"].keys():
        if not variable.endswith(("ENGINE", "MODEL")):
            assert generator["environment"][variable] == environment("generator-lab")[variable]
    for variable, value in {**generator["environment"], **orchestrator["environment"]}.items():
        monkeypatch.setenv(variable, value)
    settings = read_every(None)[ServiceName.GENERATOR]
    assert settings.engine == "llama_cpp"  # type: ignore[attr-defined]
    assert model["command"][2] == settings.model  # type: ignore[attr-defined]
    policy = read_every(None)[ServiceName.ORCHESTRATOR].default_policy  # type: ignore[attr-defined]
    assert not needs_scorer(TunedPolicies(()).resolve(PolicyRequest(policy)))


@pytest.mark.parametrize("profile", ["lab", "production"])
def test_metrics_are_where_prometheus_looks_for_them(profile: str) -> None:
    for service in ServiceName:
        name = f"{service}-lab" if profile == "lab" else service.value
        variable = service.upper().replace("-", "_")
        assert environment(name)[f"SCAAR_{variable}_METRICS_ADDRESS"] == "0.0.0.0:9464"
        if profile == "lab":
            assert SERVICES[name]["networks"] == {"default": {"aliases": [service.value]}}
        else:
            assert "default" in networks(name)


def test_workers_are_where_prometheus_looks_for_them() -> None:
    config = yaml.safe_load((DEPLOY / "observability" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    assert found == {"names": ["worker"], "type": "A", "port": 9464}
    assert environment("worker")["SCAAR_EVALUATOR_METRICS_ADDRESS"] == "0.0.0.0:9464"
    assert "default" in networks("worker")


def test_a_service_has_the_time_to_stop_that_its_settings_give_it() -> None:
    config = ConfigFile.read(DEPLOY / "examples" / "production.yaml")
    for service, settings in read_every(config).items():
        reported = SERVICES[service].get("stop_grace_period", "10s")
        assert int(reported.removesuffix("s")) > settings.drain_s + settings.stop_grace_s
