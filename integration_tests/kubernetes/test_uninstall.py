"""A release that is taken away again."""

from .cluster import Cluster, Object
from .release import RELEASE, Release, installed

ITS_OWN = ("configmap/kube-root-ca.crt", "serviceaccount/default")
"""What Kubernetes puts into every namespace."""


def left(cluster: Cluster, namespace: str) -> list[str]:
    """What there is in a namespace that Kubernetes did not put there by itself."""
    kinds = cluster.kubectl("api-resources", "--namespaced", "--verbs=list", "--output=name")
    counted = ",".join(each for each in kinds.split() if not each.startswith("events"))
    reported = cluster.kubectl("get", counted, "--output=name", namespace=namespace)
    return [each for each in reported.split() if each not in ITS_OWN]


def everywhere(cluster: Cluster) -> list[Object]:
    """What belongs to a release and to no namespace."""
    kinds = cluster.kubectl(
        "api-resources", "--namespaced=false", "--verbs=list", "--output=name"
    ).split()
    labels = f"app.kubernetes.io/instance={RELEASE}"
    return cluster.objects(",".join(kinds), labels=labels)


def test_uninstalled_it_leaves_nothing(cluster: Cluster, namespace: str) -> None:
    with installed(Release(cluster, namespace, "lab", {})) as release:
        release.helm("test", RELEASE, "--timeout", "5m")
        assert left(cluster, namespace)
    assert left(cluster, namespace) == []
    assert everywhere(cluster) == []
