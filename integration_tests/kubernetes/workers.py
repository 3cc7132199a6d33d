"""A release whose evaluations workers ask, with a PostgreSQL and a Redis beside the tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scaar.v1.evaluator_pb2 import EVALUATION_STATE_SUCCEEDED, Evaluation
from scaar.v1.evaluator_pb2_grpc import EvaluatorServiceStub

from ..installation.access import Access
from ..installation.evaluating import ended, predictions
from ..installation.ours.released_values import make_secret
from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.redis.redis_server import RedisServer, running_redis
from .cluster import Cluster
from .release import Release, Values, installed, merged

LEASE_S = 5
_SETTINGS = {"lease_s": LEASE_S, "shard_predictions": 20}
"""Short leases, as tests wait for those of the dead, and many shards."""


@dataclass(frozen=True, slots=True)
class Working:
    """A release whose evaluations are asked by workers, and what keeps them."""

    release: Release
    database: PostgresqlServer
    broker: RedisServer

    def access(self) -> Access:
        """How it is asked from outside."""
        orchestrator, evaluator = map(self.release.node_port, ("orchestrator", "evaluator"))
        return Access(f"ipv4:{orchestrator}", f"ipv4:{evaluator}")

    def messages(self) -> int:
        """Those in the queue, and those that a worker holds."""
        counted = (
            self.broker.asked("LLEN", "scaar.evaluations"),
            self.broker.asked("HLEN", "unacked"),
        )
        return sum(map(int, counted))


@contextmanager
def working(cluster: Cluster, namespace: str, values: Values) -> Iterator[Working]:
    """The lab's release with a part of workers, with values over its own."""
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
    """Waits for its end, and holds it to have asked every question once under every setting."""
    last = await ended(evaluator, evaluation)
    assert last.state == EVALUATION_STATE_SUCCEEDED, last.error
    assert (last.done, last.failed) == (last.wanted, 0)
    found = await predictions(evaluator, last, 100)
    asked = {(each.question_id, each.setting) for each in found}
    assert len(found) == len(asked) == last.wanted
