"""A release of the chart in a namespace of its own, by helm."""

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
_WAIT = ("--wait", "--wait-for-jobs", "--timeout")
_PATIENCE = "10m"
# An autoscaler looks every quarter of a minute, at what a metrics server saw in the minute before.
_SCALED_S = 600.0


class Release:
    """One that is installed in the namespace, with values over those of a preset."""

    def __init__(self, cluster: Cluster, namespace: str, preset: str, values: Values) -> None:
        self.cluster, self.namespace = cluster, namespace
        self._files = ["--values", str(CHART / f"values-{preset}.yaml")] if preset else []
        self._values = merged(merged(images(), exposed()), values)

    def install(self) -> None:
        """Installs it, and returns when all of it is ready and its Jobs have completed."""
        self._with_values("install", {}, _PATIENCE)

    def upgrade(self, changed: Values, *, timeout: str = _PATIENCE) -> None:
        """Changes values of it, and returns when all of it is ready.

        Raises:
            Failed: it was not by then; or helm refused the values.
        """
        self._with_values("upgrade", changed, timeout)

    def rollback(self) -> None:
        """Brings back the values before the last change, and returns when all of it is ready."""
        self.helm("rollback", RELEASE, *_WAIT, _PATIENCE)

    def uninstall(self) -> None:
        """Takes it away, and returns when its objects are gone, and all that they made."""
        self.helm("uninstall", RELEASE, "--wait", "--cascade=foreground", "--timeout", "10m")

    def helm(self, *arguments: str, given: str = "") -> str:
        """What helm prints of the release's namespace."""
        where = ["--kubeconfig", self.cluster.config, "--namespace", self.namespace]
        return run([str(helm()), *arguments, *where], given)

    def pods(self, component: str) -> list[Object]:
        """Those of a part that are ready and do not end, the oldest first."""
        found = self.cluster.objects(
            "pods", namespace=self.namespace, labels=f"app.kubernetes.io/component={component}"
        )
        return [each for each in found if _serves(each)]

    def rollout(self, component: str) -> None:
        """Returns when a part is as it was asked for, and what it was before is gone."""
        self.kubectl("rollout", "status", f"deployment/{full(component)}", "--timeout=10m")
        wanted = self.cluster.one("deployment", full(component), namespace=self.namespace)
        selector = f"app.kubernetes.io/component={component}"
        while True:
            there = self.cluster.objects("pods", namespace=self.namespace, labels=selector)
            if len(there) == wanted["spec"]["replicas"]:
                return
            ending = [each for each in there if "deletionTimestamp" in each["metadata"]]
            for each in ending:
                name = each["metadata"]["name"]
                self.kubectl("wait", "--for=delete", f"pod/{name}", "--timeout=5m")

    def scale(self, component: str, replicas: int) -> None:
        """Has so many pods of a part, and returns when they are ready and the others gone."""
        self.kubectl("scale", f"deployment/{full(component)}", f"--replicas={replicas}")
        self.rollout(component)

    def restart(self, component: str) -> None:
        """Replaces the pods of a part one after the other."""
        self.kubectl("rollout", "restart", f"deployment/{full(component)}")
        self.rollout(component)

    def kill(self, component: str) -> None:
        """Ends a part's oldest pod as a loss of power would; returns when another is ready."""
        name = self.pods(component)[0]["metadata"]["name"]
        self.kubectl("exec", name, "--container", component, "--", "python", "-c", _KILL)
        self.kubectl("delete", "pod", name, "--grace-period=0", "--force")
        self.rollout(component)

    def kubectl(self, *arguments: str, given: str = "") -> str:
        """What kubectl prints of the release's namespace."""
        return self.cluster.kubectl(*arguments, namespace=self.namespace, given=given)

    def target(self, component: str, port: int) -> str:
        """Where clients in the cluster find every pod of a part."""
        return f"dns:///{full(component)}.{self.namespace}.svc.cluster.local:{port}"

    def node_port(self, component: str) -> str:
        """Where clients outside of the cluster find a part that is exposed."""
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
    """The release until the block ends."""
    release.install()
    try:
        yield release
    finally:
        release.uninstall()


async def scaled_to(release: Release, component: str, pods: int) -> None:
    """Returns when a part has so many pods that serve.

    Raises:
        TimeoutError: it had not within ten minutes.
    """
    async with asyncio.timeout(_SCALED_S):
        while len(await asyncio.to_thread(release.pods, component)) != pods:  # noqa: ASYNC110
            await asyncio.sleep(1)


def full(component: str) -> str:
    """What the objects of a part are called."""
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
    """The values of a release that is asked from outside of the cluster, at ports of its nodes."""
    # Not every network counts pods among the addresses of a block.
    everybody = [{"ipBlock": {"cidr": "0.0.0.0/0"}}, {"namespaceSelector": {}}]
    at_node = {"expose": {"enabled": True, "type": "NodePort"}}
    return {
        "networkPolicy": {"clients": everybody, "prometheus": everybody, "modelMetrics": True},
        "orchestrator": at_node,
        "evaluator": at_node,
    }


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> Values:
    """The values with those others over them, as helm lays one over the other."""
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
