"""Values that are wrong are refused by helm, each by its name, before anything is installed."""

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from .rendering import CHART, RefusedValues, render
from .scenarios import BROKER, DATABASE, SCENARIOS, Scenario, each_by

RECORDED: dict[str, Any] = {"records": {"enabled": True, "persistence": {"enabled": True}}}
WRONG: dict[str, dict[str, Any]] = {
    "/image: additional properties 'pulPolicy' not allowed": {"image": {"pulPolicy": "Never"}},
    "additional properties 'orchestrators' not allowed": {"orchestrators": {}},
    "/image/pullPolicy: value must be one of": {"image": {"pullPolicy": "Sometimes"}},
    "/orchestrator/replicas: got string, want integer": {"orchestrator": {"replicas": "two"}},
    "/orchestrator/replicas: minimum": {"orchestrator": {"replicas": -1}},
    "/orchestrator/resources/limits/memory: minimum": {
        "orchestrator": {"resources": {"limits": {"memory": -1}}}
    },
    "/orchestrator/resources/requests/memory: '-1Gi' does not match pattern": {
        "orchestrator": {"resources": {"requests": {"memory": "-1Gi"}}}
    },
    "/generator/settings: additional properties 'max_concurent'": {
        "generator": {"settings": {"max_concurent": 3}}
    },
    "/generator/settings/max_concurrent: maximum": {
        "generator": {"settings": {"max_concurrent": 100_000}}
    },
    "/scorer/settings/padding: value must be one of": {"scorer": {"settings": {"padding": "all"}}},
    # What a value of the chart is for, and what is a secret.
    "/scorer/settings: additional properties 'triton_target'": {
        "scorer": {"settings": {"triton_target": "dns:///triton:8001"}}
    },
    "/generator/settings: additional properties 'api_key'": {
        "generator": {"settings": {"api_key": "secret"}}
    },
    "/retriever/settings: additional properties 'opensearch_password'": {
        "retriever": {"settings": {"opensearch_password": "secret"}}
    },
    "/languageModel/server: value must be one of": {"languageModel": {"server": "llama"}},
    "/languageModel/url": {"languageModel": {"url": "models:8080"}},
    "/llamaCpp/model: '/models/model.gguf' does not match pattern": {
        "llamaCpp": {"model": "/models/model.gguf"}
    },
    "/triton/gpu/count: maximum": {"triton": {"gpu": {"count": 65}}},
    "/tls/existingSecret": {"tls": {"existingSecret": "Not A Name"}},
    "/retriever/persistence/size": {"retriever": {"persistence": {"size": "20 GB"}}},
    "/orchestrator/expose/names/0": {
        "orchestrator": {"expose": {"names": ["https://answers.example.org"]}}
    },
    "/gateway/settings: additional properties 'reflection'": {
        "gateway": {"settings": {"reflection": False}}
    },
    "/gateway/settings/default_index: 'Acme docs' does not match pattern": {
        "gateway": {"settings": {"default_index": "Acme docs"}}
    },
    "/gateway/settings/allowed_origins/0: 'app.example.org' does not match pattern": {
        "gateway": {"settings": {"allowed_origins": ["app.example.org"]}}
    },
    "/gateway/settings/allowed_hosts/0: 'https://app.example.org' does not match pattern": {
        "gateway": {"settings": {"allowed_hosts": ["https://app.example.org"]}}
    },
    "/console/settings/trace_url: 'https://traces.example.org/' does not match pattern": {
        "console": {"settings": {"trace_url": "https://traces.example.org/"}}
    },
    "/evaluator/settings/scorer_targets/permuted: 'permuted' does not match pattern": {
        "evaluator": {"settings": {"scorer_targets": {"permuted": "permuted"}}}
    },
    "/evaluator/settings/scorer_targets: additional properties 'shuffled' not allowed": {
        "evaluator": {"settings": {"scorer_targets": {"shuffled": "dns:///orchestrator:50051"}}}
    },
    "/contributionModel/target: 'dns:///triton' does not match pattern": {
        "contributionModel": {"server": "external", "target": "dns:///triton"}
    },
    "/gateway/ingress/hosts/0": {"gateway": {"ingress": {"hosts": ["https://scaar.example.org"]}}},
    "/gateway/httpRoute/timeout": {"gateway": {"httpRoute": {"timeout": "a minute"}}},
    "/orchestrator/records/content: value must be one of": {
        "orchestrator": {"records": {"content": "all"}}
    },
    "/orchestrator/settings: additional properties 'records_content'": {
        "orchestrator": {"settings": {"records_content": "full"}}
    },
    "/console/settings: additional properties 'records_target'": {
        "console": {"settings": {"records_target": "dns:///records:50057"}}
    },
    "/longestAnswerSeconds: minimum": {"longestAnswerSeconds": 0},
    "/orchestrator/autoscaling/by: value must be one of": {
        "orchestrator": {"autoscaling": {"by": "vpa"}}
    },
}
APART: dict[str, dict[str, Any]] = {
    "languageModel.url: must be set": {"languageModel": {"server": "external"}},
    "languageModel.caSecret: applies only to a languageModel.url that starts with https://": {
        "languageModel": {"server": "external", "url": "http://models:80", "caSecret": "ca"}
    },
    "tgi.model: must be set": {"languageModel": {"server": "tgi"}},
    "vllm.model: must be set": {"languageModel": {"server": "vllm"}},
    "llamaCpp.model: must be set": {
        "languageModel": {"server": "llama_cpp"},
        "llamaCpp": {"memoryMB": 602},
    },
    "llamaCpp.memoryMB: must be set": {
        "languageModel": {"server": "llama_cpp"},
        "llamaCpp": {"model": "qwen3-4b"},
    },
    "generator: more than one replica needs generator.persistence with accessModes": {
        "generator": {"replicas": 2, "persistence": {"enabled": True}}
    },
    "contributionModel.target: must be set": {"contributionModel": {"server": "external"}},
    "passages.opensearch.urls: must be set": {"passages": {"server": "opensearch"}},
    "passages.opensearch.user: must be set": {
        "passages": {"opensearch": {"existingSecret": "password"}}
    },
    "orchestrator.replicas: must be at least 1": {"orchestrator": {"replicas": 0}},
    "labModel.replicas: must be at least 1": {
        "languageModel": {"server": "lab"},
        "labModel": {"replicas": 0},
    },
    "retriever: more than one replica": {"retriever": {"replicas": 2}},
    "evaluator: more than one replica": {"evaluator": {"replicas": 2}},
    "worker.enabled: needs evaluator.enabled": {
        "evaluator": {"enabled": False},
        "worker": {"enabled": True},
        "evaluations": {**DATABASE, **BROKER},
    },
    "evaluations.database.existingSecret: must be set where worker.enabled is true": {
        "worker": {"enabled": True}
    },
    "evaluations.database.existingSecret: must be set with": {"evaluations": BROKER},
    "tls.existingSecret: must be set": {"tls": {"enabled": True}},
    "tls.certManager.issuer.name: must be set": {
        "tls": {"enabled": True, "certManager": {"enabled": True}}
    },
    "identities.tokenSecret: needs tls.enabled": {"identities": {"tokenSecret": "token"}},
    "identities.tokenSecret: must be set with": {"identities": {"existingSecret": "identities"}},
    "orchestrator: more than one replica, or an autoscaler, needs orchestrator.records.database": {
        **RECORDED,
        "orchestrator": {"replicas": 2, "records": {"enabled": True}},
    },
    "orchestrator: more than one replica, or an autoscaler, needs orchestrator.records.database."
    "existingSecret": {
        **RECORDED,
        "orchestrator": {"autoscaling": {"by": "hpa"}, "records": {"enabled": True}},
    },
    "records: more than one replica needs orchestrator.records.database.existingSecret": {
        "records": {**RECORDED["records"], "replicas": 2},
    },
    "records.persistence.enabled: must be true where records are in SQLite": {
        "orchestrator": {"records": {"enabled": True}},
        "records": {"enabled": True},
    },
    "records.persistence.accessModes: must not be ReadWriteOncePod": {
        "records": {
            "enabled": True,
            "persistence": {"enabled": True, "accessModes": ["ReadWriteOncePod"]},
        },
    },
    "orchestrator.records.enabled: needs records.enabled": {
        "orchestrator": {"records": {"enabled": True}},
    },
    "orchestrator.settings.records_max_record_kib: needs orchestrator.records.enabled": {
        "orchestrator": {"settings": {"records_max_record_kib": 64}}
    },
    "orchestrator.records.hashKeySecret: must be set where": {
        **RECORDED,
        "orchestrator": {"records": {"enabled": True, "content": "hashed"}},
    },
    "console.ingress.enabled: needs console.enabled": {"console": {"ingress": {"enabled": True}}},
    "console.httpRoute.parentRefs: must be set where console.httpRoute.enabled is true": {
        "console": {"enabled": True, "httpRoute": {"enabled": True}}
    },
    "gateway.httpRoute.parentRefs: must be set where gateway.httpRoute.enabled is true": {
        "gateway": {"httpRoute": {"enabled": True}}
    },
    "orchestrator.grpcRoute.parentRefs: must be set": {
        "orchestrator": {"grpcRoute": {"enabled": True}}
    },
    "gateway.ingress.enabled: needs gateway.enabled": {
        "gateway": {"enabled": False, "ingress": {"enabled": True}}
    },
    "indexLoad: needs existingClaim and file, or lab": {"indexLoad": {"enabled": True}},
    "telemetry.metrics: must be true": {
        "telemetry": {"metrics": False, "serviceMonitor": {"enabled": True}}
    },
    "scorer.autoscaling.minReplicas: must be at most 4": each_by(
        {"by": "hpa", "minReplicas": 5}, ("scorer",)
    ),
    "scorer.autoscaling.minReplicas: must be at least 1": each_by(
        {"by": "hpa", "minReplicas": 0}, ("scorer",)
    ),
    "generator.autoscaling.minReplicas: must be at least 1 where autoscaling.by is keda": {
        "telemetry": {"prometheusUrl": "http://prometheus:9090"},
        **each_by({"by": "keda", "minReplicas": 0}, ("generator",)),
    },
    "tgi.autoscaling.minReplicas: must be at least 1 where autoscaling.by is keda": {
        "telemetry": {"prometheusUrl": "http://prometheus:9090"},
        "languageModel": {"server": "tgi"},
        "tgi": {"model": "m", "autoscaling": {"by": "keda", "minReplicas": 0}},
    },
    "tgi.autoscaling.metrics: must be set": {
        "languageModel": {"server": "tgi"},
        "tgi": {"model": "m", "autoscaling": {"by": "hpa"}},
    },
    "telemetry.prometheusUrl: must be set where scorer.autoscaling.by is keda": each_by(
        {"by": "keda"}, ("scorer",)
    ),
    "evaluations.broker.queueSecret: must be set": {
        "evaluations": {**DATABASE, "broker": {"existingSecret": "broker"}},
        "worker": {"enabled": True, "autoscaling": {"by": "keda"}},
    },
}


@pytest.mark.parametrize("message", list(WRONG))
def test_the_schema_refuses(message: str) -> None:
    with pytest.raises(RefusedValues) as caught:
        render(WRONG[message])
    # The library says of a place `at '/image'`.
    said = str(caught.value).replace("at '", "").replace("':", ":")
    assert message in said


@pytest.mark.parametrize("message", list(APART))
def test_incompatible_values_are_rejected(message: str) -> None:
    with pytest.raises(RefusedValues) as caught:
        render(APART[message])
    assert f"\n  {message}" in str(caught.value)


def test_all_errors_are_reported_together() -> None:
    with pytest.raises(RefusedValues) as caught:
        render({"retriever": {"replicas": 2}, "languageModel": {"server": "tgi"}})
    assert "tgi.model: " in str(caught.value)
    assert "retriever: " in str(caught.value)


def test_a_parent_chart_may_have_global_values() -> None:
    assert render({"global": {"region": "north"}}).objects == render().objects


def notes(tmp_path: Path, scenario: str) -> str:
    """What helm says after an installation, by way of an object that says the same."""
    return notes_of(tmp_path / scenario.replace(" ", "-"), SCENARIOS[scenario])


def notes_of(chart: Path, found: Scenario) -> str:
    shutil.copytree(CHART, chart)
    (chart / "templates" / "NOTES.txt").rename(chart / "notes.txt")
    (chart / "templates" / "notes.yaml").write_text(
        "kind: Notes\nmetadata: {name: notes}\nsaid: |\n"
        '  {{- tpl (.Files.Get "notes.txt") . | nindent 2 }}\n'
    )
    (said,) = render(found.values, preset=found.preset, chart=chart).of("Notes")
    return str(said["said"])


def test_notes_state_the_gpus_needed_and_the_next_steps(tmp_path: Path) -> None:
    assert "GPU slots needed: none." in notes(tmp_path, "lab")
    assert "GPU slots needed: 2 of nvidia.com/gpu" in notes(tmp_path, "TGI")
    said = notes(tmp_path, "production")
    assert "GPU slots needed: 12 of nvidia.com/gpu" in said
    assert "helm test films --namespace questions" in said
    assert "plaintext" not in said


def test_notes_warn_of_open_services_and_of_data_without_volumes(tmp_path: Path) -> None:
    said = notes(tmp_path, "lab")
    assert "Calls are in plaintext" in said
    assert "evaluator.persistence.enabled" in said
    assert "retriever.persistence.enabled" in said
    for scenario in ("lab kept", "production"):
        assert "persistence.enabled" not in notes(tmp_path, scenario)


def test_notes_warn_of_replicas_of_a_part_that_is_not_enabled(tmp_path: Path) -> None:
    disabled = Scenario({"worker": {"replicas": 3}})
    warning = "WARNING: worker.replicas and worker.autoscaling have no effect"
    assert warning in notes_of(tmp_path / "disabled", disabled)
    for scenario in ("lab", "production"):
        assert "WARNING" not in notes(tmp_path, scenario)


def test_notes_warn_of_the_scorer_of_the_lab_with_another_language_model(tmp_path: Path) -> None:
    warning = "WARNING: the scorer has the lab's model."
    for scenario in ("llama.cpp", "TGI"):
        assert warning in notes(tmp_path, scenario)
    found = SCENARIOS["llama.cpp of a volume"]
    assert "Language model: llama_cpp, smollm2/model.gguf." in notes_of(tmp_path / "volume", found)
    policy = {"orchestrator": {"settings": {"default_policy": "single_round"}}}
    without = Scenario({**found.values, **policy})
    assert warning not in notes_of(tmp_path / "policy", without)


def test_notes_name_the_url_of_the_gateway_and_a_command(tmp_path: Path) -> None:
    said = notes(tmp_path, "lab")
    assert "http://films-scaar-gateway.questions.svc.cluster.local:8090" in said
    assert "port-forward service/films-scaar-gateway 8090" in said
    assert "curl http://127.0.0.1:8090/v1/chat/completions" in said
    assert '"model": "scaar@lab"' in said
    assert "Authorization" not in said
    secured = notes(tmp_path, "production")
    assert "https://films-scaar-gateway.questions.svc.cluster.local:8090" in secured
    assert "curl --cacert CA.pem https://localhost:8090/v1/chat/completions" in secured
    assert '"Authorization: Bearer $TOKEN"' in secured
    behind = notes(tmp_path, "gateway behind an ingress controller")
    assert ", https://scaar.example.org, https://*.example.net:" in behind
    assert "curl" not in notes(tmp_path, "no gateway")


def test_the_command_of_the_notes_sends_valid_json(tmp_path: Path) -> None:
    values = {"tests": {"question": """Who made "Low", Bowie's album?"""}}
    said = notes_of(tmp_path / "quoted", Scenario(values))
    (line,) = [each for each in said.splitlines() if "--data" in each]
    body = shlex.split(line)[-1]
    assert json.loads(body)["messages"][0]["content"] == values["tests"]["question"]


def test_notes_mention_the_labels_that_prometheus_selects(tmp_path: Path) -> None:
    assert "telemetry.serviceMonitor.labels" in notes(tmp_path, "production")
    for scenario in ("lab", "watched"):
        assert "telemetry.serviceMonitor.labels" not in notes(tmp_path, scenario)
