"""The configurations that deploy/examples offers are ones that the services take."""

from pathlib import Path

import pytest

from scaar.cli.serve.services import ServiceName
from scaar.cli.settings import read_every
from scaar.runtime.config_file import ConfigFile
from scaar.runtime.settings import ServiceSettings

EXAMPLES = Path(__file__).parents[3] / "deploy" / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.name)
def test_an_example_has_settings_that_are_taken(path: Path) -> None:
    settings = read_every(ConfigFile.read(path))
    assert all(settings[service].model_fields_set for service in ServiceName)


def test_production_runs_on_the_servers_of_production() -> None:
    settings = read_every(ConfigFile.read(EXAMPLES / "production.yaml"))
    engines = {name: settings[name].model_dump().get("engine") for name in ServiceName}
    assert engines[ServiceName.GENERATOR] == "tgi"
    assert engines[ServiceName.SCORER] == "triton"
    assert engines[ServiceName.RETRIEVER] == "opensearch"


def test_production_is_by_tls_both_ways_and_tells_its_contract_to_nobody() -> None:
    every = read_every(ConfigFile.read(EXAMPLES / "production.yaml"))
    for settings in every.values():
        assert settings.tls_cert_file
        if isinstance(settings, ServiceSettings):
            assert settings.tls_client_ca_file
            assert not settings.reflection


def test_productions_gateway_asks_for_tokens_because_it_asks_for_no_certificates() -> None:
    settings = read_every(ConfigFile.read(EXAMPLES / "production.yaml"))[ServiceName.GATEWAY]
    assert settings.model_dump()["require_token"] is True


def test_production_accepts_as_many_calls_as_its_generations_and_its_queue_need() -> None:
    every = read_every(ConfigFile.read(EXAMPLES / "production.yaml"))
    generator = every[ServiceName.GENERATOR].model_dump()
    orchestrator = every[ServiceName.ORCHESTRATOR].model_dump()
    assert generator["max_concurrent_calls"] >= 2 * generator["max_concurrent"]
    answers = generator["max_concurrent"] + orchestrator["max_queued_answers"]
    assert orchestrator["max_concurrent_calls"] >= answers
