"""Release of the chart in its own namespace."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml

from scaar import __version__

from ..chart.rendering import CHART
from ..chart.tools import helm
from .cluster import Cluster, Object, run

RELEASE = "films"
Values = dict[str, Any]
AT_NODE: Values = {"expose": {"enabled": True, "type": "NodePort"}}
"""Values of a part with a node port, for callers outside the cluster."""
_WAIT = ("--wait", "--wait-for-jobs", "--timeout")
_PATIENCE = "10m"
# An autoscaler looks every quarter of a minute, at what a metrics server saw in the minute before.
_SCALED_S = 600.0


class Release:
    """A release in a namespace, with values that override those of a preset."""

    def __init__(self, cluster: Cluster, namespace: str, preset: str, values: Values) -> None:
        self.cluster, self.namespace = cluster, namespace
        self._files = ["--values", str(CHART / f"values-{preset}.yaml")] if preset else []
        own = merged(merged(images(), exposed()), unrecorded())
        self._values = merged(own, values)

    def install(self) -> None:
        """Install the release, and wait until its pods are ready and its Jobs complete."""
        self._with_values("install", {}, _PATIENCE)

    def upgrade(self, changed: Values, *, timeout: str = _PATIENCE) -> None:
        """Change values of the release, and wait until it is ready.

        Raises:
            Failed: it was not by then; or helm refused the values.
        """
        self._with_values("upgrade", changed, timeout)

    def rollback(self) -> None:
        """Roll back the last change, and wait until the release is ready."""
        self.helm("rollback", RELEASE, *_WAIT, _PATIENCE)

    def uninstall(self) -> None:
        """Uninstall the release, and wait until its objects and their dependents are gone."""
        self.helm("uninstall", RELEASE, "--wait", "--cascade=foreground", "--timeout", "10m")

    def helm(self, *arguments: str, given: str = "") -> str:
        """Run helm in the release's namespace and return its output."""
        where = ["--kubeconfig", self.cluster.config, "--namespace", self.namespace]
        return run([str(helm()), *arguments, *where], given)

    def pods(self, component: str) -> list[Object]:
        """Return the ready, non-terminating pods of a part, oldest first."""
        found = self.cluster.objects(
            "pods", namespace=self.namespace, labels=f"app.kubernetes.io/component={component}"
        )
        return [each for each in found if _serves(each)]

    def rollout(self, component: str) -> None:
        """Wait until a part has its requested state and its old pods are gone."""
        self.kubectl("rollout", "status", f"deployment/{full(component)}", "--timeout=10m")
        expected = self.cluster.one("deployment", full(component), namespace=self.namespace)
        selector = f"app.kubernetes.io/component={component}"
        while True:
            there = self.cluster.objects("pods", namespace=self.namespace, labels=selector)
            if len(there) == expected["spec"]["replicas"]:
                return
            ending = [each for each in there if "deletionTimestamp" in each["metadata"]]
            for each in ending:
                name = each["metadata"]["name"]
                self.kubectl("wait", "--for=delete", f"pod/{name}", "--timeout=5m")

    def scale(self, component: str, replicas: int) -> None:
        """Scale a part, and wait until its pods are ready and the others are gone."""
        self.kubectl("scale", f"deployment/{full(component)}", f"--replicas={replicas}")
        self.rollout(component)

    def restart(self, component: str) -> None:
        """Replace the pods of a part one after another."""
        self.kubectl("rollout", "restart", f"deployment/{full(component)}")
        self.rollout(component)

    def kill(self, component: str) -> None:
        """Kill the oldest pod of a part, and wait until another is ready."""
        name = self.pods(component)[0]["metadata"]["name"]
        self.kubectl("exec", name, "--container", component, "--", "python", "-c", _KILL)
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force")
        self.rollout(component)

    def kubectl(self, *arguments: str, given: str = "") -> str:
        """Run kubectl in the release's namespace and return its output."""
        return self.cluster.kubectl(*arguments, namespace=self.namespace, given=given)

    def target(self, component: str, port: int) -> str:
        """Return the target of all pods of a part for clients in the cluster."""
        return f"dns:///{full(component)}.{self.namespace}.svc.cluster.local:{port}"

    def node_port(self, component: str) -> str:
        """Return the address of an exposed part for clients outside the cluster."""
        service = self.cluster.one(
            "service", f"{full(component)}-exposed", namespace=self.namespace
        )
        return f"{self.cluster.address}:{service['spec']['ports'][0]['nodePort']}"

    def _with_values(self, command: str, changed: Values, timeout: str) -> None:
        given = yaml.safe_dump(merged(self._values, changed))
        values = (*self._files, "--values", "-")
        self.helm(command, RELEASE, str(CHART), *values, *_WAIT, timeout, given=given)


@contextmanager
def installed(release: Release) -> Iterator[Release]:
    """Install the release for the duration of the block."""
    release.install()
    try:
        yield release
    finally:
        release.uninstall()


async def scaled_to(release: Release, component: str, pods: int) -> None:
    """Wait until a part has this number of serving pods.

    Raises:
        TimeoutError: it had not within ten minutes.
    """
    async with asyncio.timeout(_SCALED_S):
        while len(await asyncio.to_thread(release.pods, component)) != pods:  # noqa: ASYNC110
            await asyncio.sleep(1)


def full(component: str) -> str:
    """Return the name of the objects of a part."""
    return f"{RELEASE}-scaar-{component}"


def images() -> Values:
    """Which images a release is of: ``SCAAR_IMAGES``, ``SCAAR_VERSION``, ``SCAAR_PULL_POLICY``."""
    return {
        "image": {
            "prefix": os.environ.get("SCAAR_IMAGES") or "scaar/",
            "tag": os.environ.get("SCAAR_VERSION") or __version__,
            "pullPolicy": os.environ.get("SCAAR_PULL_POLICY") or "IfNotPresent",
        }
    }


def exposed() -> Values:
    """Return the values of a release with node ports for callers outside the cluster."""
    # Not every network counts pods among the addresses of a block.
    everybody = [{"ipBlock": {"cidr": "0.0.0.0/0"}}, {"namespaceSelector": {}}]
    return {
        "networkPolicy": {"clients": everybody, "prometheus": everybody, "modelMetrics": True},
        **dict.fromkeys(("orchestrator", "evaluator", "gateway"), AT_NODE),
    }


def unrecorded() -> Values:
    """Return the values of a release without records and console.

    The lab's records need a storage class, which a cluster of tests may lack, and one orchestrator;
    the installation tests keep records in PostgreSQL.
    """
    return {
        "orchestrator": {"records": {"enabled": False}},
        "records": {"enabled": False},
        "console": {"enabled": False},
    }


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> Values:
    """Merge values as helm does."""
    found = dict(values)
    for key, value in over.items():
        here = found.get(key)
        both = isinstance(value, Mapping) and isinstance(here, Mapping)
        found[key] = merged(here, value) if both else value  # type: ignore[arg-type]
    return found


def _serves(pod: Object) -> bool:
    conditions = pod["status"].get("conditions", [])
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


# The first process of a container cannot be killed from inside it, but by the limit of its time.
_KILL = "import resource; resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))"
