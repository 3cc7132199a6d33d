"""Free ports on loopback for replicas."""

import random
import socket
from contextlib import ExitStack
from dataclasses import dataclass, replace

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Place:
    """Two free ports of a replica, for clients and for Prometheus."""

    port: int
    metrics_port: int
    host: str = HOST

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        return f"ipv4:{self.address}"

    @property
    def metrics_address(self) -> str:
        return f"{self.host}:{self.metrics_port}"


def free_places(count: int) -> list[Place]:
    """Return ``count`` free places, outside the range of ephemeral ports."""
    while True:
        first = random.randrange(20_000, 32_000)
        ports = range(first, first + 2 * count)
        with ExitStack() as stack:
            try:
                for port in ports:
                    stack.enter_context(socket.create_server((HOST, port)))
            except OSError:
                continue
            return [Place(port, port + 1) for port in ports[::2]]


def places_each(count: int, replicas: int) -> list[list[Place]]:
    """Return ``count`` lists of free places, all at different ports."""
    free = iter(free_places(count * replicas))
    return [[next(free) for _ in range(replicas)] for _ in range(count)]


def places_of_names(count: int, replicas: int) -> list[list[Place]]:
    """Return ``count`` lists of free places; a list has one port at different addresses."""
    return [
        [replace(each, host=f"127.0.1.{number + 1}") for number in range(replicas)]
        for each in free_places(count)
    ]


def listed(places: list[Place]) -> str:
    """Return the target of all places."""
    return "ipv4:" + ",".join(place.address for place in places)
