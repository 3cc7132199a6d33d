"""Installation on this machine, with replicas of every service.

A target lists one address more than there are replicas. A new replica starts at the spare address,
and the address of the replica that then stops becomes the spare one. Clients skip addresses where
nothing listens or the replica is draining.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import HTTPException
from urllib.request import urlopen

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from ..access import Access
from ..http_client import is_ready
from .installation import (
    BACK_ENDS,
    CONSOLE,
    GATEWAY,
    PARTS,
    RECORDS,
    SERVICES,
    WEB,
    full_name,
)
from .places import Place, listed
from .runner import Replica, Runner
from .security import Security
from .settings import PACE_MS, InstallationSettings

TGI = "tgi"


@dataclass(frozen=True, slots=True)
class InstallationOptions:
    """Options of an installation."""

    replicas: int = 2
    otlp_endpoint: str = ""
    security: Security | None = None
    """Security of a secured installation, whose generator runs the lab's model itself."""


class ReplicatedInstallation:
    """The services and, unless the installation is secured, the lab's TGI."""

    def __init__(self, runner: Runner, requested: InstallationOptions) -> None:
        self._runner, self._asked = runner, requested
        # A certificate cannot be issued for a list of addresses.
        count = 1 if requested.security else requested.replicas + 1
        names = (*PARTS, RECORDS, CONSOLE, TGI)
        self._places = dict(zip(names, runner.places(len(names), count), strict=True))
        self._running: dict[str, dict[Place, Replica]] = {name: {} for name in names if name != TGI}
        self._tgi: Replica | None = None
        self._changed: Mapping[str, str] = {}
        tgi_url = "" if requested.security else runner.url(TGI, self._places[TGI][0])
        self._settings = InstallationSettings(
            {name: runner.target(name, self._places[name]) for name in (*SERVICES, RECORDS)},
            tgi_url,
            requested.otlp_endpoint,
            f"sqlite:///{runner.home / 'records.sqlite'}",
            requested.security.settings(runner.files) if requested.security else None,
        )

    @property
    def access(self) -> Access:
        targets = listed(self._places["orchestrator"]), listed(self._places["evaluator"])
        gateways, consoles = (tuple(map(self._url, self._places[each])) for each in WEB)
        access = Access(
            *targets,
            metrics=self._metrics_urls,
            gateways=gateways,
            consoles=consoles,
            records_target=listed(self._places[RECORDS]),
        )
        if (known := self._asked.security) is None:
            return access
        return replace(access, ca=known.ca, cert=known.cert, key=known.key, token=known.token)

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
        """Start all replicas, and wait until they are ready."""
        answering, more = [*BACK_ENDS, "orchestrator"], self._asked.replicas - 1
        self._start_model()
        # The first retriever builds the lab's index, and the first evaluator its database.
        self._start_all(answering)
        self._start_all(["evaluator", GATEWAY, RECORDS, CONSOLE, *answering * more])
        self._start_all(["evaluator", GATEWAY] * more)

    def stop(self) -> None:
        """Stop all replicas gracefully, callers before the services that they call."""
        for names in (("evaluator", *WEB), ("orchestrator", RECORDS), BACK_ENDS):
            running = [each for name in names for each in self._running[name].values()]
            with ThreadPoolExecutor() as threads:
                list(threads.map(lambda each: each.stop(), running))
        if self._tgi:
            self._tgi.stop()

    def _url(self, place: Place) -> str:
        scheme = "https" if self._asked.security else "http"
        return f"{scheme}://{place.address}"

    def _start_model(self) -> None:
        if self._settings.tgi_url:
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
        settings = {**self._settings.environment(service), **self._changed}
        if service in WEB:
            url, ca = self._url(place), self.access.ca
            running[place] = self._runner.serve(service, place, settings, lambda: is_ready(url, ca))
            return
        with _asking(place.target, self.access.credentials()) as health:
            running[place] = self._runner.serve(
                service, place, settings, lambda: _serves(health, full_name(service))
            )


@contextmanager
def running(runner: Runner, requested: InstallationOptions) -> Iterator[ReplicatedInstallation]:
    """Run the installation for the duration of the block, and assert that no fault was logged."""
    installation = ReplicatedInstallation(runner, requested)
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
        request = health_pb2.HealthCheckRequest(service=service)
        response = health.Check(request, timeout=1, wait_for_ready=True)
    except grpc.RpcError:
        return False
    return bool(response.status == health_pb2.HealthCheckResponse.SERVING)


def _is_healthy(place: Place) -> bool:
    try:
        with urlopen(f"http://{place.address}/health", timeout=5) as response:
            return bool(response.status == HTTPStatus.OK)
    except (OSError, HTTPException):
        return False
