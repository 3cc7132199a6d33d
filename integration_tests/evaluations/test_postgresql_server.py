"""The starter of a real PostgreSQL: what tests of faults do to it, and what it keeps."""

from pathlib import Path
from unittest.mock import patch

import pytest

from ..servers.postgresql.postgresql_server import running_postgresql
from ..servers.server_process import other_than_root


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


def test_a_folder_that_nobody_can_enter_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with (
        patch("os.geteuid", return_value=0),
        pytest.raises(PermissionError, match=r"as nobody, who cannot enter /.*: chmod o\+x /"),
    ):
        other_than_root(closed / "server")
