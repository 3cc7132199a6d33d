"""Release with evaluation workers, over a PostgreSQL and a Redis on the test machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scaar.v1.evaluator_pb2 import EVALUATION_STATE_SUCCEEDED, Evaluation
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from ..installation.access import Access
from ..installation.evaluations import predictions, wait_for_evaluation
from ..installation.ours.release_values import make_secret
from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.redis.redis_server import RedisServer, running_redis
from .cluster import Cluster
from .release import Release, Values, installed, merged

LEASE_S = 5
_SETTINGS = {"lease_s": LEASE_S, "shard_predictions": 20}
"""Short leases, since tests wait for those of killed workers to expire, and many shards."""


@dataclass(frozen=True, slots=True)
class Working:
    """A release with workers, with its database and broker."""

    release: Release
    database: PostgresqlServer
    broker: RedisServer

    def access(self) -> Access:
        """Access from outside the cluster."""
        orchestrator, evaluator = map(self.release.node_port, ("orchestrator", "evaluator"))
        return Access(f"ipv4:{orchestrator}", f"ipv4:{evaluator}")

    def messages(self) -> int:
        """Return the number of queued and of leased shards."""
        counted = (
            self.broker.execute("LLEN", "scaar.evaluations"),
            self.broker.execute("HLEN", "unacked"),
        )
        return sum(map(int, counted))


@contextmanager
def working(cluster: Cluster, namespace: str, values: Values) -> Iterator[Working]:
    """Install the lab's release with workers, with values that override its own."""
    with (
        running_postgresql(also_at=cluster.host) as database,
        running_redis(also_at=cluster.host) as broker,
    ):
        make_secret(cluster, namespace, "database", {"url": database.url_from_outside()})
        make_secret(cluster, namespace, "broker", {"url": broker.url_from_outside()})
        queue = {"address": broker.address_from_outside, "password": broker.password}
        make_secret(cluster, namespace, "queue", queue)
        given: Values = {
            "evaluations": {
                "database": {"existingSecret": "database", "port": database.port},
                "broker": {
                    "existingSecret": "broker",
                    "queueSecret": "queue",
                    "port": broker.port,
                },
            },
            "evaluator": {"settings": _SETTINGS},
            "worker": {"enabled": True, "resources": {"requests": {"cpu": "50m"}}},
        }
        release = Release(cluster, namespace, "lab", merged(given, values))
        with installed(release) as found:
            yield Working(found, database, broker)


async def is_whole(evaluator: EvaluatorServiceStub, evaluation: Evaluation) -> None:
    """Wait for the end, and assert that every question has one prediction per policy variant."""
    last = await wait_for_evaluation(evaluator, evaluation)
    assert last.state == EVALUATION_STATE_SUCCEEDED, last.error
    assert (last.done, last.failed) == (last.total, 0)
    found = await predictions(evaluator, last, 100)
    requested = {(each.question_id, each.setting) for each in found}
    assert len(found) == len(requested) == last.total
