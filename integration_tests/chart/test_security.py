"""Every pod meets more than the Pod Security level `restricted`; no secret is in plain text."""

from collections.abc import Iterator

from .rendering import Object, Rendered
from .scenarios import SCENARIOS

VOLUMES = {"configMap", "downwardAPI", "emptyDir", "persistentVolumeClaim", "projected", "secret"}


def containers(pod: Object) -> Iterator[Object]:
    yield from pod["spec"].get("initContainers", [])
    yield from pod["spec"]["containers"]


def test_pods_are_restricted(release: Rendered) -> None:
    for _, pod in release.pods():
        spec = pod["spec"]
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
        security = spec["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] == 10001
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}
        assert "sysctls" not in security
        for volume in spec["volumes"]:
            (kind,) = set(volume) - {"name"}
            assert kind in VOLUMES


def test_containers_of_scaars_images_run_no_shell(release: Rendered) -> None:
    """The images have none: only scaar itself, their entry point, and Python."""
    for _, pod in release.pods():
        for container in containers(pod):
            if container["image"].startswith("scaar/"):
                assert container.get("command", ["python"])[0] == "python"
                hooks = container.get("lifecycle", {}).values()
                probes = (value for key, value in container.items() if key.endswith("Probe"))
                assert not [each for each in (*hooks, *probes) if "exec" in each]


def test_containers_are_restricted_and_write_to_volumes_alone(release: Rendered) -> None:
    for _, pod in release.pods():
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert not [port for port in container.get("ports", []) if "hostPort" in port]


def test_pods_do_not_talk_to_kubernetes(release: Rendered) -> None:
    for _, pod in release.pods():
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert pod["spec"]["enableServiceLinks"] is False
    for account in release.of("ServiceAccount"):
        assert account["automountServiceAccountToken"] is False
    assert not release.of("Role") + release.of("ClusterRole")


def test_every_container_has_resource_requests(release: Rendered) -> None:
    for _, pod in release.pods():
        for container in containers(pod):
            resources = container["resources"]
            assert {"cpu", "memory"} <= set(resources["requests"])
            assert "memory" in resources["limits"]


def test_volumes_and_their_mounts_match(release: Rendered) -> None:
    for _, pod in release.pods():
        mounted = {each["name"] for one in containers(pod) for each in one["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["spec"]["volumes"]}
        for container in containers(pod):
            paths = [each["mountPath"] for each in container["volumeMounts"]]
            assert len(paths) == len(set(paths))


def test_every_container_of_scaars_can_write_to_tmp(release: Rendered) -> None:
    for _, pod in release.pods():
        for container in containers(pod):
            assert "/tmp" in {each["mountPath"] for each in container["volumeMounts"]}


def test_secrets_are_those_of_the_cluster_and_never_in_a_configmap(release: Rendered) -> None:
    assert not release.of("Secret")
    for each in release.of("ConfigMap"):
        assert set(each["data"]) == {"scaar.json"}


def test_no_variable_holds_a_secret(release: Rendered) -> None:
    suspect = ("PASSWORD", "TOKEN", "API_KEY", "DATABASE", "BROKER", "SECRET")
    for _, pod in release.pods():
        for container in containers(pod):
            for variable in container.get("env", []):
                switch = variable["name"].endswith("_REQUIRE_TOKEN")
                # The URL of an SQLite file has no password.
                file = variable.get("value", "").startswith("sqlite:///")
                if variable["name"].endswith(suspect) and not switch and not file:
                    assert "valueFrom" in variable, variable


def test_secrets_are_files_for_scaars_group_alone(release: Rendered) -> None:
    for _, pod in release.pods():
        assert pod["spec"]["securityContext"]["fsGroup"] == 10001
        secret = {each["name"] for each in pod["spec"]["volumes"] if "secret" in each}
        for volume in pod["spec"]["volumes"]:
            if "secret" in volume:
                assert volume["secret"]["defaultMode"] == 0o440
        for container in containers(pod):
            for mount in container["volumeMounts"]:
                # A file of a folder is renewed where it stands; one mounted by itself is not.
                assert "subPath" not in mount
                assert (mount["name"] in secret) == mount["mountPath"].startswith("/etc/scaar/")
                assert mount["name"] not in secret or mount["readOnly"] is True


def test_a_part_has_the_secrets_that_it_needs_and_no_others() -> None:
    release = SCENARIOS["servers that are there"].rendered()
    found = {
        owner["metadata"]["name"].removeprefix("films-scaar-"): {
            each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each
        }
        for owner, pod in release.pods()
    }
    assert found == {
        "orchestrator": set(),
        "generator": {"models-key", "models-ca"},
        "scorer": {"triton-ca"},
        "query-builder": set(),
        "retriever": {"opensearch", "opensearch-ca"},
        "evaluator": {"evaluations-database", "evaluations-broker"},
        "worker": {"evaluations-database", "evaluations-broker"},
        "migrations": {"evaluations-database"},
        "gateway": set(),
        "test": set(),
        "test-gateway": set(),
    }


def test_images_are_pulled_according_to_the_values() -> None:
    for name, policy in (("lab", "IfNotPresent"), ("never pulled", "Never")):
        for _, pod in SCENARIOS[name].rendered().pods():
            assert {each["imagePullPolicy"] for each in containers(pod)} == {policy}


def test_custom_images_are_used() -> None:
    release = SCENARIOS["images of one's own"].rendered()
    images = {
        owner["metadata"]["name"]: pod["spec"]["containers"][0]["image"]
        for owner, pod in release.pods()
    }
    assert images["films-scaar-orchestrator"] == "registry.example/scaar/orchestrator:9"
    assert images["films-scaar-scorer"] == "registry.example/scorer@sha256:0f"
    for _, pod in release.pods():
        assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}]
