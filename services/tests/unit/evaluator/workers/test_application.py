import pytest

from scaar.core.errors import InvalidRequest
from scaar.evaluator.workers.queue import build_application


@pytest.mark.parametrize("broker", ["", "localhost:6379", "http://host/0", "sqs://secret@host"])
def test_the_error_of_an_invalid_broker_does_not_contain_its_password(broker: str) -> None:
    with pytest.raises(InvalidRequest, match="broker: must be redis://") as caught:
        build_application(broker)
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("broker", ["redis://host:6379/0", "amqp://user:password@host:5672/name"])
def test_a_message_is_acknowledged_when_its_shard_has_ended_and_one_is_prefetched(
    broker: str,
) -> None:
    settings = build_application(broker, queue="mine").conf
    assert (settings.task_acks_late, settings.task_reject_on_worker_lost) == (True, True)
    assert settings.worker_prefetch_multiplier == 1
    assert settings.task_default_queue == "mine"


def test_a_message_stays_its_workers_for_longer_than_a_shard_takes() -> None:
    options = build_application("redis://host", shard_s=100.0).conf.broker_transport_options
    assert options["visibility_timeout"] > 100.0
