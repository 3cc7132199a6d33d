"""What Prometheus, Grafana and a collector are given."""

import json
from pathlib import Path

import yaml

from scaar.cli.serve.services import ServiceName

from .scenarios import SCENARIOS

OBSERVABILITY = Path(__file__).parents[2] / "deploy" / "observability"
SERVICES = {str(service) for service in ServiceName}


def test_services_are_scraped_as_the_job_of_board_and_alerts() -> None:
    release = SCENARIOS["watched"].rendered()
    (monitor,) = release.of("ServiceMonitor")
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    (endpoint,) = monitor["spec"]["endpoints"]
    assert {"targetLabel": "job", "replacement": "scaar"} in endpoint["relabelings"]
    # A metric's label `service` is the contract's name, which alerts go by.
    assert endpoint["honorLabels"] is True
    (expression,) = monitor["spec"]["selector"]["matchExpressions"]
    assert set(expression["values"]) == SERVICES
    for name in SERVICES:
        ports = release.one("Service", name)["spec"]["ports"]
        assert {"name": "metrics", "port": 9464, "targetPort": "metrics"} in ports


def test_workers_are_scraped_too() -> None:
    release = SCENARIOS["production"].rendered()
    service = release.one("Service", "worker")["spec"]
    assert service["ports"] == [{"name": "metrics", "port": 9464, "targetPort": "metrics"}]
    assert release.environment("worker")["SCAAR_EVALUATOR_METRICS_ADDRESS"] == "0.0.0.0:9464"
    services = release.one("ServiceMonitor", "")["spec"]["selector"]["matchExpressions"][0]
    assert set(services["values"]) == SERVICES | {"worker"}


def test_model_servers_with_metrics_are_scraped() -> None:
    release = SCENARIOS["production"].rendered()
    ports = {
        name: release.one("ServiceMonitor", name)["spec"]["endpoints"][0]["port"]
        for name in ("tgi", "triton")
    }
    assert ports == {"tgi": "http", "triton": "metrics"}


def test_alerts_and_board_are_those_of_the_project() -> None:
    release = SCENARIOS["watched"].rendered()
    (rule,) = release.of("PrometheusRule")
    assert rule["spec"] == yaml.safe_load((OBSERVABILITY / "alerts.yml").read_text())
    (board,) = release.of("ConfigMap")
    assert board["metadata"]["labels"]["grafana_dashboard"] == "1"
    project = OBSERVABILITY / "grafana" / "dashboards" / "scaar.json"
    assert json.loads(board["data"]["scaar.json"]) == json.loads(project.read_text())


def test_without_telemetry_values_no_metrics_are_configured() -> None:
    release = SCENARIOS["not watched"].rendered()
    assert "9464" not in str(release.objects)
    assert "METRICS" not in str(release.objects)


def test_logs_and_traces_are_configured_by_the_values() -> None:
    found = SCENARIOS["watched"].rendered().environment("scorer")
    assert found["SCAAR_SCORER_OTLP_ENDPOINT"] == "http://collector.telemetry:4317"
    assert found["SCAAR_SCORER_LOG_FORMAT"] == "json"
