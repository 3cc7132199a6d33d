"""The gateway: HTTP in front of the orchestrator, reached from inside and outside the cluster."""

import json

import pytest

from scaar.cli.serve.services import GATEWAY_PORT

from .rendering import NAMESPACE, Object, Rendered, full
from .scenarios import INGRESS, SCENARIOS, Scenario
from .test_network import called, outside, policy, ports

URL = f"http://{full('gateway')}.{NAMESPACE}.svc.cluster.local:{GATEWAY_PORT}"


def has_gateway(release: Rendered) -> bool:
    return "gateway" in release.names("Deployment")


def container(release: Rendered, name: str = "gateway") -> Object:
    (found,) = release.pod(name)["spec"]["containers"]
    return dict(found)


def allowed_hosts(scenario: str) -> list[str]:
    found = SCENARIOS[scenario].rendered().environment("gateway")
    return list(json.loads(found["SCAAR_GATEWAY_ALLOWED_HOSTS"]))


def test_its_service_has_an_address_and_serves_http(release: Rendered) -> None:
    if not has_gateway(release):
        return
    found = release.one("Service", "gateway")["spec"]
    assert "clusterIP" not in found
    http = {"name": "http", "port": GATEWAY_PORT, "targetPort": "http"}
    assert http in found["ports"]
    assert {"name": "http", "containerPort": GATEWAY_PORT} in container(release)["ports"]


def test_probes_ask_for_health_by_http_or_by_https_with_a_certificate(release: Rendered) -> None:
    if not has_gateway(release):
        return
    by_tls = "SCAAR_GATEWAY_TLS_CERT_FILE" in release.environment("gateway")
    scheme = "HTTPS" if by_tls else "HTTP"
    paths = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for probe, path in paths.items():
        expected = {"path": path, "port": "http", "scheme": scheme}
        assert container(release)[probe]["httpGet"] == expected


def test_it_is_told_nothing_about_grpc_servers() -> None:
    found = SCENARIOS["production"].rendered().environment("gateway")
    assert found["SCAAR_GATEWAY_TLS_CERT_FILE"] == "/etc/scaar/tls/tls.crt"
    assert not {"SCAAR_GATEWAY_HEALTH_ADDRESS", "SCAAR_GATEWAY_TLS_CLIENT_CA_FILE"} & set(found)
    assert "SCAAR_CHANNEL_TOKEN_FILE" not in found
    assert found["SCAAR_CHANNEL_CERT_FILE"] == "/etc/scaar/tls/tls.crt"


def test_it_requires_tokens_where_the_orchestrator_knows_its_callers() -> None:
    known = SCENARIOS["production"].rendered().environment("gateway")
    assert known["SCAAR_GATEWAY_REQUIRE_TOKEN"] == "true"
    assert "SCAAR_GATEWAY_REQUIRE_TOKEN" not in SCENARIOS["lab"].rendered().environment("gateway")


def test_it_calls_the_orchestrator_alone(release: Rendered) -> None:
    if not has_gateway(release) or not release.of("NetworkPolicy"):
        return
    assert called(release, "gateway") == {("orchestrator", 50051)}
    assert outside(release, "gateway") == set()


def test_its_callers_are_the_clients_and_those_by_http_alone() -> None:
    release = SCENARIOS["gateway behind an ingress controller"].rendered()
    (rule,) = [each for each in policy(release, "gateway")["ingress"] if ports(each) == {8090}]
    controller = {"namespaceSelector": {"matchLabels": INGRESS}}
    everybody = {"podSelector": {}}
    assert rule["from"][1:] == [everybody, controller]
    assert controller not in [
        peer for each in policy(release, "orchestrator")["ingress"] for peer in each["from"]
    ]


def test_an_ingress_leads_every_path_of_its_hosts_to_the_gateway() -> None:
    release = SCENARIOS["gateway behind an ingress controller"].rendered()
    found = release.one("Ingress", "gateway")
    buffering = {"nginx.ingress.kubernetes.io/proxy-buffering": "off"}
    assert found["metadata"]["annotations"] == buffering
    spec, hosts = found["spec"], ["scaar.example.org", "*.example.net"]
    assert spec["ingressClassName"] == "nginx"
    assert spec["tls"] == [{"secretName": "scaar-example-org", "hosts": hosts}]
    assert [rule["host"] for rule in spec["rules"]] == hosts
    for rule in spec["rules"]:
        (path,) = rule["http"]["paths"]
        assert (path["path"], path["pathType"]) == ("/", "Prefix")
        assert path["backend"]["service"] == {"name": full("gateway"), "port": {"name": "http"}}


def test_an_ingress_without_hosts_is_for_all() -> None:
    release = SCENARIOS["gateway behind an ingress controller for every host"].rendered()
    spec = release.one("Ingress", "gateway")["spec"]
    (rule,) = spec["rules"]
    assert "host" not in rule
    assert not {"tls", "ingressClassName"} & set(spec)


def test_routes_lead_http_to_the_gateway_and_grpc_to_the_orchestrator() -> None:
    release = SCENARIOS["routes of the Gateway API"].rendered()
    http = release.one("HTTPRoute", "gateway")
    assert http["metadata"]["annotations"] == {"example.com/note": "x"}
    assert http["spec"]["parentRefs"] == [{"name": "public", "namespace": "gateways"}]
    assert http["spec"]["hostnames"] == ["scaar.example.org"]
    (rule,) = http["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": full("gateway"), "port": 8090}]
    assert rule["timeouts"] == {"request": "90s"}
    grpc = release.one("GRPCRoute", "orchestrator")["spec"]
    assert grpc["hostnames"] == ["grpc.example.org"]
    (rule,) = grpc["rules"]
    assert rule["backendRefs"] == [{"name": full("orchestrator"), "port": 50051}]


def test_a_grpc_route_leads_to_the_exposed_service_if_there_is_one() -> None:
    release = SCENARIOS["routes for every host, to exposed services"].rendered()
    (rule,) = release.one("GRPCRoute", "orchestrator")["spec"]["rules"]
    assert rule["backendRefs"] == [{"name": full("orchestrator-exposed"), "port": 8443}]
    http = release.one("HTTPRoute", "gateway")["spec"]
    assert not {"hostnames"} & set(http)
    assert "timeouts" not in http["rules"][0]


def test_targets_of_routes_are_ports_of_services(release: Rendered) -> None:
    there = {
        (each["metadata"]["name"], port["port"])
        for each in release.of("Service")
        for port in each["spec"]["ports"]
    }
    for each in release.of("HTTPRoute") + release.of("GRPCRoute"):
        for rule in each["spec"]["rules"]:
            assert {(one["name"], one["port"]) for one in rule["backendRefs"]} <= there


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        ("lab", []),
        ("reached from outside", ["http.example.org"]),
        ("gateway behind an ingress controller", ["scaar.example.org", "*.example.net"]),
        ("routes of the Gateway API", ["scaar.example.org"]),
    ],
)
def test_clients_may_use_the_names_by_which_the_gateway_is_found(
    scenario: str, names: list[str]
) -> None:
    services = ["gateway", "gateway-exposed"] if scenario == "reached from outside" else ["gateway"]
    here = [
        f"{full(service)}{suffix}"
        for service in services
        for suffix in (
            f".{NAMESPACE}.svc.cluster.local",
            f".{NAMESPACE}.svc",
            f".{NAMESPACE}",
            "",
        )
    ]
    assert allowed_hosts(scenario) == [*here, *names]


@pytest.mark.parametrize(
    "scenario",
    [
        "gateway behind an ingress controller for every host",
        "routes for every host, to exposed services",
    ],
)
def test_a_gateway_for_every_host_restricts_no_names(scenario: str) -> None:
    found = SCENARIOS[scenario].rendered().environment("gateway")
    assert "SCAAR_GATEWAY_ALLOWED_HOSTS" not in found


@pytest.mark.parametrize(("type_", "restricted"), [("LoadBalancer", False), ("ClusterIP", True)])
def test_a_gateway_exposed_to_unknown_names_restricts_none(type_: str, restricted: bool) -> None:
    values = {"gateway": {"expose": {"enabled": True, "type": type_}}}
    found = Scenario(values).rendered().environment("gateway")
    assert ("SCAAR_GATEWAY_ALLOWED_HOSTS" in found) is restricted


def test_settings_replace_the_names_of_the_chart() -> None:
    values = {"gateway": {"settings": {"allowed_hosts": ["*"]}}}
    found = Scenario(values).rendered().environment("gateway")
    assert found["SCAAR_GATEWAY_ALLOWED_HOSTS"] == '["*"]'


def test_an_exposed_gateway_is_an_additional_service_by_http() -> None:
    release = SCENARIOS["reached from outside"].rendered()
    spec = release.one("Service", "gateway-exposed")["spec"]
    assert spec["type"] == "NodePort"
    assert spec["ports"] == [{"name": "http", "port": 443, "targetPort": "http"}]


def test_keda_scales_it_by_requests_in_progress() -> None:
    release = SCENARIOS["scaled by KEDA"].rendered()
    (trigger,) = release.one("ScaledObject", "gateway")["spec"]["triggers"]
    labels = f'namespace="{NAMESPACE}",service="{full("gateway")}"'
    expected = f"sum(scaar_http_in_progress{{{labels}}})"
    assert trigger["metadata"]["query"] == expected


def test_helm_test_asks_whether_it_is_ready() -> None:
    release = SCENARIOS["lab"].rendered()
    annotations = release.one("Pod", "test-gateway")["metadata"]["annotations"]
    assert annotations["helm.sh/hook"] == "test"
    asking = container(release, "test-gateway")
    assert asking["command"] == ["python", "-m", "scaar.runtime.probe"]
    assert asking["args"] == [f"{URL}/readyz"]
    secured = container(SCENARIOS["lab by TLS"].rendered(), "test-gateway")
    assert secured["args"] == [f"{URL.replace('http', 'https', 1)}/readyz"]


def test_without_it_nothing_is_left_of_it() -> None:
    release = SCENARIOS["no gateway"].rendered()
    named = [each["metadata"]["name"] for each in release.objects]
    assert not [each for each in named if "gateway" in each]
