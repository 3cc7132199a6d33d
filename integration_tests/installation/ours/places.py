"""Where replicas may be: ports of loopback, as many as there are replicas and more."""

import random
import socket
from contextlib import ExitStack
from dataclasses import dataclass, replace

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Place:
    """Two ports that nothing else listens at, by which clients and Prometheus reach a replica."""

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
    """So many, in a row, none at a port that connections begin at."""
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
    """So many lists of free places, all at different ports."""
    free = iter(free_places(count * replicas))
    return [[next(free) for _ in range(replicas)] for _ in range(count)]


def places_of_names(count: int, replicas: int) -> list[list[Place]]:
    """So many lists of free places, those of a list at one port of different addresses."""
    return [
        [replace(each, host=f"127.0.1.{number + 1}") for number in range(replicas)]
        for each in free_places(count)
    ]


def listed(places: list[Place]) -> str:
    """The target of all of them."""
    return "ipv4:" + ",".join(place.address for place in places)
