"""An installation on this machine: every service in replicas, on whatever runs them.

The target that tests are given lists addresses: as many as there are replicas, and a spare one. A
new replica starts at the spare one, where clients find it by themselves; the place of the one that
then stops is the next spare one. Clients leave out addresses where nothing listens, or where what
listens is draining.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from urllib.request import urlopen

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from ..access import Access
from .configured import PACE_MS, Configured
from .installation import BACK_ENDS, SERVICES, full_name
from .places import Place, listed
from .runner import Replica, Runner
from .security import Security

TGI = "tgi"


@dataclass(frozen=True, slots=True)
class Asked:
    """What an installation is to be."""

    replicas: int = 2
    otlp_endpoint: str = ""
    security: Security | None = None
    """Of a secured one, whose generator runs the lab's model itself."""


class Replicated:
    """The services and, but for a secured installation, the lab's TGI."""

    def __init__(self, runner: Runner, asked: Asked) -> None:
        self._runner, self._asked = runner, asked
        # A list of addresses is no name that a certificate could be for.
        count = 1 if asked.security else asked.replicas + 1
        self._places = dict(
            zip((*SERVICES, TGI), runner.places(len(SERVICES) + 1, count), strict=True)
        )
        self._running: dict[str, dict[Place, Replica]] = {name: {} for name in SERVICES}
        self._tgi: Replica | None = None
        self._changed: Mapping[str, str] = {}
        tgi_url = "" if asked.security else runner.url(TGI, self._places[TGI][0])
        self._configured = Configured(
            {name: runner.target(name, self._places[name]) for name in SERVICES},
            tgi_url,
            asked.otlp_endpoint,
            asked.security.settings(runner.files) if asked.security else None,
        )

    @property
    def access(self) -> Access:
        targets = listed(self._places["orchestrator"]), listed(self._places["evaluator"])
        if (known := self._asked.security) is None:
            return Access(*targets, metrics=self._metrics_urls)
        return Access(*targets, known.ca, known.cert, known.key, known.token, self._metrics_urls)

    def replicas(self, service: str) -> tuple[str, ...]:
        return tuple(place.target for place in self._running[service])

    def replace(self, service: str) -> None:
        for place, replica in list(self._running[service].items()):
            self._start(service)
            time.sleep(self._runner.settle_s)
            replica.stop()
            del self._running[service][place]

    def kill(self, service: str) -> None:
        place, replica = next(iter(self._running[service].items()))
        replica.kill()
        del self._running[service][place]
        self._start(service)

    def start(self) -> None:
        """Starts everything, and returns when every replica is ready."""
        answering, more = [*BACK_ENDS, "orchestrator"], self._asked.replicas - 1
        self._start_model()
        # The first retriever builds the lab's index, and the first evaluator its database.
        self._start_all(answering)
        self._start_all(["evaluator", *answering * more])
        self._start_all(["evaluator"] * more)

    def stop(self) -> None:
        """Stops everything in order, whoever asks before whoever answers."""
        for names in (("evaluator",), ("orchestrator",), BACK_ENDS):
            running = [each for name in names for each in self._running[name].values()]
            with ThreadPoolExecutor() as threads:
                list(threads.map(lambda each: each.stop(), running))
        if self._tgi:
            self._tgi.stop()

    def _start_model(self) -> None:
        if self._configured.tgi_url:
            pace = ("--pace-ms", str(PACE_MS))
            place = self._places[TGI][0]
            self._tgi = self._runner.tgi(place, pace, lambda: _is_healthy(place))

    def _metrics_urls(self) -> tuple[str, ...]:
        served = [each for running in self._running.values() for each in running]
        tgi = [self._places[TGI][0].address] if self._tgi else []
        addresses = (*(place.metrics_address for place in served), *tgi)
        return tuple(f"http://{address}/metrics" for address in addresses)

    def _start_all(self, services: Sequence[str]) -> None:
        with ThreadPoolExecutor() as threads:
            list(threads.map(self._start, services))

    def _start(self, service: str) -> None:
        running = self._running[service]
        place = next(each for each in self._places[service] if each not in running)
        settings = {**self._configured.environment(service), **self._changed}
        with _asking(place.target, self.access.credentials()) as health:
            running[place] = self._runner.serve(
                service, place, settings, lambda: _serves(health, full_name(service))
            )


@contextmanager
def running(runner: Runner, asked: Asked) -> Iterator[Replicated]:
    """The installation until the block ends; then nobody may have told of a fault."""
    installation = Replicated(runner, asked)
    try:
        installation.start()
        yield installation
    finally:
        installation.stop()
    if faults := runner.faults():
        raise AssertionError("\n".join(faults))


@contextmanager
def _asking(
    target: str, credentials: grpc.ChannelCredentials | None
) -> Iterator[health_pb2_grpc.HealthStub]:
    options = (
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 200),
        ("grpc.use_local_subchannel_pool", 1),
    )
    opened = (
        grpc.secure_channel(target, credentials, options)
        if credentials
        else grpc.insecure_channel(target, options)
    )
    with opened as channel:
        yield health_pb2_grpc.HealthStub(channel)


def _serves(health: health_pb2_grpc.HealthStub, service: str) -> bool:
    try:
        asked = health_pb2.HealthCheckRequest(service=service)
        told = health.Check(asked, timeout=1, wait_for_ready=True)
    except grpc.RpcError:
        return False
    return bool(told.status == health_pb2.HealthCheckResponse.SERVING)


def _is_healthy(place: Place) -> bool:
    try:
        with urlopen(f"http://{place.address}/health", timeout=5) as response:
            return bool(response.status == HTTPStatus.OK)
    except (OSError, HTTPException):
        return False
