"""TLS: what certificates name, where they are mounted, who shows what."""

from scaar.cli.serve.services import GRPC_SERVICES

from .rendering import NAMESPACE, Rendered, full
from .scenarios import SCENARIOS

CALLERS = ("orchestrator", "evaluator", "records")
HTTP = (full("gateway"), full("console"))


def secret_of(release: Rendered, name: str, folder: str = "tls") -> str:
    volumes = {each["name"]: each for each in release.pod(name)["spec"]["volumes"]}
    found: str = volumes[folder]["secret"]["secretName"]
    return found


def test_every_pod_of_scaars_serves_and_calls_by_tls() -> None:
    release = SCENARIOS["lab by TLS"].rendered()
    for name in map(str, GRPC_SERVICES):
        found = release.environment(name)
        prefix = f"SCAAR_{name.upper().replace('-', '_')}"
        assert found[f"{prefix}_TLS_CERT_FILE"] == "/etc/scaar/tls/tls.crt"
        assert found[f"{prefix}_TLS_CLIENT_CA_FILE"] == "/etc/scaar/tls/ca.crt"
        assert found[f"{prefix}_HEALTH_ADDRESS"] == "0.0.0.0:50050"
        assert found["SCAAR_CHANNEL_TLS"] == "true"
        assert found["SCAAR_CHANNEL_KEY_FILE"] == "/etc/scaar/tls/tls.key"
        assert secret_of(release, name) == "certificate"


def test_the_test_and_the_load_of_indexes_call_by_tls_too() -> None:
    release = SCENARIOS["lab by TLS"].rendered()
    (job,) = release.of("Job")
    for name in ("test", job["metadata"]["name"].removeprefix("films-scaar-")):
        assert release.environment(name)["SCAAR_CHANNEL_TLS"] == "true"
        assert secret_of(release, name) == "certificate"


def test_clients_present_no_certificate_unless_required() -> None:
    release = SCENARIOS["TLS without clients' certificates"].rendered()
    found = release.environment("orchestrator")
    assert "SCAAR_ORCHESTRATOR_TLS_CLIENT_CA_FILE" not in found
    assert "SCAAR_CHANNEL_CERT_FILE" not in found
    assert found["SCAAR_CHANNEL_CA_FILE"] == "/etc/scaar/tls/ca.crt"


def test_without_tls_no_object_mentions_it() -> None:
    release = SCENARIOS["lab"].rendered()
    for _, pod in release.pods():
        assert "TLS" not in str(pod)
        assert "/etc/scaar/tls" not in str(pod)


def test_cert_manager_makes_a_certificate_a_service_with_the_names_it_is_found_by() -> None:
    release = SCENARIOS["certificates of cert-manager"].rendered()
    certificates = {each["metadata"]["name"]: each["spec"] for each in release.of("Certificate")}
    for service in release.of("Service"):
        name = service["metadata"]["name"]
        if service["spec"].get("clusterIP") != "None" and name not in HTTP:
            continue
        spec = certificates[name]
        assert f"{name}.{NAMESPACE}.svc.cluster.local" in spec["dnsNames"]
        assert "localhost" in spec["dnsNames"]
        assert spec["issuerRef"] == {
            "name": "scaar",
            "kind": "ClusterIssuer",
            "group": "cert-manager.io",
        }
        assert {"server auth", "client auth"} <= set(spec["usages"])


def test_a_certificate_has_the_names_by_which_callers_outside_find_a_service() -> None:
    release = SCENARIOS["certificates of cert-manager"].rendered()
    spec = release.one("Certificate", "orchestrator")["spec"]
    exposed = full("orchestrator-exposed")
    assert spec["dnsNames"][4:] == [
        f"{exposed}.{NAMESPACE}.svc.cluster.local",
        f"{exposed}.{NAMESPACE}.svc",
        f"{exposed}.{NAMESPACE}",
        exposed,
        "localhost",
        "answers.example.org",
        "*.example.net",
    ]
    assert spec["ipAddresses"] == ["192.0.2.7"]
    evaluator = release.one("Certificate", "evaluator")["spec"]
    assert len(evaluator["dnsNames"]) == 5
    assert "ipAddresses" not in evaluator


def test_every_pod_has_its_own_certificate_from_cert_manager() -> None:
    for name in ("certificates of cert-manager", "production"):
        release = SCENARIOS[name].rendered()
        made = {each["spec"]["secretName"] for each in release.of("Certificate")}
        mounted = [
            each["secret"]["secretName"]
            for _, pod in release.pods()
            for each in pod["spec"]["volumes"]
            if each["name"] == "tls"
        ]
        assert sorted(mounted) == sorted(made)


def test_identities_are_read_where_callers_come_in() -> None:
    release = SCENARIOS["certificates of cert-manager"].rendered()
    for name in CALLERS:
        assert secret_of(release, name, "identities") == "identities"
        variable = f"SCAAR_{name.upper()}_IDENTITIES_FILE"
        assert release.environment(name)[variable] == "/etc/scaar/identities/identities.yaml"
    assert "IDENTITIES" not in str(release.pod("generator"))


def test_evaluator_workers_and_test_show_their_token() -> None:
    release = SCENARIOS["production"].rendered()
    for name in ("evaluator", "worker", "test"):
        assert secret_of(release, name, "token") == "scaar-evaluations-token"
        assert release.environment(name)["SCAAR_CHANNEL_TOKEN_FILE"] == "/etc/scaar/token/token"
    assert "scaar-evaluations-token" not in str(release.pod("orchestrator"))
