"""The starter of a real PostgreSQL: what tests of faults do to it, and what it keeps."""

import os
import signal
from pathlib import Path
from threading import Timer
from unittest.mock import patch

import pytest

from ..servers.postgresql.postgresql_server import running_postgresql
from ..servers.server_process import other_than_root


def test_a_killed_server_keeps_every_committed_row() -> None:
    with running_postgresql() as server:
        server.execute("CREATE TABLE rows (number int PRIMARY KEY)")
        server.execute("INSERT INTO rows SELECT generate_series(1, 1000)")
        before = server.url()
        server.kill()
        with pytest.raises(RuntimeError, match="refused"):
            server.execute("SELECT 1")
        server.start()
        assert server.url() == before
        assert server.execute("SELECT count(*) FROM rows") == "1000"


def test_a_server_starts_once_the_processes_of_a_killed_one_have_ended() -> None:
    with running_postgresql() as server:
        server.execute("CREATE TABLE rows (number int PRIMARY KEY)")
        left = server.process.children()[0]
        os.kill(left, signal.SIGSTOP)
        server.process.kill()
        ending = Timer(1.5, os.kill, (left, signal.SIGKILL))
        ending.start()
        server.start()
        ending.join()
        assert server.execute("SELECT count(*) FROM rows") == "0"
        log = (server.folder / "postgresql.log").read_text()
        assert "pre-existing shared memory block" in log


def test_a_stopped_server_restarts_with_its_data() -> None:
    with running_postgresql() as server:
        server.execute("CREATE TABLE rows (number int PRIMARY KEY)")
        server.stop()
        server.start()
        assert server.execute("SELECT count(*) FROM rows") == "0"


def test_two_servers_are_separate_and_listen_on_loopback_only() -> None:
    with running_postgresql() as one, running_postgresql() as other:
        one.execute("CREATE TABLE rows (number int)")
        with pytest.raises(RuntimeError, match="does not exist"):
            other.execute("SELECT count(*) FROM rows")
        assert one.execute("SHOW listen_addresses") == "127.0.0.1"


def test_a_folder_that_nobody_can_enter_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with (
        patch("os.geteuid", return_value=0),
        pytest.raises(PermissionError, match=r"as nobody, who cannot enter /.*: run chmod o\+x /"),
    ):
        other_than_root(closed / "server")
