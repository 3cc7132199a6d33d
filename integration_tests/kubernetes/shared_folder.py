"""Volume that several pods can write: a folder on the cluster's first node."""

from collections.abc import Iterator
from contextlib import contextmanager

from .cluster import Cluster, Object
from .release import images


@contextmanager
def shared_folder(cluster: Cluster, namespace: str, claim: str) -> Iterator[None]:
    """A claim in the namespace whose folder any user may write; it goes with the block.

    Pods that mount it run on that node. The folder is made, and taken away, in a namespace that
    lets root do so.
    """
    folder, own = f"/tmp/{namespace}", f"{namespace}-node"
    with cluster.namespace(own, enforced="privileged"):
        _on_node(
            cluster, own, f"os.makedirs({folder!r}, exist_ok=True); os.chmod({folder!r}, 0o777)"
        )
        try:
            cluster.apply(_volume(cluster, namespace, folder))
            cluster.apply(_claim(claim, namespace), namespace=namespace)
            yield
        finally:
            # The volume is deleted with its claim, at the latest with the namespace.
            gone = ("--ignore-not-found", "--wait=false")
            cluster.kubectl("delete", "pvc", claim, *gone, namespace=namespace)
            cluster.kubectl("delete", "pv", namespace, *gone)
            _on_node(cluster, own, f"shutil.rmtree({folder!r}, ignore_errors=True)")


def _on_node(cluster: Cluster, namespace: str, script: str) -> None:
    image = images()["image"]
    container = {
        "name": "on-node",
        "image": f"{image['prefix']}orchestrator:{image['tag']}",
        "imagePullPolicy": image["pullPolicy"],
        "command": ["python", "-c", f"import os, shutil; {script}"],
        "securityContext": {"runAsUser": 0},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "on-node"},
        "spec": {
            "nodeName": cluster.node,
            "restartPolicy": "Never",
            "containers": [container],
            "volumes": [{"name": "tmp", "hostPath": {"path": "/tmp"}}],
        },
    }
    cluster.apply(pod, namespace=namespace)
    done = "--for=jsonpath={.status.phase}=Succeeded"
    cluster.kubectl("wait", done, "pod/on-node", "--timeout=5m", namespace=namespace)
    cluster.kubectl("delete", "pod", "on-node", namespace=namespace)


_SHARED = {"storageClassName": "", "accessModes": ["ReadWriteMany"]}


def _volume(cluster: Cluster, name: str, folder: str) -> Object:
    on_node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [cluster.hostname]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            **_SHARED,
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": folder},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [on_node]}]}},
        },
    }


def _claim(name: str, volume: str) -> Object:
    resources = {"requests": {"storage": "1Gi"}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {**_SHARED, "volumeName": volume, "resources": resources},
    }
