"""What releases of the chart are told that the tests ask, and what has to be there for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...kubernetes.cluster import Cluster
from ...kubernetes.shared_folder import shared_folder
from ...servers.postgresql.postgresql_server import running_postgresql
from .configured import TENANT_CALLS
from .installation import BACK_ENDS, SERVICES
from .replicated import Asked
from .security import Security

Values = dict[str, Any]
PACE_MS = 100
"""What a token of the lab's TGI takes: a pod is killed while answers are under way."""
_SMALL = {"requests": {"cpu": "20m"}}


@contextmanager
def replicated(cluster: Cluster, namespace: str, asked: Asked) -> Iterator[Values]:
    """Over the lab's values, replicas of every service.

    Retrievers share a folder of the first node, evaluators a PostgreSQL that runs beside the tests.
    """
    with (
        running_postgresql(also_at=cluster.host) as postgresql,
        shared_folder(cluster, namespace, "indexes"),
    ):
        make_secret(cluster, namespace, "database", {"url": postgresql.url_from_outside()})
        database = {"existingSecret": "database", "port": postgresql.port}
        values: Values = {
            key(each): {"replicas": asked.replicas, "resources": _SMALL} for each in SERVICES
        }
        # The first call of a service may take its time on a busy machine.
        patient = {f"{each.replace('-', '_')}_timeout_s": 60 for each in BACK_ENDS}
        bounded = {"tenant_concurrent_calls": TENANT_CALLS, **patient}
        values["orchestrator"] |= {"settings": bounded}
        values["evaluator"] |= {"settings": {"lease_s": 5}}
        values["retriever"] |= {
            "nodeSelector": {"kubernetes.io/hostname": cluster.hostname},
            "persistence": {"existingClaim": "indexes", "accessModes": ["ReadWriteMany"]},
        }
        yield values | {
            "labModel": {"args": [f"--pace-ms={PACE_MS}"]},
            "telemetry": {"otlpEndpoint": asked.otlp_endpoint},
            "evaluations": {"database": database},
        }


def secured(cluster: Cluster, namespace: str, known: Security) -> Values:
    """By TLS and for known callers, one replica of each, the lab's models in themselves."""
    files = {"tls.crt": known.cert, "tls.key": known.key, "ca.crt": known.ca}
    given = {name: file.read_text() for name, file in files.items()}
    make_secret(cluster, namespace, "certificate", given)
    make_secret(cluster, namespace, "token", {"token": known.token})
    callers = (known.ca.parent / "identities.yaml").read_text()
    make_secret(cluster, namespace, "callers", {"identities.yaml": callers})
    return {
        "tls": {"enabled": True, "existingSecret": "certificate"},
        "identities": {"existingSecret": "callers", "tokenSecret": "token"},
        "indexLoad": {"enabled": True, "lab": True, "index": "lab", "resources": _SMALL},
        **{key(each): {"resources": _SMALL} for each in SERVICES},
    }


def make_secret(cluster: Cluster, namespace: str, name: str, told: dict[str, str]) -> None:
    """A Secret of the namespace."""
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": told}
    cluster.apply(made, namespace=namespace)


def key(service: str) -> str:
    """The service's key in the chart's values."""
    return service.replace("query-builder", "queryBuilder")
