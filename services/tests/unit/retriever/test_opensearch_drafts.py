import os
import socket
import subprocess
import sys

import pytest

from scaar.retriever.opensearch_catalogue import Catalogue
from scaar.retriever.opensearch_drafts import LEASE_S, Drafts
from scaar.retriever.opensearch_record import Builder
from scaar.retriever.opensearch_server import Server

NOW = 1_000_000.0


@pytest.fixture
async def drafts() -> Drafts:
    from opensearchpy import AsyncOpenSearch

    async with AsyncOpenSearch("http://127.0.0.1:1") as client:
        server = Server(client, timeout_s=1)
        return Drafts(server, Catalogue(server, "scaar-"), lambda: NOW)


def ended() -> int:
    """The id of a process that has been."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("seen_s_ago", "held"), [(0.0, True), (LEASE_S - 1, True), (LEASE_S, False)]
)
def test_a_builder_of_another_machine_is_gone_after_its_lease(
    drafts: Drafts, seen_s_ago: float, held: bool
) -> None:
    assert drafts.is_held(Builder("elsewhere", 1, "t", NOW - seen_s_ago)) is held


def test_a_builder_of_this_machine_that_has_ended_is_gone_at_once(drafts: Drafts) -> None:
    here = socket.gethostname()
    assert not drafts.is_held(Builder(here, ended(), "t", NOW))
    assert drafts.is_held(Builder(here, os.getppid(), "t", NOW))


def test_a_builder_of_this_process_is_known(drafts: Drafts) -> None:
    mine = drafts._builder()
    assert drafts.is_held(mine)
    assert not drafts.is_held(Builder(mine.host, mine.pid, "another", NOW))
