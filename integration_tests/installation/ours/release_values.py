"""Values of the releases under test, and the objects that they require."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...kubernetes.cluster import Cluster
from ...kubernetes.release import AT_NODE, merged
from ...kubernetes.shared_folder import shared_folder
from ...servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from .installation import BACK_ENDS, CONSOLE, PARTS, RECORDS
from .replicated_installation import InstallationOptions
from .security import Security
from .settings import TENANT_CALLS

Values = dict[str, Any]
PACE_MS = 100
"""Milliseconds per token of the lab's TGI, so that a pod can be killed during an answer."""
_SMALL = {"requests": {"cpu": "20m"}}
_SINGLE = {"enabled": True, "resources": _SMALL}


@contextmanager
def replicated_values(
    cluster: Cluster, namespace: str, requested: InstallationOptions
) -> Iterator[Values]:
    """Over the lab's values, replicas of every service.

    Retrievers share a folder of the first node, evaluators and records a PostgreSQL that runs
    beside the tests.
    """
    with (
        running_postgresql(also_at=cluster.host) as postgresql,
        shared_folder(cluster, namespace, "indexes"),
    ):
        make_secret(cluster, namespace, "database", {"url": postgresql.url_from_outside()})
        database = {"existingSecret": "database", "port": postgresql.port}
        values: Values = {
            key(each): {"replicas": requested.replicas, "resources": _SMALL} for each in PARTS
        }
        # The first call of a service may be slow on a busy machine.
        patient = {f"{each.replace('-', '_')}_timeout_s": 60 for each in BACK_ENDS}
        bounded = {"tenant_concurrent_calls": TENANT_CALLS, **patient}
        values["orchestrator"] |= {"settings": bounded}
        values["evaluator"] |= {"settings": {"lease_s": 5}}
        values["retriever"] |= {
            "nodeSelector": {"kubernetes.io/hostname": cluster.hostname},
            "persistence": {"existingClaim": "indexes", "accessModes": ["ReadWriteMany"]},
        }
        values |= {
            "labModel": {"args": [f"--pace-ms={PACE_MS}"]},
            "telemetry": {"otlpEndpoint": requested.otlp_endpoint},
            "evaluations": {"database": database},
        }
        yield merged(values, _recorded(cluster, namespace, postgresql))


@contextmanager
def secured_values(cluster: Cluster, namespace: str, known: Security) -> Iterator[Values]:
    """Values with TLS and identities, one replica each, with embedded lab models."""
    files = {"tls.crt": known.cert, "tls.key": known.key, "ca.crt": known.ca}
    given = {name: file.read_text() for name, file in files.items()}
    make_secret(cluster, namespace, "certificate", given)
    make_secret(cluster, namespace, "token", {"token": known.token})
    callers = (known.ca.parent / "identities.yaml").read_text()
    make_secret(cluster, namespace, "callers", {"identities.yaml": callers})
    values = {
        "tls": {"enabled": True, "existingSecret": "certificate"},
        "identities": {"existingSecret": "callers", "tokenSecret": "token"},
        "indexLoad": {"enabled": True, "lab": True, "index": "lab", "resources": _SMALL},
        **{key(each): {"resources": _SMALL} for each in PARTS},
    }
    with running_postgresql(also_at=cluster.host) as postgresql:
        yield merged(values, _recorded(cluster, namespace, postgresql))


def _recorded(cluster: Cluster, namespace: str, postgresql: PostgresqlServer) -> Values:
    """Return values with records in a database of their own, and the console."""
    postgresql.execute(f"CREATE DATABASE {RECORDS}")
    secret = f"{RECORDS}-database"
    make_secret(cluster, namespace, secret, {"url": postgresql.url_from_outside(RECORDS)})
    database = {"existingSecret": secret, "port": postgresql.port}
    return {
        "orchestrator": {"records": {"enabled": True, "content": "full", "database": database}},
        RECORDS: {**AT_NODE, **_SINGLE, "persistence": {"enabled": False}},
        CONSOLE: {**AT_NODE, **_SINGLE},
    }


def make_secret(cluster: Cluster, namespace: str, name: str, reported: dict[str, str]) -> None:
    """Create a Secret in the namespace."""
    made = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": reported,
    }
    cluster.apply(made, namespace=namespace)


def key(service: str) -> str:
    """Return the service's key in the chart's values."""
    return service.replace("query-builder", "queryBuilder")
