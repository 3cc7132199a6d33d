"""What ``scaar up`` runs, and what is running."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from scaar.cli.serve.services import GRPC_SERVICES, HTTP_PORTS, ServiceName, default_address
from scaar.core.errors import InvalidRequest
from scaar.core.ports import IndexKeeper
from scaar.runtime.addresses import check_free
from scaar.runtime.settings import ProcessSettings, ServiceSettings

HIGHEST_PORT = 65_535
SHARING = (ServiceName.EVALUATOR, ServiceName.RECORDS)
"""Services that, in one process, are served on the orchestrator's port."""


@dataclass(frozen=True, slots=True)
class UpPlan:
    """The services to run, and the addresses of those that open a port."""

    services: Sequence[ServiceName]
    addresses: Mapping[ServiceName, str]
    settings: Mapping[ServiceName, ProcessSettings]

    @property
    def embedded(self) -> tuple[ServiceName, ...]:
        """Services in the process of the orchestrator that open no port."""
        return tuple(name for name in self.services if name not in self.addresses)

    @property
    def callable_addresses(self) -> dict[ServiceName, str]:
        """Address of each service of gRPC that can be called."""
        shared = self.addresses[ServiceName.ORCHESTRATOR]
        return {
            name: self.addresses.get(name, shared)
            for name in self.services
            if name in self.addresses or name in SHARING
            if name not in HTTP_PORTS
        }

    @property
    def is_open(self) -> bool:
        """Whether every caller on this machine may call the orchestrator, without TLS."""
        of_orchestrator = self.settings[ServiceName.ORCHESTRATOR]
        assert isinstance(of_orchestrator, ServiceSettings)
        return of_orchestrator.identities_file is None and of_orchestrator.tls_cert_file is None

    @property
    def urls(self) -> dict[ServiceName, str]:
        """URLs of the services of HTTP that run, by TLS if they have a certificate."""
        return {
            name: f"http{'s' if self.settings[name].tls_cert_file else ''}://{self.addresses[name]}"
            for name in HTTP_PORTS
            if name in self.addresses
        }

    @property
    def stop_timeout_s(self) -> float:
        """Maximum time, in seconds, that a service may take to stop by its settings."""
        return max(each.drain_s + each.stop_grace_s for each in self.settings.values())

    def check_free(self) -> None:
        """Check that nothing listens on the addresses, which could be mistaken for a service.

        Raises:
            AlreadyExists: an address is in use; names its option.
        """
        for name, address in self.addresses.items():
            check_free(address, option=option_of(name))


def check_ports(ports: Mapping[ServiceName, int], *, processes: bool) -> None:
    """Check the ports of the options: that of the orchestrator, and those of HTTP, 0 for none.

    Raises:
        InvalidRequest: a port is out of range; names its option.
    """
    highest = HIGHEST_PORT - (len(GRPC_SERVICES) - 1 if processes else 0)
    for name, port in ports.items():
        lowest, most = (0, HIGHEST_PORT) if name in HTTP_PORTS else (1, highest)
        if not lowest <= port <= most:
            raise InvalidRequest.of(option_of(name), f"must be {lowest} to {most}, not {port}")


def build_plan(
    services: Sequence[ServiceName],
    ports: Mapping[ServiceName, int],
    settings: Mapping[ServiceName, ProcessSettings],
    *,
    processes: bool,
) -> UpPlan:
    """Return the plan that runs the services, each of gRPC on its own port with ``processes``.

    Raises:
        InvalidRequest: two services have the same port.
    """
    base_port = ports[ServiceName.ORCHESTRATOR]
    wanted = [name for name in services if ports.get(name) != 0]
    addresses: dict[ServiceName, str] = {}
    for name in wanted:
        if name in HTTP_PORTS:
            address = f"127.0.0.1:{ports[name]}"
        elif processes or name is ServiceName.ORCHESTRATOR:
            address = default_address(name, base_port)
        else:
            continue
        for other in (other for other in addresses if addresses[other] == address):
            text = f"must not be {ports[name]}, the port of the {other}"
            raise InvalidRequest.of(option_of(name), text)
        addresses[name] = address
    return UpPlan(wanted, addresses, settings)


def option_of(service: ServiceName) -> str:
    """Return the option of the port of a service."""
    return f"--{service}-port" if service in HTTP_PORTS else "--base-port"


@dataclass(frozen=True, slots=True)
class RunningServices:
    """The services of a plan, all ready."""

    open_indexes: Callable[[], AbstractAsyncContextManager[IndexKeeper]]
    """Opens the indexes of the retriever."""
    failure: Callable[[], Awaitable[None]]
    """Waits until a service ends, and raises its error."""


Note = Callable[[str], None]
"""Prints a line about the start."""
OpenServices = Callable[[UpPlan, Note], AbstractAsyncContextManager[RunningServices]]
"""Starts the services of a plan, and stops them when the block ends."""
