"""Requirements of tests beyond an orchestrator, and deselection of tests without them."""

import enum
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from .access import Access


class Need(enum.StrEnum):
    """An optional capability of an installation; the value says how to provide it."""

    CONTROL = "an installation of the tests' own (SCAAR_TARGET unset)"
    PROCESSES = "an installation of processes (SCAAR_INSTALLATION and SCAAR_TARGET unset)"
    EVALUATOR = "SCAAR_EVALUATOR_TARGET"
    GATEWAY = "SCAAR_GATEWAY_URL"
    CONSOLE = "SCAAR_CONSOLE_URL"
    RECORDS = "SCAAR_RECORDS_TARGET"
    METRICS = "SCAAR_METRICS_URLS"
    TLS = "SCAAR_TLS_CA_FILE"
    CERTIFICATE = "SCAAR_TLS_CERT_FILE"
    TOKEN = "SCAAR_TOKEN"
    GO = "Go (https://go.dev/doc/install)"
    POD_METRICS = "metrics.k8s.io, which a metrics server gives a cluster"
    CERT_MANAGER = "cert-manager.io, which cert-manager gives a cluster"
    PROMETHEUS_OPERATOR = "monitoring.coreos.com, which Prometheus' operator gives a cluster"
    KEDA = "keda.sh, which KEDA gives a cluster"
    POLICIES = "SCAAR_NETWORK_POLICIES=enforced, of a cluster whose network enforces them"


_DESELECTED = pytest.StashKey[list[Need]]()


def needs(*all_of: Need) -> pytest.MarkDecorator:
    """Mark a test that requires all of these."""
    return pytest.mark.needs(*all_of)


def lacking(
    item: pytest.Item, access: Access | None, also: Mapping[Need, bool] | None = None
) -> list[Need]:
    """Return the missing requirements of a test; the tests' own installation meets all."""
    given = {Need.GO: shutil.which("go") is not None, **(also or {})}
    if access is not None:
        given |= {
            Need.CONTROL: False,
            Need.PROCESSES: False,
            Need.EVALUATOR: bool(access.evaluator_target),
            Need.GATEWAY: bool(access.gateways),
            Need.CONSOLE: bool(access.consoles),
            Need.RECORDS: bool(access.records_target),
            Need.METRICS: bool(access.metrics()),
            Need.TLS: access.ca is not None,
            Need.CERTIFICATE: access.cert is not None,
            Need.TOKEN: bool(access.token),
        }
    expected = [Need(each) for mark in item.iter_markers("needs") for each in mark.args]
    return [each for each in expected if not given.get(each, True)]


def deselect(
    config: pytest.Config, items: list[pytest.Item], wants: Mapping[pytest.Item, list[Need]]
) -> None:
    """Deselect the tests with missing requirements, and remember these."""
    deselected = {item: needed[0] for item, needed in wants.items() if needed}
    if deselected:
        config.stash.setdefault(_DESELECTED, []).extend(deselected.values())
        config.hook.pytest_deselected(items=list(deselected))
        items[:] = [item for item in items if item not in deselected]


def report_deselected(reporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report once how many tests were deselected and what they require."""
    if deselected := config.stash.get(_DESELECTED, []):
        reporter.write_line(deselected_line(deselected), yellow=True)
        deselected.clear()


def deselected_line(deselected: Iterable[Need]) -> str:
    """Return one line with the number of deselected tests and their requirements."""
    counts = Counter(deselected)
    parts = ", ".join(f"{count} need {need}" for need, count in counts.items())
    return f"{counts.total()} installation tests deselected: {parts}"
