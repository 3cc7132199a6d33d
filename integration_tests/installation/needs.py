"""What tests need of an installation beyond its orchestrator, and what is left out without."""

import enum
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping

import pytest

from .access import Access


class Need(enum.StrEnum):
    """What not every installation gives; the value says what would."""

    CONTROL = "an installation of the tests' own (SCAAR_TARGET unset)"
    PROCESSES = "an installation of processes (SCAAR_INSTALLATION and SCAAR_TARGET unset)"
    EVALUATOR = "SCAAR_EVALUATOR_TARGET"
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


_LEFT_OUT = pytest.StashKey[list[Need]]()


def needs(*all_of: Need) -> pytest.MarkDecorator:
    """Marks a test that needs all of these."""
    return pytest.mark.needs(*all_of)


def lacking(
    item: pytest.Item, access: Access | None, also: Mapping[Need, bool] | None = None
) -> list[Need]:
    """What the test needs and is not there; an installation of the tests' own gives all of its."""
    given = {Need.GO: shutil.which("go") is not None, **(also or {})}
    if access is not None:
        given |= {
            Need.CONTROL: False,
            Need.PROCESSES: False,
            Need.EVALUATOR: bool(access.evaluator_target),
            Need.METRICS: bool(access.metrics()),
            Need.TLS: access.ca is not None,
            Need.CERTIFICATE: access.cert is not None,
            Need.TOKEN: bool(access.token),
        }
    wanted = [Need(each) for mark in item.iter_markers("needs") for each in mark.args]
    return [each for each in wanted if not given.get(each, True)]


def leave_out(
    config: pytest.Config, items: list[pytest.Item], wants: Mapping[pytest.Item, list[Need]]
) -> None:
    """Deselects the tests that want something, and keeps in mind what."""
    left_out = {item: needed[0] for item, needed in wants.items() if needed}
    if left_out:
        config.stash.setdefault(_LEFT_OUT, []).extend(left_out.values())
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def tell_left_out(reporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Says once how many tests were left out, and what would bring them in."""
    if left_out := config.stash.get(_LEFT_OUT, []):
        reporter.write_line(left_out_line(left_out), yellow=True)
        left_out.clear()


def left_out_line(left_out: Iterable[Need]) -> str:
    """One line: how many tests were left out, and what each of them needs."""
    counts = Counter(left_out)
    parts = ", ".join(f"{count} need {need}" for need, count in counts.items())
    return f"{counts.total()} tests of an installation left out: {parts}"
