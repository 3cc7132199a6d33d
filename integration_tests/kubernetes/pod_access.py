"""Access from the tests to single pods: calls by port-forward, metrics by the API server."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from .cluster import Cluster

_LISTENS = re.compile(r"(?:Forwarding from|Starting to serve on) 127\.0\.0\.1:(\d+)")


class PodAccess:
    """Access to the pods of a namespace; forwards are opened on first use."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace
        self._open: dict[tuple[str, ...], tuple[subprocess.Popen[str], int]] = {}

    def target(self, pod: str, port: int) -> str:
        """Return the target of a port of a pod."""
        return f"ipv4:127.0.0.1:{self._port('port-forward', f'pod/{pod}', f':{port}')}"

    def url(self, pod: str, port: int, path: str) -> str:
        """Return the URL of an HTTP path of a pod."""
        return f"http://{self.api_server()}{self.path(pod, port, path)}"

    def path(self, pod: str, port: int, path: str) -> str:
        """Return the path of the API server's proxy to a pod."""
        return f"/api/v1/namespaces/{self._namespace}/pods/{pod}:{port}/proxy{path}"

    def api_server(self) -> str:
        """Return host and port of an authenticated proxy to the API server."""
        return f"127.0.0.1:{self._port('proxy', '--port=0')}"

    def close(self) -> None:
        """Close all forwards."""
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
def pod_access(cluster: Cluster, namespace: str) -> Iterator[PodAccess]:
    """PodAccess to the namespace's pods, closed when the block ends."""
    found = PodAccess(cluster, namespace)
    try:
        yield found
    finally:
        found.close()
