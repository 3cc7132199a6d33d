"""A Prometheus in a namespace that Prometheus' operator runs, and reads what the release says."""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from .cluster import Cluster, Object
from .ways import Ways, ways

SELECTED = {"read-by": "tests"}
"""The labels by which it finds what it is to read."""
NAME = "tests"
POD = {"app.kubernetes.io/name": "prometheus", "prometheus": NAME}
"""The labels of its pods."""
_PORT = 9090
_PATIENCE_S = 180.0


class Operated:
    """The one that runs."""

    def __init__(self, to_pods: Ways) -> None:
        self._to_pods = to_pods

    def asked(self, path: str, **parameters: str) -> Any:
        """What its API says."""
        whole = f"/api/v1/{path}?{urlencode(parameters)}"
        url = self._to_pods.url(f"prometheus-{NAME}-0", _PORT, whole)
        with urllib.request.urlopen(url, timeout=30) as response:
            return json.load(response)["data"]

    def targets(self) -> list[Object]:
        """What it reads, and how that went."""
        found: list[Object] = self.asked("targets", state="active")["activeTargets"]
        return found

    def rules(self) -> list[Object]:
        """Every rule that it goes by."""
        groups = self.asked("rules")["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def series(self, query: str) -> list[Object]:
        """What an expression comes to now."""
        found: list[Object] = self.asked("query", query=query)["result"]
        return found


@contextmanager
def operated(cluster: Cluster, namespace: str) -> Iterator[Operated]:
    """A Prometheus for what the namespace labels with ``SELECTED``; it goes with the namespace."""
    cluster.apply(*_objects(namespace), namespace=namespace)
    made, until = f"statefulset/prometheus-{NAME}", time.monotonic() + _PATIENCE_S
    while not cluster.kubectl("get", made, "--ignore-not-found", namespace=namespace):
        assert time.monotonic() < until, "the operator made no Prometheus"
        time.sleep(1)
    cluster.kubectl("rollout", "status", made, "--timeout=5m", namespace=namespace)
    with ways(cluster, namespace) as to_pods:
        yield Operated(to_pods)


def _objects(namespace: str) -> list[Object]:
    read = [{"apiGroups": [""], "resources": ["services", "endpoints", "pods"]}]
    read.append({"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"]})
    rules = [{**each, "verbs": ["get", "list", "watch"]} for each in read]
    chosen = {"matchLabels": SELECTED}
    spec = {
        "serviceAccountName": NAME,
        "serviceMonitorSelector": chosen,
        "ruleSelector": chosen,
        "scrapeInterval": "5s",
        "evaluationInterval": "5s",
        # What the restricted standard asks of pods.
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "fsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    rbac, of = "rbac.authorization.k8s.io", {"name": NAME}
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
    bound = {"apiGroup": rbac, "kind": "Role", "name": NAME}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": of},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": of, "rules": rules},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": of,
            "subjects": [account],
            "roleRef": bound,
        },
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "Prometheus",
            "metadata": of,
            "spec": spec,
        },
    ]
