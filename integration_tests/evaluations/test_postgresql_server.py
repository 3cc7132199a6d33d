"""The starter of a real PostgreSQL: what tests of faults do to it, and what it keeps."""

import pytest

from ..servers.postgresql.postgresql_server import running_postgresql


def test_a_server_that_is_killed_has_every_committed_row_when_it_starts_again() -> None:
    with running_postgresql() as server:
        server.asked("CREATE TABLE rows (number int PRIMARY KEY)")
        server.asked("INSERT INTO rows SELECT generate_series(1, 1000)")
        before = server.url()
        server.kill()
        with pytest.raises(RuntimeError, match="refused"):
            server.asked("SELECT 1")
        server.start()
        assert server.url() == before
        assert server.asked("SELECT count(*) FROM rows") == "1000"


def test_a_server_that_is_stopped_starts_again_as_it_was() -> None:
    with running_postgresql() as server:
        server.asked("CREATE TABLE rows (number int PRIMARY KEY)")
        server.stop()
        server.start()
        assert server.asked("SELECT count(*) FROM rows") == "0"


def test_two_servers_are_strangers_and_listen_on_loopback_only() -> None:
    with running_postgresql() as one, running_postgresql() as other:
        one.asked("CREATE TABLE rows (number int)")
        with pytest.raises(RuntimeError, match="does not exist"):
            other.asked("SELECT count(*) FROM rows")
        assert one.asked("SHOW listen_addresses") == "127.0.0.1"
