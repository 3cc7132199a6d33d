"""Installation of processes that are found by DNS name, like the pods of a release.

Names behave as those of headless Services: a replica has its name from before it serves until it
has ended. Connections are long-lived, so that clients resolve a name only when they must.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from ..access import Access
from .installation import BACK_ENDS
from .names import Names, serving_names
from .places import Place, places_of_names
from .processes import Processes
from .replicated_installation import InstallationOptions, ReplicatedInstallation
from .runner import Replica
from .settings import variable

ANSWERING = (*BACK_ENDS, "orchestrator")
_LASTING_S = 300


class NamedReplica:
    """A replica with a DNS name until it has ended."""

    def __init__(self, replica: Replica, ended: Callable[[], None]) -> None:
        self._replica, self._ended = replica, ended

    def stop(self) -> None:
        self._replica.stop()
        self._ended()

    def kill(self) -> None:
        self._replica.kill()
        self._ended()


class NamedProcesses(Processes):
    """Processes whose services have DNS names."""

    # Like the chart's minReadySeconds, which is longer.
    settle_s = 2.0

    def __init__(self, folder: Path, names: Names) -> None:
        super().__init__(folder, folder)
        self._names = names

    def places(self, count: int, replicas: int) -> list[list[Place]]:
        return places_of_names(count, replicas)

    def target(self, service: str, places: list[Place]) -> str:
        return f"dns://{self._names.server}/{service}:{places[0].port}"

    def serve(
        self, service: str, place: Place, settings: Mapping[str, str], serves: Callable[[], bool]
    ) -> Replica:
        self._names.add(service, place.host)
        lasting = {variable(service, "max_connection_age_s"): str(_LASTING_S)}
        # Upgrades use the cores of the tests, and calls wait meanwhile.
        lasting[variable("orchestrator", "tenant_concurrent_calls")] = ""
        served = super().serve(service, place, {**settings, **lasting}, serves)
        return NamedReplica(served, lambda: self._names.remove(service, place.host))


class UpgradableInstallation(ReplicatedInstallation):
    """An installation without an evaluator, whose services can be replaced concurrently."""

    @property
    def access(self) -> Access:
        place = self._places["orchestrator"]
        return Access(self._runner.target("orchestrator", place))

    def start(self) -> None:
        self._start_model()
        # The first retriever builds the lab's index.
        self._start_all(ANSWERING)

    def scale(self, replicas: int) -> None:
        """Start replicas until every service has this number."""
        missing = {each: replicas - len(self._running[each]) for each in ANSWERING}
        self._start_all([each for each, count in missing.items() for _ in range(count)])

    def upgrade(self, changed: Mapping[str, str]) -> None:
        """Replace all services concurrently, replica by replica, with changed variables."""
        self._changed = changed
        with ThreadPoolExecutor() as threads:
            list(threads.map(self.replace, ANSWERING))

    def move(self, service: str) -> None:
        """Replace the only replica of a service: stop it before starting the new one."""
        for place, replica in list(self._running[service].items()):
            replica.stop()
            del self._running[service][place]
            self._start(service)


@contextmanager
def upgradable(folder: Path, *, replicas: int) -> Iterator[UpgradableInstallation]:
    """Run an installation with one replica of each service and room for ``replicas``."""
    with serving_names() as names:
        runner = NamedProcesses(folder, names)
        found = UpgradableInstallation(runner, InstallationOptions(replicas=replicas))
        try:
            found.start()
            yield found
        finally:
            found.stop()
        if faults := runner.faults():
            raise AssertionError("\n".join(faults))
