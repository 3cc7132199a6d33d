"""An installation of processes that are found by name, as the pods of a release are.

Names are those of headless Services: a replica has its name from before it serves until it has
ended. The connections of callers last, so that callers look a name up only when they must.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from ..access import Access
from .configured import variable
from .installation import BACK_ENDS
from .names import Names, serving_names
from .places import Place, places_of_names
from .processes import Processes
from .replicated import Asked, Replicated
from .runner import Replica

ANSWERING = (*BACK_ENDS, "orchestrator")
_LASTING_S = 300


class NamedReplica:
    """A replica that has a name until it has ended."""

    def __init__(self, replica: Replica, ended: Callable[[], None]) -> None:
        self._replica, self._ended = replica, ended

    def stop(self) -> None:
        self._replica.stop()
        self._ended()

    def kill(self) -> None:
        self._replica.kill()
        self._ended()


class NamedProcesses(Processes):
    """Processes whose services have names."""

    # As minReadySeconds of the chart, which is longer.
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
        # Upgrades use the cores that the tests have, and calls wait for them meanwhile.
        lasting[variable("orchestrator", "tenant_concurrent_calls")] = ""
        served = super().serve(service, place, {**settings, **lasting}, serves)
        return NamedReplica(served, lambda: self._names.remove(service, place.host))


class Upgradable(Replicated):
    """An installation without an evaluator, whose services can all be replaced at once."""

    @property
    def access(self) -> Access:
        place = self._places["orchestrator"]
        return Access(self._runner.target("orchestrator", place))

    def start(self) -> None:
        self._start_model()
        # The first retriever builds the lab's index.
        self._start_all(ANSWERING)

    def scale(self, replicas: int) -> None:
        """Starts replicas of every service until there are so many."""
        missing = {each: replicas - len(self._running[each]) for each in ANSWERING}
        self._start_all([each for each, count in missing.items() for _ in range(count)])

    def upgrade(self, changed: Mapping[str, str]) -> None:
        """Replaces every service at once, replica by replica, with these variables changed."""
        self._changed = changed
        with ThreadPoolExecutor() as threads:
            list(threads.map(self.replace, ANSWERING))

    def move(self, service: str) -> None:
        """Replaces the replicas of a service that can only be one at a time: stops it first."""
        for place, replica in list(self._running[service].items()):
            replica.stop()
            del self._running[service][place]
            self._start(service)


@contextmanager
def upgradable(folder: Path, *, replicas: int) -> Iterator[Upgradable]:
    """One of at most so many replicas a service, with one of each at first."""
    with serving_names() as names:
        runner = NamedProcesses(folder, names)
        found = Upgradable(runner, Asked(replicas=replicas))
        try:
            found.start()
            yield found
        finally:
            found.stop()
        if faults := runner.faults():
            raise AssertionError("\n".join(faults))
