"""Ports for servers that start and restart in tests."""

import os
import random
import socket

# Of pytest-xdist: a server that restarts must find its port free.
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_PROCESSES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_given: set[int] = set()


def free_port() -> int:
    """Return a free port on loopback, never the same twice, nor the same in two test processes.

    It is below the range of ephemeral ports, so that no client's connection takes it before the
    server listens, and below that of ``free_places``.
    """
    while True:
        port = random.randrange(10_000 + _PROCESS, 20_000, _PROCESSES)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _given:
            _given.add(port)
            return port
