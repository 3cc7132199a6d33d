"""Prometheus of the Prometheus operator, which scrapes a release."""

import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from .cluster import Cluster, Object
from .pod_access import PodAccess, pod_access

SELECTED = {"read-by": "tests"}
"""Labels that it selects monitors and rules by."""
NAME = "tests"
POD = {"app.kubernetes.io/name": "prometheus", "prometheus": NAME}
"""Labels of its pods."""
_PORT = 9090
_PATIENCE_S = 180.0


class OperatorPrometheus:
    """Access to the running Prometheus."""

    def __init__(self, to_pods: PodAccess) -> None:
        self._to_pods = to_pods

    def api(self, path: str, **parameters: str) -> Any:
        """Return the data of an API request."""
        whole = f"/api/v1/{path}?{urlencode(parameters)}"
        url = self._to_pods.url(f"prometheus-{NAME}-0", _PORT, whole)
        with urllib.request.urlopen(url, timeout=30) as response:
            return json.load(response)["data"]

    def targets(self) -> list[Object]:
        """Return its scrape targets and their state."""
        found: list[Object] = self.api("targets", state="active")["activeTargets"]
        return found

    def rules(self) -> list[Object]:
        """Return all rules."""
        groups = self.api("rules")["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def series(self, query: str) -> list[Object]:
        """Return the current result of an expression."""
        found: list[Object] = self.api("query", query=query)["result"]
        return found


@contextmanager
def operator_prometheus(cluster: Cluster, namespace: str) -> Iterator[OperatorPrometheus]:
    """Create a Prometheus for objects labelled ``SELECTED``, deleted with the namespace."""
    cluster.apply(*_objects(namespace), namespace=namespace)
    made, until = f"statefulset/prometheus-{NAME}", time.monotonic() + _PATIENCE_S
    while not cluster.kubectl("get", made, "--ignore-not-found", namespace=namespace):
        assert time.monotonic() < until, "the operator made no Prometheus"
        time.sleep(1)
    cluster.kubectl("rollout", "status", made, "--timeout=5m", namespace=namespace)
    with pod_access(cluster, namespace) as to_pods:
        yield OperatorPrometheus(to_pods)


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
        # Required by the restricted Pod Security Standard.
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
