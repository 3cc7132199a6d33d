"""What helm renders is what Kubernetes and the operators take."""

import pytest

from .rendering import CHART, Rendered, render, run_helm
from .scenarios import SCENARIOS
from .schemas import faults


@pytest.mark.parametrize("preset", ["", "lab", "production"])
def test_helm_finds_no_fault_with_the_chart(preset: str) -> None:
    files = ["--values", str(CHART / f"values-{preset}.yaml")] if preset else []
    ran = run_helm(["lint", "--strict", str(CHART), *files], "")
    assert ran.returncode == 0, ran.stdout
    assert "[WARNING]" not in ran.stdout


def test_every_object_matches_its_schema(release: Rendered) -> None:
    reported = {
        f"{each['kind']} {each['metadata']['name']}": found
        for each in release.objects
        if (found := faults(each))
    }
    assert reported == {}


def test_the_schemas_are_strict() -> None:
    (deployment, *_) = render().of("Deployment")
    wrong = {**deployment, "spec": {**deployment["spec"], "replica": 2}}
    assert any("replica" in each for each in faults(wrong))
    (scaled, *_) = SCENARIOS["scaled by KEDA"].rendered().of("ScaledObject")
    wrong = {**scaled, "spec": {**scaled["spec"], "minReplicas": 2}}
    assert any("minReplicas" in each for each in faults(wrong))


def test_names_are_of_one_object_each(release: Rendered) -> None:
    names = [(each["kind"], each["metadata"]["name"]) for each in release.objects]
    assert len(names) == len(set(names))


def test_labels_are_those_that_kubernetes_recommends(release: Rendered) -> None:
    for each in release.objects:
        labels = each["metadata"]["labels"]
        assert labels["app.kubernetes.io/name"] == "scaar"
        assert labels["app.kubernetes.io/instance"] == "films"
        assert {"app.kubernetes.io/component", "app.kubernetes.io/version"} <= set(labels)


def test_every_kind_and_every_template_is_seen_by_some_scenario() -> None:
    seen = {each["kind"] for one in SCENARIOS.values() for each in one.rendered().objects}
    expected = """
        Certificate ConfigMap Deployment GRPCRoute HTTPRoute HorizontalPodAutoscaler Ingress
        Job NetworkPolicy
        PersistentVolumeClaim Pod PodDisruptionBudget PrometheusRule ScaledObject Service
        ServiceAccount ServiceMonitor TriggerAuthentication
        """
    assert seen == set(expected.split())
