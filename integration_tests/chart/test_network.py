"""Policies let through what a part calls, and nothing else."""

import re

import pytest

from ..kubernetes.release import exposed
from .rendering import NAMESPACE, Object, Rendered, full, render
from .scenarios import BROKER, DATABASE, SCENARIOS, Scenario

INSIDE = re.compile(rf"(?:dns:///|https?://){full()}-([a-z-]+)\.{NAMESPACE}\.svc\S*:(\d+)")
WITHOUT = SCENARIOS["without policies, budgets and spread"]


def policy(release: Rendered, name: str) -> Object:
    spec: Object = release.one("NetworkPolicy", name)["spec"]
    return spec


def ports(rule: Object) -> set[int]:
    return {each["port"] for each in rule["ports"]}


def callers(release: Rendered, name: str, port: int) -> set[str]:
    """The components of the release that a part takes calls of at a port."""
    return {
        component
        for rule in policy(release, name)["ingress"]
        if port in ports(rule)
        for peer in rule["from"]
        for expression in peer.get("podSelector", {}).get("matchExpressions", [])
        for component in expression["values"]
    }


def called(release: Rendered, name: str) -> set[tuple[str, int]]:
    """The components of the release that a part may call, and their ports."""
    return {
        (peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"], port)
        for rule in policy(release, name)["egress"]
        for peer in rule.get("to", [])
        if "matchLabels" in peer.get("podSelector", {})
        for port in ports(rule)
    }


def outside(release: Rendered, name: str) -> set[int]:
    """The ports that a part may call outside of the release, but for those of DNS."""
    inside = "app.kubernetes.io/component"
    rules = [
        rule
        for rule in policy(release, name)["egress"]
        if not any(inside in str(peer) for peer in rule.get("to", []))
    ]
    return set().union(*map(ports, rules)) - {53}


def needed(release: Rendered, pod: Object) -> set[tuple[str, int]]:
    """Return the services that the containers of a pod are configured to call."""
    said = str(pod["spec"]["containers"])
    return {(name, int(port)) for name, port in INSIDE.findall(said)}


def test_no_traffic_passes_without_a_policy(release: Rendered) -> None:
    if release is WITHOUT.rendered():
        assert not release.of("NetworkPolicy")
        return
    denied = policy(release, "default-deny")
    assert denied["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(denied)
    for _, pod in release.pods():
        assert denied["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_every_pod_has_its_own_policy(release: Rendered) -> None:
    if release is WITHOUT.rendered():
        return
    components = {
        pod["metadata"]["labels"]["app.kubernetes.io/component"] for _, pod in release.pods()
    }
    assert release.names("NetworkPolicy") == components | {"default-deny"}


@pytest.mark.parametrize("name", ["migrations", "records-migrations"])
def test_migrations_have_network_access_only_before_and_while_they_run(name: str) -> None:
    release = SCENARIOS["production"].rendered()
    found = release.one("NetworkPolicy", name)["metadata"]["annotations"]
    job = release.one("Job", name)["metadata"]["annotations"]
    for key in ("helm.sh/hook", "helm.sh/hook-delete-policy"):
        assert found[key] == job[key]
    assert int(found["helm.sh/hook-weight"]) < int(job.get("helm.sh/hook-weight", "0"))
    others = [each for each in release.of("NetworkPolicy") if "annotations" in each["metadata"]]
    assert len(others) == 2
    database = {"existingSecret": "database", "migrate": False}
    by_hand = Scenario({"evaluations": {"database": database}}).rendered()
    assert "migrations" not in by_hand.names("NetworkPolicy")


def test_calls_within_the_release_are_let_out_and_in_and_no_others(release: Rendered) -> None:
    if release is WITHOUT.rendered():
        return
    expected: dict[str, set[tuple[str, int]]] = {}
    for _, pod in release.pods():
        component = pod["metadata"]["labels"]["app.kubernetes.io/component"]
        expected[component] = needed(release, pod)
        assert called(release, component) == expected[component]
    for component, calls in expected.items():
        for name, port in calls:
            assert component in callers(release, name, port)
    for name in expected:
        for service in release.of("Service"):
            if service["metadata"]["name"] != full(name):
                continue
            for port in service["spec"]["ports"]:
                there = callers(release, name, port["port"]) & set(expected)
                assert there == {
                    each for each in expected if (name, port["port"]) in expected[each]
                }


def test_names_can_be_looked_up(release: Rendered) -> None:
    for each in release.of("NetworkPolicy"):
        if each["metadata"]["name"] != full("default-deny"):
            assert {"protocol": "UDP", "port": 53} in each["spec"]["egress"][0]["ports"]


def test_servers_outside_are_called_at_their_ports_alone() -> None:
    release = SCENARIOS["servers that are there"].rendered()
    assert {name: outside(release, name) for name in sorted(release.names("Deployment"))} == {
        "evaluator": {5432, 6379, 8443},
        "gateway": set(),
        "generator": {443, 8443},
        "orchestrator": set(),
        "query-builder": set(),
        "retriever": {9200, 9201, 8443},
        "scorer": {9001, 8443},
        "worker": {5432, 6379, 8443},
    }
    assert outside(release, "migrations") == {5432, 8443}
    (rule,) = [each for each in policy(release, "generator")["egress"] if 443 in ports(each)]
    assert rule["to"] == [{"ipBlock": {"cidr": "10.0.0.0/8"}}]


@pytest.mark.parametrize(
    ("broker", "port"),
    [
        ({}, 6379),
        ({"tls": True}, 6379),
        ({"kind": "rabbitmq"}, 5672),
        ({"kind": "rabbitmq", "tls": True}, 5671),
        ({"kind": "rabbitmq", "port": 5673}, 5673),
    ],
)
def test_a_broker_is_called_at_its_default_port_unless_another_is_given(
    broker: dict[str, object], port: int
) -> None:
    evaluations = {**DATABASE, "broker": {**BROKER["broker"], **broker}}
    release = Scenario({"evaluations": evaluations, "worker": {"enabled": True}}).rendered()
    for name in ("evaluator", "worker"):
        assert outside(release, name) == {5432, port}


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("http://models", 80),
        ("https://models/v1", 443),
        ("http://models:8000/v1", 8000),
        ("https://user@models.example:8443", 8443),
    ],
)
def test_the_port_of_a_url_is_let_out(url: str, port: int) -> None:
    release = Scenario({"languageModel": {"server": "external", "url": url}}).rendered()
    assert outside(release, "generator") == {port}


def test_the_server_that_reranks_is_called_at_its_port() -> None:
    settings = {"rerank_url": "http://reranker.models:8000"}
    release = Scenario({"retriever": {"settings": settings}}).rendered()
    assert outside(release, "retriever") == {8000}


def test_a_model_is_fetched_only_where_it_may_be() -> None:
    assert outside(SCENARIOS["TGI"].rendered(), "tgi") == {443}
    assert outside(SCENARIOS["TGI of a volume"].rendered(), "tgi") == set()


def test_traces_leave_the_namespace_only_if_enabled() -> None:
    release = SCENARIOS["watched"].rendered()
    for name in ("orchestrator", "scorer", "query-builder"):
        assert outside(release, name) == {4317}


def test_clients_are_those_of_the_values() -> None:
    release = SCENARIOS["production"].rendered()
    public = {"orchestrator": 50051, "evaluator": 50056, "records": 50057, "console": 8091}
    for name, port in public.items():
        peers = [
            peer
            for rule in policy(release, name)["ingress"]
            if port in ports(rule)
            for peer in rule["from"]
            if "namespaceSelector" in peer
        ]
        assert peers == [{"namespaceSelector": {"matchLabels": {"scaar.client": "true"}}}]


def test_metrics_are_read_by_prometheus_alone() -> None:
    release = SCENARIOS["production"].rendered()
    for name, port in (
        ("orchestrator", 9464),
        ("worker", 9464),
        ("tgi", 8080),
        ("triton", 8002),
    ):
        peers = [
            peer
            for rule in policy(release, name)["ingress"]
            if port in ports(rule)
            for peer in rule["from"]
            if "namespaceSelector" in peer
        ]
        monitoring = {"kubernetes.io/metadata.name": "monitoring"}
        assert peers == [{"namespaceSelector": {"matchLabels": monitoring}}]
    unwatched = SCENARIOS["not watched"].rendered()
    assert "9464" not in str(unwatched.of("NetworkPolicy"))


def readers(release: Rendered, name: str, port: int) -> list[Object]:
    """Who may come in at a port from outside of the release."""
    inside = "app.kubernetes.io/component"
    return [
        peer
        for rule in policy(release, name)["ingress"]
        if port in ports(rule)
        for peer in rule["from"]
        if inside not in str(peer)
    ]


def test_prometheus_reaches_the_models_api_only_if_its_metrics_are_enabled() -> None:
    everybody = [{"namespaceSelector": {}}]
    for scenario, name in (("lab", "lab-model"), ("TGI", "tgi"), ("vLLM", "vllm")):
        values, preset = SCENARIOS[scenario].values, SCENARIOS[scenario].preset
        assert readers(render(values, preset=preset), name, 8080) == []
        for requested in (
            {"telemetry": {"serviceMonitor": {"enabled": True}}},
            {"networkPolicy": {"modelMetrics": True}},
        ):
            assert readers(render({**values, **requested}, preset=preset), name, 8080) == everybody
    assert readers(SCENARIOS["lab"].rendered(), "generator", 9464) == everybody


def test_prometheus_has_the_metrics_that_keda_queries() -> None:
    everybody = [{"namespaceSelector": {}}]
    assert readers(SCENARIOS["scaled by KEDA"].rendered(), "tgi", 8080) == everybody
    by_kubernetes = SCENARIOS["scaled by Kubernetes"].rendered()
    assert readers(by_kubernetes, "tgi", 8080) == []


def test_the_labs_metrics_are_read_in_a_release_with_external_callers() -> None:
    found = readers(render(exposed(), preset="lab"), "lab-model", 8080)
    assert {"ipBlock": {"cidr": "0.0.0.0/0"}} in found
