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
from .needs import Need, deselect, lacking, report_deselected
from .ours.collector import Collector, collecting
from .ours.containers import containers
from .ours.installation import Installation
from .ours.processes import Processes
from .ours.release_installation import hosts, release_installation
from .ours.replicated_installation import InstallationOptions, running
from .ours.runner import Runner
from .ours.security import Security, make_security

_HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    """Reject invalid variables instead of testing something else."""
    config.addinivalue_line("markers", "needs(*needs): deselected, and counted, without them")
    Access.read(os.environ)
    runs_on()


def runs_on() -> str:
    """Return what the tests' own installation runs on: processes, images or kubernetes.

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


def started(
    on: Runner | Cluster, requested: InstallationOptions
) -> AbstractContextManager[Installation]:
    """Run the requested installation for the duration of the block."""
    return (
        release_installation(on, requested) if isinstance(on, Cluster) else running(on, requested)
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect and count the tests whose requirements the installation does not meet."""
    access = Access.read(os.environ)
    also = {Need.PROCESSES: runs_on() == "processes"}
    wants = {item: lacking(item, access, also) for item in items if _HERE in item.path.parents}
    deselect(config, items, wants)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report how many tests were deselected and what they require."""
    report_deselected(terminalreporter, config)


@pytest.fixture(scope="session")
def cluster() -> Cluster | None:
    """The Kubernetes that installations run on, if they do."""
    return Cluster() if runs_on() == "kubernetes" else None


@pytest.fixture(scope="session")
def security(tmp_path_factory: pytest.TempPathFactory, cluster: Cluster | None) -> Security:
    """Certificates and token of the secured installation."""
    return make_security(tmp_path_factory.mktemp("security"), *(hosts(cluster) if cluster else ()))


@pytest.fixture(scope="session")
def runners(
    tmp_path_factory: pytest.TempPathFactory, security: Security, cluster: Cluster | None
) -> Iterator[tuple[Runner | Cluster, Runner | Cluster]]:
    """Runner of the tests' own installations."""
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
    """Collector of the traces of the tests' own installation."""
    with collecting(runners[0].host) as found:
        yield found


@pytest.fixture(scope="session")
def installation(
    runners: tuple[Runner | Cluster, Runner | Cluster], collector: Collector
) -> Iterator[Installation]:
    """One of the tests' own, two replicas a service, its model the lab's behind TGI's interface."""
    with started(runners[0], InstallationOptions(otlp_endpoint=collector.endpoint)) as found:
        yield found


@pytest.fixture(scope="session")
def secured_installation(
    runners: tuple[Runner | Cluster, Runner | Cluster], security: Security
) -> Iterator[Installation]:
    """One by TLS, for known callers, whose generator runs the lab's model itself."""
    with started(runners[1], InstallationOptions(replicas=1, security=security)) as found:
        yield found


@pytest.fixture(scope="session")
def access(request: pytest.FixtureRequest) -> Access:
    """Access to the installation under test."""
    if (named := Access.read(os.environ)) is not None:
        return named
    found: Installation = request.getfixturevalue("installation")
    return found.access


@pytest.fixture(scope="session")
def secured(request: pytest.FixtureRequest) -> Access:
    """Access to an installation with TLS and identities."""
    if (named := Access.read(os.environ)) is not None:
        return named
    found: Installation = request.getfixturevalue("secured_installation")
    return found.access


@pytest.fixture
async def channel(access: Access) -> AsyncIterator[grpc.aio.Channel]:
    """A channel to its orchestrators."""
    async with access.channel() as opened:
        yield opened
