"""Ways from the tests to single pods: calls by port-forward, metrics by the API server."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from .cluster import Cluster

_LISTENS = re.compile(r"(?:Forwarding from|Starting to serve on) 127\.0\.0\.1:(\d+)")


class Ways:
    """Ways to pods of a namespace, each opened when it is first asked for."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._open: dict[tuple[str, ...], tuple[subprocess.Popen[str], int]] = {}

    def target(self, pod: str, port: int) -> str:
        """Where a port of the pod is reached by itself."""
        return f"ipv4:127.0.0.1:{self._port('port-forward', f'pod/{pod}', f':{port}')}"

    def url(self, pod: str, port: int, path: str) -> str:
        """Where what the pod serves by HTTP is read."""
        return f"http://{self.api_server()}{self.path(pod, port, path)}"

    def path(self, pod: str, port: int, path: str) -> str:
        """Where the API server has it."""
        return f"/api/v1/namespaces/{self._namespace}/pods/{pod}:{port}/proxy{path}"

    def api_server(self) -> str:
        """Host and port where whoever asks the API server by HTTP is let in."""
        return f"127.0.0.1:{self._port('proxy', '--port=0')}"

    def close(self) -> None:
        """Closes all of them."""
        for process, _ in self._open.values():
            process.kill()
            process.communicate()

    def _port(self, *command: str) -> int:
        process, port = self._open.get(command, (None, 0))
        if process is None or process.poll() is not None:
            if process is not None:
                process.communicate()
            process, port = self._opened(command)
            self._open[command] = process, port
        return port

    def _opened(self, command: tuple[str, ...]) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(
            self._cluster.command(*command, namespace=self._namespace),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout
        said = process.stdout.readline()
        if not (found := _LISTENS.search(said)):
            process.kill()
            process.communicate()
            raise RuntimeError(f"kubectl {' '.join(command)} does not listen: {said}")
        return process, int(found[1])


@contextmanager
def ways(cluster: Cluster, namespace: str) -> Iterator[Ways]:
    """Ways to the namespace's pods, closed when the block ends."""
    found = Ways(cluster, namespace)
    try:
        yield found
    finally:
        found.close()
