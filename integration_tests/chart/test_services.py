"""Services are found, probed and ended as scaar's own servers need it, and take their settings."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from scaar import __version__
from scaar.cli.serve.services import GRPC_SERVICES, ServiceName, default_address, full_name
from scaar.cli.settings import settings_class
from scaar.runtime.channel_security import ChannelSecurity

from .differences import BACK_ENDS
from .rendering import CHART, NAMESPACE, Rendered, full, render, run_helm
from .scenarios import SCENARIOS, Scenario

DOCKERFILE = Path(__file__).parents[2] / "deploy" / "Dockerfile"
OWN = {str(service) for service in ServiceName}


def served(release: Rendered) -> list[ServiceName]:
    return [service for service in ServiceName if str(service) in release.names("Deployment")]


def served_by_grpc(release: Rendered) -> list[ServiceName]:
    return [service for service in served(release) if service in GRPC_SERVICES]


def test_every_service_is_a_deployment_behind_a_headless_service(release: Rendered) -> None:
    for service in served_by_grpc(release):
        port = int(default_address(service).rpartition(":")[2])
        found = release.one("Service", service)["spec"]
        assert found["clusterIP"] == "None"
        assert {"name": "grpc", "port": port, "targetPort": "grpc"} in found["ports"]
        pod = release.pod(service)
        assert found["selector"].items() <= pod["metadata"]["labels"].items()
        ports = {
            each["name"]: each["containerPort"] for each in pod["spec"]["containers"][0]["ports"]
        }
        assert ports["grpc"] == port


def test_selectors_choose_the_pods_of_one_part(release: Rendered) -> None:
    for kind in ("Deployment", "PodDisruptionBudget"):
        chosen = [
            tuple(sorted(each["spec"]["selector"]["matchLabels"].items()))
            for each in release.of(kind)
        ]
        assert len(chosen) == len(set(chosen))


def test_targets_are_existing_services(release: Rendered) -> None:
    ports = {
        each["metadata"]["name"]: {port["port"] for port in each["spec"]["ports"]}
        for each in release.of("Service")
    }
    for owner, _ in release.pods():
        name = owner["metadata"]["name"].removeprefix(full() + "-")
        if owner["kind"] != "Deployment":
            continue
        for variable, value in release.environment(name).items():
            if variable == "SCAAR_GATEWAY_ALLOWED_HOSTS":
                continue
            inside = rf"(?:dns:///|http://)([a-z-]+)\.{NAMESPACE}\.svc\.cluster\.local:(\d+)"
            if found := re.fullmatch(inside, value):
                assert int(found[2]) in ports[found[1]]
            else:
                assert NAMESPACE not in value


def test_an_orchestrator_calls_services_by_grpc_and_dns() -> None:
    found = SCENARIOS["lab"].rendered().environment("orchestrator")
    here = f"{NAMESPACE}.svc.cluster.local"
    assert {key: value for key, value in found.items() if key.endswith("_TARGET")} == {
        "SCAAR_ORCHESTRATOR_GENERATOR_TARGET": f"dns:///films-scaar-generator.{here}:50052",
        "SCAAR_ORCHESTRATOR_SCORER_TARGET": f"dns:///films-scaar-scorer.{here}:50053",
        "SCAAR_ORCHESTRATOR_QUERY_BUILDER_TARGET": f"dns:///films-scaar-query-builder.{here}:50054",
        "SCAAR_ORCHESTRATOR_RETRIEVER_TARGET": f"dns:///films-scaar-retriever.{here}:50055",
    }


def test_the_query_builder_is_a_service_or_a_part_of_the_orchestrator() -> None:
    release = SCENARIOS["query builder embedded"].rendered()
    assert "query-builder" not in release.names("Deployment") | release.names("Service")
    found = release.environment("orchestrator")["SCAAR_ORCHESTRATOR_QUERY_BUILDER_TARGET"]
    assert found == "embedded"


def test_services_take_every_setting_that_they_are_given(
    release: Rendered, monkeypatch: pytest.MonkeyPatch
) -> None:
    for service in [
        *served(release),
        *(["worker"] if "worker" in release.names("Deployment") else []),
    ]:
        given = release.environment(service)
        own = ServiceName.EVALUATOR if service == "worker" else ServiceName(service)
        with monkeypatch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            for cls in (settings_class(own), ChannelSecurity):
                read = cls.read()
                prefix = cls.model_config["env_prefix"]
                fields = {
                    name.removeprefix(prefix).lower() for name in given if name.startswith(prefix)
                }
                # A variable that is no setting would be passed over in silence.
                assert fields <= set(cls.model_fields)
                assert fields == read.model_fields_set


def test_settings_arrive_as_they_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        SCENARIOS["everything of a part"].rendered().environment("generator").items()
    ):
        if value:
            monkeypatch.setenv(name, value)
    read = settings_class(ServiceName.GENERATOR).read()
    assert read.max_concurrent == 1000
    assert read.recommended == {"flare": {"theta": 0.5}}


def test_large_numbers_are_written_out() -> None:
    rendered = Scenario({"scorer": {"settings": {"cache_entries": 10_000_000}}}).rendered()
    assert rendered.environment("scorer")["SCAAR_SCORER_CACHE_ENTRIES"] == "10000000"


def test_probes_ask_for_health_by_grpc(release: Rendered) -> None:
    for service in served_by_grpc(release):
        (container,) = release.pod(service)["spec"]["containers"]
        ports = {each["name"]: each["containerPort"] for each in container["ports"]}
        # Kubernetes' prober shows no certificate.
        port = ports.get("health", ports["grpc"])
        by_tls = f"SCAAR_{service.upper().replace('-', '_')}_TLS_CERT_FILE" in release.environment(
            service
        )
        assert ("health" in ports) == by_tls
        assert container["livenessProbe"]["grpc"] == {"port": port}
        assert container["startupProbe"]["grpc"] == {"port": port}
        assert container["readinessProbe"]["grpc"] == {"port": port, "service": full_name(service)}


def test_only_the_worker_which_serves_nothing_has_no_probes(release: Rendered) -> None:
    probes = {"startupProbe", "livenessProbe", "readinessProbe"}
    for each in release.of("Deployment"):
        (container,) = each["spec"]["template"]["spec"]["containers"]
        assert probes & set(container) == (set() if container["name"] == "worker" else probes)


def test_pods_get_enough_time_for_the_longest_answer() -> None:
    release = Scenario(
        {
            "drainSeconds": 7,
            "longestAnswerSeconds": 300,
            "contributionModel": {"server": "triton"},
            "languageModel": {"server": "vllm"},
            "vllm": {"model": "a/model"},
        }
    ).rendered()
    for each in release.of("Deployment"):
        spec = each["spec"]["template"]["spec"]
        assert spec["terminationGracePeriodSeconds"] > 307
        (container,) = spec["containers"]
        if container["name"] in OWN:
            prefix = f"SCAAR_{container['name'].upper().replace('-', '_')}"
            found = release.environment(container["name"])
            assert found[f"{prefix}_DRAIN_S"] == "7"
            assert found[f"{prefix}_STOP_GRACE_S"] == "300"
        else:
            assert container["lifecycle"]["preStop"]["sleep"]["seconds"] == 307


def test_a_pod_without_a_drain_time_stops_immediately() -> None:
    release = Scenario({"drainSeconds": 0, "languageModel": {"server": "lab"}}).rendered()
    (container,) = release.pod("lab-model")["spec"]["containers"]
    # Kubernetes before 1.33 refuses to sleep for no time.
    assert "lifecycle" not in container


def test_pods_are_spread_and_budgeted(release: Rendered) -> None:
    without = SCENARIOS["without policies, budgets and spread"].rendered()
    if release is without:
        assert not release.of("PodDisruptionBudget")
        return
    deployments = release.of("Deployment")
    assert release.names("PodDisruptionBudget") == release.names("Deployment")
    for each in deployments:
        labels = each["spec"]["selector"]["matchLabels"]
        constraints = each["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert [one["topologyKey"] for one in constraints] == [
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        ]
        assert all(one["labelSelector"]["matchLabels"] == labels for one in constraints)
    for each in release.of("PodDisruptionBudget"):
        assert each["spec"]["maxUnavailable"] == 1


def test_images_of_scaar_are_those_of_the_dockerfile(release: Rendered) -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE.read_text(), re.MULTILINE))
    for _, pod in release.pods():
        for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            if found := re.fullmatch(r"scaar/([a-z-]+):(\S+)", container["image"]):
                assert found[1] in targets
                assert found[2] == __version__


@pytest.mark.parametrize(
    ("release", "name"),
    [("films", "films-scaar-"), ("scaar", "scaar-"), ("my-scaar-2", "my-scaar-2-")],
)
def test_objects_are_named_after_the_release_with_scaar_once(release: str, name: str) -> None:
    every = {"records": {"enabled": True}, "console": {"enabled": True}}
    ran = run_helm(["template", release, str(CHART), "--values", "-"], yaml.safe_dump(every))
    found = {each["metadata"]["name"] for each in yaml.safe_load_all(ran.stdout) if each}
    assert {f"{name}{service}" for service in OWN} <= found
    assert {each for each in found if not each.startswith(name)} <= {name.removesuffix("-")}


def test_a_part_is_scheduled_according_to_the_values() -> None:
    release = SCENARIOS["everything of a part"].rendered()
    deployment = release.one("Deployment", "generator")["spec"]
    assert deployment["strategy"] == {"type": "Recreate"}
    pod = deployment["template"]
    assert pod["metadata"]["labels"]["team"] == "films"
    assert pod["metadata"]["annotations"] == {"example.com/note": "x"}
    spec = pod["spec"]
    assert spec["nodeSelector"] == {"disk": "fast"}
    assert spec["tolerations"] == [{"key": "spot", "operator": "Exists"}]
    assert "nodeAffinity" in spec["affinity"]
    assert spec["priorityClassName"] == "high"
    (container,) = spec["containers"]
    assert {"name": "model", "mountPath": "/model"} in container["volumeMounts"]
    assert container["env"][-1]["valueFrom"] == {"secretKeyRef": {"name": "key", "key": "key"}}


def test_an_exposed_service_is_an_additional_service() -> None:
    release = SCENARIOS["reached from outside"].rendered()
    found = release.one("Service", "orchestrator-exposed")
    assert found["spec"]["type"] == "LoadBalancer"
    assert found["metadata"]["annotations"] == {"example.com/internal": "true"}
    assert release.one("Service", "evaluator-exposed")["spec"]["type"] == "ClusterIP"
    assert release.one("Service", "orchestrator")["spec"]["clusterIP"] == "None"


def test_an_old_pod_stays_until_clients_have_found_the_new_one(release: Rendered) -> None:
    for service in served(release):
        ready_s = release.one("Deployment", service)["spec"]["minReadySeconds"]
        found = release.one("Service", service)["spec"]
        assert ready_s == 15
        # Callers of the others have an address that does not change, or do without health checks.
        called_by_orchestrators = service in BACK_ENDS
        assert found.get("publishNotReadyAddresses", False) == called_by_orchestrators
        if called_by_orchestrators:
            name = f"SCAAR_{service.upper().replace('-', '_')}_MAX_CONNECTION_AGE_S"
            assert float(release.environment(service)[name]) < ready_s


def test_files_that_two_pods_would_write_are_written_by_one_at_a_time() -> None:
    release = SCENARIOS["lab kept"].rendered()
    for name in ("retriever", "evaluator"):
        assert release.one("Deployment", name)["spec"]["strategy"] == {"type": "Recreate"}
    shared = SCENARIOS["passages of a volume"].rendered()
    assert shared.one("Deployment", "retriever")["spec"]["strategy"]["type"] == "RollingUpdate"
    volume = {"enabled": True, "accessModes": ["ReadWriteMany"]}
    single = Scenario({"retriever": {"persistence": volume}}).rendered()
    assert single.one("Deployment", "retriever")["spec"]["strategy"]["type"] == "RollingUpdate"


def test_indexes_and_evaluations_outlive_the_release() -> None:
    release = SCENARIOS["lab kept"].rendered()
    claim = release.one("PersistentVolumeClaim", "retriever")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert claim["spec"]["storageClassName"] == "fast"
    volumes = {each["name"]: each for each in release.pod("evaluator")["spec"]["volumes"]}
    assert volumes["home"]["persistentVolumeClaim"] == {"claimName": "evaluations"}


def test_a_newer_chart_leaves_pods_running_that_it_does_not_change(tmp_path: Path) -> None:
    newer = tmp_path / "scaar"
    shutil.copytree(CHART, newer)
    about = (newer / "Chart.yaml").read_text()
    (newer / "Chart.yaml").write_text(about.replace("\nversion: ", "\nversion: 1", 1))
    values = {"languageModel": {"server": "tgi"}, "tgi": {"model": "a/model"}}
    before, after = render(values), render(values, chart=newer)
    assert before.objects != after.objects
    for each in before.of("Deployment"):
        name = each["metadata"]["name"].removeprefix(full() + "-")
        assert before.pod(name) == after.pod(name)
