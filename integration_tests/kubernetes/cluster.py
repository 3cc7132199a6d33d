"""A Kubernetes that runs, by kubectl: the cluster of ``KUBECONFIG`` and no other.

Tests reach it at its first node that takes pods, and what runs on it reaches the tests at the
address from which this machine reaches that node.
"""

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

Object = dict[str, Any]
_PATIENCE_S = 600


class Failed(RuntimeError):
    """Output of a failed command."""


def run(command: list[str], given: str = "") -> str:
    """Run a command and return its output.

    Raises:
        Failed: it failed, or did not end in time.
    """
    try:
        ran = subprocess.run(
            command, input=given, capture_output=True, text=True, check=False, timeout=_PATIENCE_S
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(command)}: not done after {_PATIENCE_S} s") from error
    if ran.returncode:
        raise Failed(f"{' '.join(command)}: {ran.stderr.strip()} {ran.stdout.strip()}")
    return ran.stdout.strip()


class Cluster:
    """Access to the cluster by kubectl; ``name`` is the prefix of the names of all objects."""

    def __init__(self) -> None:
        self.config = os.environ["KUBECONFIG"]
        self.name = f"scaar-tests-{uuid4().hex[:8]}"
        node = next(each for each in self.objects("nodes") if _takes_pods(each))
        self.node: str = node["metadata"]["name"]
        self.hostname: str = node["metadata"]["labels"]["kubernetes.io/hostname"]
        # The first address of a dual-stack node is that of the cluster's IP family.
        self.address: str = next(
            each["address"] for each in node["status"]["addresses"] if each["type"] == "InternalIP"
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            # Sends nothing: connecting selects the local address of the route to the node.
            asking.connect((self.address, 9))
            self.host: str = asking.getsockname()[0]

    def command(self, *arguments: str, namespace: str = "") -> list[str]:
        """Run kubectl with these arguments and return its output."""
        within = ["--namespace", namespace] if namespace else []
        return ["kubectl", "--kubeconfig", self.config, *within, *arguments]

    def kubectl(self, *arguments: str, namespace: str = "", given: str = "") -> str:
        """Run kubectl with this standard input and return its output.

        Raises:
            Failed: it failed.
        """
        return run(self.command(*arguments, namespace=namespace), given)

    def objects(self, kind: str, *, namespace: str = "", labels: str = "") -> list[Object]:
        """Return the objects of a kind with these labels, oldest first."""
        chosen = ["--selector", labels] if labels else []
        reported = self.kubectl("get", kind, *chosen, "--output", "json", namespace=namespace)
        found: list[Object] = json.loads(reported)["items"]
        return sorted(found, key=lambda each: (_made(each), each["metadata"]["name"]))

    def one(self, kind: str, name: str, *, namespace: str = "") -> Object:
        """Return the object with this name."""
        reported = self.kubectl("get", kind, name, "--output", "json", namespace=namespace)
        found: Object = json.loads(reported)
        return found

    def apply(self, *objects: Object, namespace: str = "") -> None:
        """Create or change objects."""
        given = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.kubectl("apply", "--filename", "-", namespace=namespace, given=given)

    @contextmanager
    def namespace(self, name: str, *, enforced: str = "restricted") -> Iterator[str]:
        """Create a namespace that enforces a Pod Security level; delete it after the block."""
        labels = {"pod-security.kubernetes.io/enforce": enforced}
        metadata = {"name": name, "labels": labels}
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        try:
            yield name
        finally:
            self.kubectl("delete", "namespace", name, "--wait=true")


def serves(api: str) -> bool:
    """Return whether the cluster serves an optional API."""
    asking = ["kubectl", "--kubeconfig", os.environ["KUBECONFIG"], "get", "--raw", f"/apis/{api}"]
    try:
        reported = json.loads(run(asking))
    except Failed:
        return False
    return bool(reported.get("items") or reported.get("resources"))


def _takes_pods(node: Object) -> bool:
    return not any(each["effect"] != "PreferNoSchedule" for each in node["spec"].get("taints", []))


def _made(found: Object) -> str:
    made: str = found["metadata"]["creationTimestamp"]
    return made
