"""The starter of a real Redis: what tests of faults do to it, and what it keeps."""

import pytest

from ..servers.redis.redis_server import running_redis


def test_a_durable_redis_keeps_its_data_when_killed() -> None:
    with running_redis(durable=True) as redis:
        assert redis.execute("SET", "colour", "blue") == "OK"
        before = redis.process.pid
        redis.process.kill()
        assert redis.execute("GET", "colour") == ""
        redis.start()
        assert redis.process.pid != before
        assert redis.execute("GET", "colour") == "blue"


def test_a_redis_that_keeps_all_in_memory_starts_again_empty() -> None:
    with running_redis() as redis:
        redis.execute("SET", "colour", "blue")
        address = redis.url
        redis.process.kill()
        redis.start()
        assert redis.execute("EXISTS", "colour") == "0"
        assert redis.url == address


def test_a_redis_without_room_on_disk_refuses_to_write_until_there_is_some() -> None:
    with running_redis(durable=True) as redis:
        redis.execute("SET", "colour", "blue")
        redis.fill_disk()
        # What it finds the disk full with, it has answered.
        redis.execute("SET", "colour", "green")
        assert "MISCONF" in redis.execute("SET", "colour", "red")
        redis.free_disk()
        assert redis.execute("GET", "colour") == "green"


def test_two_servers_are_separate_and_listen_on_loopback_only() -> None:
    with running_redis() as one, running_redis() as other:
        one.execute("SET", "colour", "blue")
        assert other.execute("EXISTS", "colour") == "0"
        assert one.execute("CONFIG", "GET", "bind").split()[1:] == ["127.0.0.1"]


def test_a_server_that_does_not_start_is_reported_with_its_output() -> None:
    with running_redis() as redis:
        redis.process.kill()
        with running_redis() as taken:
            redis.port = taken.port
            redis.folder.joinpath("redis.log").unlink()
            with pytest.raises(RuntimeError, match="redis-server did not start"):
                redis.start()
