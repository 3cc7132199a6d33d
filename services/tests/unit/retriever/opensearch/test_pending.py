import os
import socket
import subprocess
import sys

import pytest

from scaar.retriever.opensearch.catalogue import Catalogue
from scaar.retriever.opensearch.pending import LEASE_S, PendingIndexes
from scaar.retriever.opensearch.record import Builder
from scaar.retriever.opensearch.server import Server

NOW = 1_000_000.0


@pytest.fixture
async def pending() -> PendingIndexes:
    from opensearchpy import AsyncOpenSearch

    async with AsyncOpenSearch("http://127.0.0.1:1") as client:
        server = Server(client, timeout_s=1)
        return PendingIndexes(server, Catalogue(server, "scaar-"), lambda: NOW)


def ended() -> int:
    """Return the id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("seen_s_ago", "active"), [(0.0, True), (LEASE_S - 1, True), (LEASE_S, False)]
)
def test_a_builder_of_another_machine_is_gone_when_its_lease_expires(
    pending: PendingIndexes, seen_s_ago: float, active: bool
) -> None:
    assert pending.is_active(Builder("elsewhere", 1, "t", NOW - seen_s_ago)) is active


def test_a_builder_of_this_machine_is_gone_when_its_process_ends(pending: PendingIndexes) -> None:
    here = socket.gethostname()
    assert not pending.is_active(Builder(here, ended(), "t", NOW))
    assert pending.is_active(Builder(here, os.getppid(), "t", NOW))


def test_a_builder_of_this_process_is_known(pending: PendingIndexes) -> None:
    mine = pending._builder()
    assert pending.is_active(mine)
    assert not pending.is_active(Builder(mine.host, mine.pid, "another", NOW))
