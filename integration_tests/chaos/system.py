"""The installation under test: two replicas of every service, one of records, workers, databases.

Callers reach each server through its own proxy. A service has the addresses of its proxies, one
more than replicas, since an upgrade starts a replica at the spare address before it stops another.
"""

import asyncio
import itertools
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from ..installation.ours.installation import BACK_ENDS, RECORDS, SERVICES, full_name
from ..installation.ours.places import free_places
from ..installation.ours.settings import variable
from ..servers.postgresql.postgresql_server import PostgresqlServer, running_postgresql
from ..servers.redis.redis_server import RedisServer, running_redis
from ..servers.scaar_process import ENVIRONMENT, scaar
from .disturbance import DisturbedProcess, Library
from .proxy import HOST, Proxy

REPLICAS = 2
WORKERS = 2
WORKER = "worker"
DATABASE = "evaluations"
PACE_MS = 15
"""Milliseconds per token of the lab's model, so that an answer takes about a second."""
_SETTLE_S = 1.5
"""Clients reconnect to an address within a second."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Ports and proxy of a replica."""

    port: int
    metrics_port: int
    proxy: Proxy


@dataclass(slots=True)
class Part:
    """A process of scaar that can be restarted."""

    name: str
    service: str
    process: DisturbedProcess
    begin: Callable[[], None] = field(repr=False)
    seat: Seat | None = None
    """None for a worker, which is not called."""

    def kill(self) -> None:
        self.process.kill_with_children()

    @property
    def log(self) -> str:
        return self.process.log.read_text(errors="replace")


@dataclass(slots=True)
class Pause:
    """Time in which an orchestrator was paused or cut off, and may miss deadlines."""

    began: float
    ended: float = float("inf")


class System:
    """The processes and their proxies; ``parts`` are the processes of scaar that were started."""

    def __init__(
        self,
        folder: Path,
        library: Library,
        postgresql: PostgresqlServer,
        redis: RedisServer,
    ) -> None:
        self._folder, self._library = folder, library
        self.postgresql, self.redis = postgresql, redis
        self.database_link, self.broker_link = Proxy(postgresql.port), Proxy(redis.port)
        count = REPLICAS + 1
        served = (*SERVICES, RECORDS)
        places = iter(free_places(count * len(served)))
        self.seats = {
            service: [
                Seat(place.port, place.metrics_port, Proxy(place.port))
                for place in itertools.islice(places, count)
            ]
            for service in served
        }
        self.parts: list[Part] = []
        self.pauses: list[Pause] = []
        self.kills: list[float] = []
        """Times at which an orchestrator was killed, with the records that it had not written."""
        self._numbers = itertools.count(1)

    def target(self, service: str) -> str:
        """Return the target of the service, with the addresses of all its seats."""
        addresses = (f"{HOST}:{seat.proxy.port}" for seat in self.seats[service])
        return f"ipv4:{','.join(addresses)}"

    def of(self, *services: str) -> list[Part]:
        """Return the parts of these services."""
        return [part for part in self.parts if part.service in services]

    def links(self) -> list[tuple[str, Proxy]]:
        """Return every link between a server and its callers, by the server's name."""
        taken = [(part.name, part.seat.proxy) for part in self.parts if part.seat]
        return [*taken, ("postgresql", self.database_link), ("redis", self.broker_link)]

    @asynccontextmanager
    async def pausing(self, service: str) -> AsyncIterator[None]:
        """Record that the service is paused during the block, which extends deadlines."""
        pause = Pause(time.monotonic())
        if service == "orchestrator":
            self.pauses.append(pause)
        try:
            yield
        finally:
            pause.ended = time.monotonic()

    async def start(self) -> None:
        """Start all processes, and wait until every part is ready."""
        for proxy in self._proxies():
            await proxy.start()
        # The first retriever builds the lab's index, and the tables are created once.
        await asyncio.to_thread(self._make_tables, DATABASE, "evaluator")
        await asyncio.to_thread(self._make_tables, RECORDS, RECORDS)
        await self._begin(("retriever",))
        for more in (("generator", "scorer", "query-builder"), ("orchestrator",), ("evaluator",)):
            await self._begin(more)
        await self._begin((*SERVICES, RECORDS))
        await self._begin([WORKER] * WORKERS)

    async def stop(self) -> None:
        """Kill all processes."""
        async with asyncio.TaskGroup() as tasks:
            for part in self.parts:
                tasks.create_task(asyncio.to_thread(part.kill))
        for proxy in self._proxies():
            await proxy.stop()

    async def restart(self, part: Part) -> None:
        """Start a part again at its address, and wait until it is ready."""
        await asyncio.to_thread(part.begin)

    async def replace(self, part: Part) -> Part:
        """Start a new replica, stop the old one gracefully, and return the new one."""
        new = await self._start(part.service)
        await asyncio.sleep(_SETTLE_S)
        await asyncio.to_thread(part.process.stop)
        self.parts.remove(part)
        return new

    async def unready(self) -> list[str]:
        """Return the names of the parts that are not serving."""
        served = [part for part in self.parts if part.seat]
        found = await asyncio.gather(
            *(asyncio.to_thread(_serves, part.service, part.seat) for part in served if part.seat)
        )
        return [part.name for part, ready in zip(served, found, strict=True) if not ready]

    def logs(self) -> Iterable[tuple[str, str]]:
        """Yield name and content of the log of each process of scaar."""
        for log in sorted(self._folder.glob("*.log")):
            yield log.stem, log.read_text(errors="replace")

    async def _begin(self, services: Iterable[str]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for service in services:
                tasks.create_task(self._start(service))

    async def _start(self, service: str) -> Part:
        number = next(self._numbers)
        name = f"{service}-{number}"
        process = DisturbedProcess(self._folder / f"{name}.log", self._library)
        seat = self._free_seat(service)
        part = Part(name, service, process, lambda: self._run(service, process, seat), seat)
        self.parts.append(part)
        await self.restart(part)
        return part

    def _free_seat(self, service: str) -> Seat | None:
        taken = [part.seat for part in self.of(service)]
        return next((seat for seat in self.seats.get(service, ()) if seat not in taken), None)

    def _run(self, service: str, process: DisturbedProcess, seat: Seat | None) -> None:
        home = {"SCAAR_HOME": str(self._folder / "home")}
        if seat is None:
            # A worker logs when it is ready, and again after each restart.
            before = process.log.read_text(errors="replace") if process.log.exists() else ""
            starts = before.count(_TAKES_SHARDS)
            process.start(
                scaar("eval", "worker"),
                answers=lambda: (
                    process.log.read_text(errors="replace").count(_TAKES_SHARDS) > starts
                ),
                environment={**ENVIRONMENT, **home, **self._settings("evaluator")},
            )
            return
        process.start(
            scaar("serve", service, "--address", f"{HOST}:{seat.port}"),
            answers=lambda: _serves(service, seat),
            environment={**ENVIRONMENT, **home, **self._settings(service, seat)},
        )

    def _settings(self, service: str, seat: Seat | None = None) -> dict[str, str]:
        """Return the settings of a service: production-like, with short evaluations."""
        settings: dict[str, object] = {"drain_s": 2, "stop_grace_s": 15}
        if seat:
            settings["metrics_address"] = f"{HOST}:{seat.metrics_port}"
        match service:
            case "generator":
                settings["pace_ms"] = PACE_MS
            case "orchestrator":
                settings |= {f"{each}_target": self.target(each) for each in BACK_ENDS}
                settings |= {"records_database": self._url(RECORDS), "records_content": "full"}
            case "records":
                settings["database"] = self._url(RECORDS)
            case "evaluator":
                settings |= {
                    "orchestrator_target": self.target("orchestrator"),
                    "database": self._url(DATABASE),
                    "broker": f"redis://{HOST}:{self.broker_link.port}/0",
                    "executor": "celery",
                    "concurrency": 2,
                    "worker_processes": 1,
                    "shard_predictions": 8,
                    "lease_s": 5,
                }
        return {variable(service, name): str(value) for name, value in settings.items()}

    def _url(self, database: str) -> str:
        return f"postgresql://postgres@{HOST}:{self.database_link.port}/{database}"

    def _make_tables(self, database: str, service: str) -> None:
        self.postgresql.execute(f"CREATE DATABASE {database}")
        process = DisturbedProcess(self._folder / f"tables-{database}.log", self._library)
        process.start(
            scaar("db", "upgrade", "--tables", database),
            answers=lambda: True,
            environment={**ENVIRONMENT, **self._settings(service)},
        )
        if status := process.wait():
            raise RuntimeError(f"scaar db upgrade: {status}: {process.log.read_text()}")

    def _proxies(self) -> list[Proxy]:
        seats = [seat.proxy for each in self.seats.values() for seat in each]
        return [*seats, self.database_link, self.broker_link]


@asynccontextmanager
async def running_system(folder: Path) -> AsyncIterator[System]:
    """Run the installation until the block ends; logs and data stay in the folder."""
    with ExitStack() as servers:
        switches = folder / "switches"
        logs = folder / "processes"
        for each in (switches, logs):
            each.mkdir(parents=True)
        library = Library(switches)
        postgresql = servers.enter_context(
            running_postgresql(process=lambda log: DisturbedProcess(log, library))
        )
        redis = servers.enter_context(
            running_redis(durable=True, process=lambda log: DisturbedProcess(log, library))
        )
        system = System(logs, library, postgresql, redis)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(system.stop)
            await system.start()
            yield system


def _serves(service: str, seat: Seat) -> bool:
    with socket.socket() as probe:
        # Cheaper than a channel, since it is called often before the server starts.
        if probe.connect_ex((HOST, seat.port)):
            return False
    options = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"ipv4:{HOST}:{seat.port}", options) as channel:
        request = health_pb2.HealthCheckRequest(service=full_name(service))
        try:
            response = health_pb2_grpc.HealthStub(channel).Check(request, timeout=1)
        except grpc.RpcError:
            return False
    return bool(response.status == health_pb2.HealthCheckResponse.SERVING)


_TAKES_SHARDS = "worker takes shards"
