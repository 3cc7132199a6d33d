"""Which installation is asked: the one that the environment names, else one of the tests' own.

README.md in the folder above has the variables.
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import grpc
import pytest

from ..kubernetes.cluster import Cluster
from .access import Access
from .needs import Need, lacking, leave_out, tell_left_out
from .ours.collector import Collector, collecting
from .ours.containers import containers
from .ours.installation import Installation
from .ours.processes import Processes
from .ours.released import hosts, released
from .ours.replicated import Asked, running
from .ours.runner import Runner
from .ours.security import Security, make_security

_HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Refuses variables that are wrong, rather than test something else."""
    config.addinivalue_line("markers", "needs(*needs): deselected, and counted, without them")
    Access.read(os.environ)
    runs_on()


def runs_on() -> str:
    """What an installation of the tests' own runs on: processes, images or kubernetes.

    Raises:
        UsageError: the environment says none of them, or not which Kubernetes.
    """
    found = os.environ.get("SCAAR_INSTALLATION") or "processes"
    if found not in ("processes", "images", "kubernetes"):
        raise pytest.UsageError(
            f"SCAAR_INSTALLATION is processes, images or kubernetes, not {found!r}"
        )
    if found == "kubernetes" and not os.environ.get("KUBECONFIG"):
        raise pytest.UsageError("SCAAR_INSTALLATION=kubernetes needs KUBECONFIG, of a cluster")
    return found


def started(on: Runner | Cluster, asked: Asked) -> AbstractContextManager[Installation]:
    """The installation that is asked for, until the block ends."""
    return released(on, asked) if isinstance(on, Cluster) else running(on, asked)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects, and counts, the tests of what the installation does not give."""
    access = Access.read(os.environ)
    also = {Need.PROCESSES: runs_on() == "processes"}
    wants = {item: lacking(item, access, also) for item in items if _HERE in item.path.parents}
    leave_out(config, items, wants)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Says how many tests were left out, and what would bring them in."""
    tell_left_out(terminalreporter, config)


@pytest.fixture(scope="session")
def cluster() -> Cluster | None:
    """The Kubernetes that installations run on, if they do."""
    return Cluster() if runs_on() == "kubernetes" else None


@pytest.fixture(scope="session")
def security(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster | None) -> Security:
    """What the secured installation's services and clients show one another."""
    return make_security(tmp_path_factory.mktemp("security"), *(hosts(cluster) if cluster else ()))


@pytest.fixture(scope="session")
def runners(
    tmp_path_factory: pytest.TempPathFactory, security: Security, cluster: Cluster | None
) -> Iterator[tuple[Runner | Cluster, Runner | Cluster]]:
    """What the two installations of the tests' own run on."""
    files = security.ca.parent
    with ExitStack() as stack:
        if cluster:
            yield cluster, cluster
        elif runs_on() == "images":
            both = [stack.enter_context(containers(files)) for _ in range(2)]
            yield both[0], both[1]
        else:
            folders = [tmp_path_factory.mktemp(name) for name in ("installation", "secured")]
            yield Processes(folders[0], files), Processes(folders[1], files)


@pytest.fixture(scope="session")
def collector(runners: tuple[Runner | Cluster, Runner | Cluster]) -> Iterator[Collector]:
    """What the installation of the tests' own sends its traces to."""
    with collecting(runners[0].host) as found:
        yield found


@pytest.fixture(scope="session")
def installation(
    runners: tuple[Runner | Cluster, Runner | Cluster], collector: Collector
) -> Iterator[Installation]:
    """One of the tests' own, two replicas a service, its model the lab's behind TGI's interface."""
    with started(runners[0], Asked(otlp_endpoint=collector.endpoint)) as found:
        yield found


@pytest.fixture(scope="session")
def secured_installation(
    runners: tuple[Runner | Cluster, Runner | Cluster], security: Security
) -> Iterator[Installation]:
    """One by TLS, for known callers, whose generator runs the lab's model itself."""
    with started(runners[1], Asked(replicas=1, security=security)) as found:
        yield found


@pytest.fixture(scope="session")
def access(request: pytest.FixtureRequest) -> Access:
    """How the installation is reached that the tests ask."""
    if (named := Access.read(os.environ)) is not None:
        return named
    found: Installation = request.getfixturevalue("installation")
    return found.access


@pytest.fixture(scope="session")
def secured(request: pytest.FixtureRequest) -> Access:
    """How one is reached that has TLS and known callers."""
    if (named := Access.read(os.environ)) is not None:
        return named
    found: Installation = request.getfixturevalue("secured_installation")
    return found.access


@pytest.fixture
async def channel(access: Access) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to its orchestrators."""
    async with access.channel() as opened:
        yield opened
