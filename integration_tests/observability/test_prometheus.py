"""The settings, the alerts and the board of deploy/observability on a real Prometheus.

Every service is asked, also through a gateway, and some of them die. The only changes to the
settings are where the services are, and how often they are read.
"""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest
import yaml

from scaar.cli.serve.services import BACK_ENDS, ServiceName
from scaar.client import OnFailure, ScaarError, open_sync_client
from scaar.core.policies.artefact_json import artefact_to_json
from scaar.core.types import ExpectedCost, TuningConditions
from scaar.testing.artefacts import artefact_of
from scaar.testing.commands import run_scaar
from scaar.testing.ports import free_port
from scaar.testing.processes import RunningService, running_service

from ..servers.prometheus.prometheus_server import PrometheusServer, checked, running_prometheus

FOLDER = Path(__file__).parents[2] / "deploy" / "observability"
PANELS: list[dict[str, Any]] = json.loads(
    (FOLDER / "grafana" / "dashboards" / "scaar.json").read_text()
)["panels"]
EXPRESSIONS = {
    f"{panel['title']}: {target['legendFormat']}": target["expr"]
    for panel in PANELS
    for target in panel.get("targets", ())
}
FAILING = re.compile("fail|degraded|dropped", re.IGNORECASE)
OF_FAILURES = {each for each in EXPRESSIONS if FAILING.search(each)}
OF_WAITING = {each for each in EXPRESSIONS if "wait for an orchestrator" in each}
QUESTION = "Who is the spouse of the director of the film The Haunted Fountain?"
TUNED = artefact_of(
    "tuned-1.4",
    tuned_on=TuningConditions(
        *("lab-lm", "", "", ""),
        index="lab",
        index_engine="bm25s",
        index_version="0ld",
        analysis="english-1",
    ),
    expected=ExpectedCost(searches_per_answer=9.0, trigger_rate=0.01),
)
"""A policy of another version of the index, whose expected cost is that of no question here."""
POLICIES = ("scaar", "flare", "single_round", "no_retrieval", TUNED.name)
PATIENCE_S = 300.0


@dataclass(frozen=True)
class Watched:
    """The services by name, and the Prometheus that reads them."""

    services: dict[str, RunningService]
    prometheus: PrometheusServer
    records: Path
    """The database of records."""

    def found(self, expression: str) -> list[Any]:
        requested = expression.replace("$__rate_interval", "30s")
        result: list[Any] = self.prometheus.api("query", query=requested)["result"]
        return result

    def ask(self) -> None:
        """Asks under some policies, and what is refused; what cannot be answered is none here."""
        with open_sync_client(self.services["orchestrator"].target) as client:
            for policy in POLICIES:
                with suppress(ScaarError):
                    client.answer(QUESTION, policy=policy, on_failure=OnFailure.ACCEPT_DRAFT)
            with suppress(ScaarError):
                client.answer(QUESTION)
            with suppress(ScaarError):
                client.answer(QUESTION, index="nowhere")
        for model in ("scaar", "scaar@nowhere"):
            self.ask_by_http(model)

    def ask_by_http(self, model: str) -> None:
        """Sends a chat to the gateway; whatever it returns is counted."""
        url = self.services["gateway"].target.removeprefix("dns:///")
        body = {"model": model, "messages": [{"role": "user", "content": QUESTION}]}
        request = Request(f"{url}/v1/chat/completions", json.dumps(body).encode())
        request.add_header("content-type", "application/json")
        with suppress(HTTPError), build_opener(ProxyHandler({})).open(request, timeout=60):
            pass

    def lose_records(self) -> None:
        """Removes a table of the records, so that no more are written."""
        with closing(sqlite3.connect(self.records, timeout=30)) as database:
            database.execute("DROP TABLE record_contents")
            database.commit()

    def evaluate(self) -> None:
        """Begins an evaluation that takes longer than the test."""
        requested = ("--dataset", "lab", "--limit", "2000", "--policies", "no_retrieval,scaar")
        target = self.services["evaluator"].target
        assert run_scaar("eval", "run", *requested, "--detach", "--target", target).status == 0


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    services: dict[str, RunningService] = {}
    records = tmp_path / "records.sqlite"
    metrics = {service: f"127.0.0.1:{free_port()}" for service in ServiceName}
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(FOLDER / name) for name in config["rule_files"]]
    (job,) = config["scrape_configs"]
    # There are no workers here, and no names.
    del job["dns_sd_configs"]
    job["static_configs"] = [{"targets": list(metrics.values())}]
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump(config))
    with ExitStack() as stack:
        # The orchestrator after those that it asks and the records, and the others after it.
        after = (ServiceName.EVALUATOR, ServiceName.GATEWAY, ServiceName.CONSOLE)
        for service in (*BACK_ENDS, ServiceName.RECORDS, ServiceName.ORCHESTRATOR, *after):
            variable = f"SCAAR_{service.upper().replace('-', '_')}"
            given = {f"{variable}_METRICS_ADDRESS": metrics[service]}
            if service is ServiceName.EVALUATOR:
                given[f"{variable}_SHARD_PREDICTIONS"] = "6"
            if service is ServiceName.ORCHESTRATOR:
                folder = tmp_path / "policies"
                folder.mkdir()
                (folder / "tuned.json").write_bytes(artefact_to_json(TUNED))
                given[f"{variable}_POLICY_FOLDER"] = str(folder)
                given[f"{variable}_SHADOW_POLICY"] = TUNED.name
                given[f"{variable}_SHADOW_SHARE"] = "1"
                given[f"{variable}_RECORDS_DATABASE"] = f"sqlite:///{records}"
            if service is ServiceName.RECORDS:
                given[f"{variable}_DATABASE"] = f"sqlite:///{records}"
            for other, running in services.items():
                target = f"{variable}_{other.upper().replace('-', '_')}_TARGET"
                given[target] = running.target
            home = tmp_path / "home"
            services[service] = stack.enter_context(running_service(service, home, **given))
        prometheus = stack.enter_context(running_prometheus(file))
        yield Watched(services, prometheus, records)


def until(
    there: Callable[[], bool],
    meanwhile: Callable[[], None],
    missing: Callable[[], object] = lambda: "",
) -> None:
    """Repeat an action until a condition holds; fail with what is missing after 5 minutes."""
    limit = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < limit, missing()
        meanwhile()


def pause() -> None:
    time.sleep(0.1)


def test_promtool_finds_nothing_wrong() -> None:
    for kind, name in (("config", "prometheus.yml"), ("rules", "alerts.yml")):
        said = checked(kind, str(FOLDER / name))
        assert "SUCCESS" in said, said
        assert "FAILED" not in said, said


def test_every_service_is_scraped_and_every_panel_has_data_after_failures(
    watched: Watched,
) -> None:
    empty = set(EXPRESSIONS)

    def are_up() -> bool:
        targets = watched.prometheus.api("targets")["activeTargets"]
        return [each["health"] for each in targets] == ["up"] * len(ServiceName)

    def are_empty(expected: set[str]) -> bool:
        empty.difference_update({each for each in empty if watched.found(EXPRESSIONS[each])})
        return empty <= expected

    watched.evaluate()
    until(are_up, meanwhile=watched.ask)
    until(lambda: are_empty(OF_FAILURES | OF_WAITING), watched.ask, lambda: empty)
    watched.lose_records()
    watched.services["scorer"].process.kill()
    until(lambda: are_empty(OF_WAITING), watched.ask, lambda: empty)
    watched.services["orchestrator"].process.kill()
    until(lambda: are_empty(set()), pause, lambda: empty)


def test_every_rule_is_evaluated_and_a_dead_service_is_detected(watched: Watched) -> None:
    def rules() -> dict[str, dict[str, Any]]:
        groups = watched.prometheus.api("rules")["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    until(lambda: {each["health"] for each in rules().values()} == {"ok"}, meanwhile=watched.ask)
    until(lambda: rules()["ScaarServiceDown"]["state"] == "inactive", meanwhile=watched.ask)
    watched.services["retriever"].process.kill()
    until(lambda: rules()["ScaarServiceDown"]["state"] == "pending", meanwhile=pause)


def test_the_agreement_of_a_shadow_and_the_drift_of_a_policy_are_measured(
    watched: Watched,
) -> None:
    (rule,) = [
        rule
        for group in yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
        for rule in group["rules"]
        if rule["alert"] == "ScaarPolicyDrift"
    ]
    # The alert without its minimum traffic, over the time of the test.
    drift = re.sub(r"> (200|100)\b", "> 0", rule["expr"]).replace("[6h]", "[5m]")
    shadowed = "sum by (policy, shadow, outcome) (scaar_shadow_drafts_total) > 0"
    mismatches = "sum by (policy) (scaar_artefact_mismatches_total) > 0"

    def labels(expression: str) -> list[dict[str, str]]:
        return [each["metric"] for each in watched.found(expression)]

    until(lambda: labels(drift) == [{"policy": TUNED.name}], watched.ask, lambda: labels(drift))
    assert labels(mismatches) == [{"policy": TUNED.name}]
    compared = labels(shadowed)
    assert {(each["policy"], each["shadow"]) for each in compared} == {
        ("scaar", TUNED.name),
        ("flare", TUNED.name),
    }
    assert {each["outcome"] for each in compared} <= {
        "both",
        "neither",
        "policy_only",
        "shadow_only",
    }
    (rate,) = watched.found(f'max(scaar_policy_expected_trigger_rate{{policy="{TUNED.name}"}})')
    assert float(rate["value"][1]) == TUNED.expected.trigger_rate
