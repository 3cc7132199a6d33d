"""The board and the alerts of deploy/observability ask for what the services have, and for all."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from scaar.cli.serve.services import ServiceName
from scaar.core.types import AnswerEnd
from scaar.telemetry.metric_table import METRICS, Kind

FOLDER = Path(__file__).parents[4] / "deploy" / "observability"
BOARD = FOLDER / "grafana" / "dashboards" / "scaar.json"
SERIES = {name: metric for metric in METRICS for name in metric.series}
PROMETHEUS_OWN = {"job", "instance"}
UP = "up"
ALERTS = "ALERTS"
OF_PROMETHEUS = {UP: PROMETHEUS_OWN, ALERTS: {"alertname", "alertstate", "severity"}}
"""The series that Prometheus itself makes, and their labels."""


@dataclass(frozen=True)
class BoardQuery:
    """An expression, and where it stands."""

    where: str
    expression: str

    @property
    def parsed(self) -> Any:
        # Grafana puts a duration in its place.
        return promql_parser.parse(self.expression.replace("$__rate_interval", "5m"))


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(BOARD.read_text())["panels"]
    return found


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panel_queries() -> Iterator[BoardQuery]:
    for panel in panels():
        for target in panel.get("targets", ()):
            yield BoardQuery(panel["title"], target["expr"])


def asked_by_rules() -> Iterator[BoardQuery]:
    for rule in rules():
        yield BoardQuery(rule["alert"], rule["expr"])


EVERY = [*panel_queries(), *asked_by_rules()]


def nodes(query: BoardQuery, kind: type) -> list[Any]:
    found: list[Any] = []

    def visit(node: Any) -> None:
        if isinstance(node, kind):
            found.append(node)

    promql_parser.walk(query.parsed, pre_visit=visit)
    return found


def selectors(query: BoardQuery) -> list[Any]:
    ranges = [each.vector_selector for each in nodes(query, promql_parser.MatrixSelector)]
    return [*ranges, *nodes(query, promql_parser.VectorSelector)]


def labels_of(series: str) -> set[str]:
    if series in OF_PROMETHEUS:
        return OF_PROMETHEUS[series]
    metric = SERIES[series]
    more = {"le"} if series.endswith("_bucket") else set()
    return {*metric.labels, *PROMETHEUS_OWN, *more}


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.where)
def test_queries_use_declared_metrics_and_labels(query: BoardQuery) -> None:
    assert selectors(query), query.expression
    for selector in selectors(query):
        assert selector.name in {*SERIES, *OF_PROMETHEUS}
        named = {matcher.name for matcher in selector.matchers.matchers}
        assert named <= labels_of(selector.name)
    for aggregate in nodes(query, promql_parser.AggregateExpr):
        inner = BoardQuery(query.where, aggregate.expr.prettify())
        by = set(aggregate.modifier.labels) if aggregate.modifier else set()
        for selector in selectors(inner):
            assert by <= labels_of(selector.name)


@pytest.mark.parametrize("query", EVERY, ids=lambda query: query.where)
def test_queries_use_rates_of_counters_and_quantiles_of_buckets(query: BoardQuery) -> None:
    ranges = {each.vector_selector.name for each in nodes(query, promql_parser.MatrixSelector)}
    for selector in selectors(query):
        if selector.name in SERIES and SERIES[selector.name].kind is not Kind.GAUGE:
            assert selector.name in ranges
    if "histogram_quantile" in query.expression:
        assert all(selector.name.endswith("_bucket") for selector in selectors(query))


def test_the_board_shows_every_metric_of_the_table() -> None:
    shown = {selector.name for query in panel_queries() for selector in selectors(query)}
    of_scaar = {SERIES[name].name for name in shown - set(OF_PROMETHEUS)}
    assert of_scaar == {metric.name for metric in METRICS}


def test_a_legend_names_labels_that_its_expression_keeps() -> None:
    for panel in panels():
        for target in panel.get("targets", ()):
            query = BoardQuery(panel["title"], target["expr"])
            kept = {
                label
                for each in nodes(query, promql_parser.AggregateExpr)
                for label in (each.modifier.labels if each.modifier else ())
            } or set.union(*(labels_of(each.name) for each in selectors(query)))
            named = {part.partition("}}")[0] for part in target["legendFormat"].split("{{")[1:]}
            assert named <= kept, panel["title"]


def test_a_rule_has_a_severity_and_a_summary() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical"), rule["alert"]
        assert rule["annotations"]["summary"]
    assert len({rule["alert"] for rule in rules()}) == len(rules())


def test_every_service_is_read_and_the_rules_are() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (static,) = job["static_configs"]
    assert static["targets"] == [f"{service}:9464" for service in ServiceName]
    assert [(FOLDER / name).is_file() for name in config["rule_files"]] == [True]
    ups = [each for each in asked_by_rules() for name in selectors(each) if name.name == UP]
    assert [f'job="{job["job_name"]}"' in each.expression for each in ups] == [True]


def test_the_board_is_provisioned_with_its_source() -> None:
    provisioning = FOLDER / "grafana" / "provisioning"
    (source,) = yaml.safe_load((provisioning / "datasources" / "prometheus.yaml").read_text())[
        "datasources"
    ]
    sources = {panel["datasource"]["uid"] for panel in panels() if panel["type"] != "row"}
    assert sources == {source["uid"]}
    (provider,) = yaml.safe_load((provisioning / "dashboards" / "scaar.yaml").read_text())[
        "providers"
    ]
    assert provider["options"]["path"] == "/etc/grafana/dashboards"


def test_no_two_panels_lie_on_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_the_table_names_metrics_as_prometheus_would_have_them() -> None:
    assert len(SERIES) == sum(len(metric.series) for metric in METRICS)
    for metric in METRICS:
        assert metric.name.startswith("scaar_")
        assert metric.name.endswith("_total") == (metric.kind is Kind.COUNTER)
        assert bool(metric.buckets) == (metric.kind is Kind.HISTOGRAM)
        assert list(metric.buckets) == sorted(set(metric.buckets))
        assert metric.help.endswith(".")


def test_the_page_names_every_way_in_which_an_answer_ends() -> None:
    (answers,) = [metric for metric in METRICS if metric.name == "scaar_answers_total"]
    assert not [end.value for end in AnswerEnd if end.value not in answers.help]


def test_every_alert_has_a_section_in_the_runbook() -> None:
    operations = (FOLDER.parents[1] / "docs" / "operations.md").read_text()
    (runbook,) = re.findall(r"^## Runbook$(.*)", operations, re.MULTILINE | re.DOTALL)
    assert re.findall(r"^### (\w+)$", runbook, re.MULTILINE) == [each["alert"] for each in rules()]
    for each in rules():
        anchor = each["alert"].lower()
        assert each["annotations"]["runbook"] == f"docs/operations.md#{anchor}"
