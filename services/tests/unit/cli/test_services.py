import re
import tomllib
from pathlib import Path

import pytest

from scaar.cli.serve.installed import OPTIONAL_LIBRARIES
from scaar.cli.serve.services import (
    BACK_ENDS,
    GRPC_SERVICES,
    ServiceName,
    default_address,
    full_name,
)
from scaar.cli.serve.up_plan import UpPlan
from scaar.console.settings import ConsoleSettings
from scaar.gateway.settings import GatewaySettings
from scaar.testing.commands import run_scaar
from scaar.wire import (
    evaluator,
    generator,
    orchestrator,
    query_builder,
    records,
    retriever,
    scorer,
)

CONTRACT = {
    ServiceName.ORCHESTRATOR: orchestrator.SERVICE_NAME,
    ServiceName.GENERATOR: generator.SERVICE_NAME,
    ServiceName.SCORER: scorer.SERVICE_NAME,
    ServiceName.QUERY_BUILDER: query_builder.SERVICE_NAME,
    ServiceName.RETRIEVER: retriever.SERVICE_NAME,
    ServiceName.EVALUATOR: evaluator.SERVICE_NAME,
    ServiceName.RECORDS: records.SERVICE_NAME,
}


@pytest.mark.parametrize("service", GRPC_SERVICES)
def test_a_service_is_called_as_in_the_contract(service: ServiceName) -> None:
    assert full_name(service) == CONTRACT[service]


def test_every_service_has_its_own_port_on_loopback() -> None:
    addresses = [default_address(service, 50051) for service in GRPC_SERVICES]
    assert default_address(ServiceName.GATEWAY) == "127.0.0.1:8090"
    assert default_address(ServiceName.CONSOLE) == "127.0.0.1:8091"
    assert addresses[0] == default_address(ServiceName.ORCHESTRATOR) == "127.0.0.1:50051"
    assert addresses == [f"127.0.0.1:{port}" for port in range(50051, 50058)]


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (("--gateway-port", "50051"), "--gateway-port: must not be 50051, the port of the orche"),
        (("--processes", "--gateway-port", "50055"), "must not be 50055, the port of the retri"),
        (("--console-port", "8090"), "--console-port: must not be 8090, the port of the gateway"),
    ],
)
def test_up_rejects_a_port_of_two_services(ports: tuple[str, str], message: str) -> None:
    ran = run_scaar("up", *ports)
    assert (ran.status, ran.out) == (2, "")
    assert message in ran.err


def test_the_urls_of_up_use_tls_where_there_is_a_certificate(tmp_path: Path) -> None:
    settings = {
        ServiceName.GATEWAY: GatewaySettings(tls_cert_file=tmp_path / "gateway.pem"),
        ServiceName.CONSOLE: ConsoleSettings(),
    }
    addresses = dict.fromkeys(settings, "127.0.0.1:1") | {ServiceName.RECORDS: "127.0.0.1:2"}
    assert UpPlan(tuple(addresses), addresses, settings).urls == {
        ServiceName.GATEWAY: "https://127.0.0.1:1",
        ServiceName.CONSOLE: "http://127.0.0.1:1",
    }


def test_the_back_ends_are_the_services_that_an_orchestrator_calls() -> None:
    others = {ServiceName.ORCHESTRATOR, ServiceName.EVALUATOR, ServiceName.RECORDS}
    assert {*BACK_ENDS, *others} == set(GRPC_SERVICES)
    assert len(BACK_ENDS) == 4


def test_the_libraries_of_optional_services_are_those_of_their_extras() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())
    for service, libraries in OPTIONAL_LIBRARIES.items():
        extra = pyproject["project"]["optional-dependencies"][service]
        names = {re.split(r"[<>=\[]", each)[0].lower().replace("-", "_") for each in extra}
        assert names - {"scaar"} == set(libraries)
