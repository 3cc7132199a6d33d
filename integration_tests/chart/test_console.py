"""The console: pages over the services, reached like the gateway."""

from scaar.cli.serve.services import CONSOLE_PORT

from .rendering import NAMESPACE, full
from .scenarios import INGRESS, SCENARIOS
from .test_gateway import container
from .test_network import called, outside, policy, ports

URL = f"http://{full('console')}.{NAMESPACE}.svc.cluster.local:{CONSOLE_PORT}"


def test_its_service_has_an_address_and_serves_http() -> None:
    release = SCENARIOS["lab"].rendered()
    found = release.one("Service", "console")["spec"]
    assert "clusterIP" not in found
    assert {"name": "http", "port": CONSOLE_PORT, "targetPort": "http"} in found["ports"]
    http = {"name": "http", "containerPort": CONSOLE_PORT}
    assert http in container(release, "console")["ports"]


def test_probes_ask_for_health_by_http_or_by_https_with_a_certificate() -> None:
    for scenario, scheme in (("lab", "HTTP"), ("production", "HTTPS")):
        probed = container(SCENARIOS[scenario].rendered(), "console")
        expected = {"path": "/readyz", "port": "http", "scheme": scheme}
        assert probed["readinessProbe"]["httpGet"] == expected


def test_it_calls_the_services_that_the_release_has() -> None:
    release = SCENARIOS["lab"].rendered()
    services = {("orchestrator", 50051), ("evaluator", 50056), ("records", 50057)}
    assert called(release, "console") == services
    assert outside(release, "console") == set()
    alone = SCENARIOS["console behind an ingress controller"].rendered()
    assert "SCAAR_CONSOLE_RECORDS_TARGET" not in alone.environment("console")


def test_it_requires_tokens_where_the_services_know_their_callers() -> None:
    known = SCENARIOS["production"].rendered().environment("console")
    assert known["SCAAR_CONSOLE_REQUIRE_TOKEN"] == "true"
    assert "SCAAR_CHANNEL_TOKEN_FILE" not in known
    assert "SCAAR_CONSOLE_REQUIRE_TOKEN" not in SCENARIOS["lab"].rendered().environment("console")


def test_it_has_an_ingress_and_a_route_only_if_enabled() -> None:
    assert not SCENARIOS["lab"].rendered().of("Ingress")
    release = SCENARIOS["console behind an ingress controller"].rendered()
    (rule,) = release.one("Ingress", "console")["spec"]["rules"]
    assert rule["host"] == "console.example.org"
    (rule,) = release.one("HTTPRoute", "console")["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": full("console"), "port": CONSOLE_PORT}]
    (let_in,) = [each for each in policy(release, "console")["ingress"] if ports(each) == {8091}]
    assert {"namespaceSelector": {"matchLabels": INGRESS}} in let_in["from"]


def test_keda_scales_it_by_requests_in_progress() -> None:
    release = SCENARIOS["scaled by KEDA"].rendered()
    (trigger,) = release.one("ScaledObject", "console")["spec"]["triggers"]
    assert f'service="{full("console")}"' in trigger["metadata"]["query"]


def test_helm_test_asks_whether_it_is_ready() -> None:
    asking = container(SCENARIOS["lab"].rendered(), "test-console")
    assert asking["command"] == ["python", "-m", "scaar.runtime.probe"]
    assert asking["args"] == [f"{URL}/readyz"]
