"""Ways from the tests to single pods: calls by port-forward, metrics by the API server."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from .release import Release

_LISTENS = re.compile(r"(?:Forwarding from|Starting to serve on) 127\.0\.0\.1:(\d+)")


class Ways:
    """Ways to pods of a release, each opened when it is first asked for."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._open: dict[tuple[str, ...], tuple[subprocess.Popen[str], int]] = {}

    def target(self, pod: str, port: int) -> str:
        """Where a port of the pod is reached by itself."""
        return f"ipv4:127.0.0.1:{self._port('port-forward', f'pod/{pod}', f':{port}')}"

    def url(self, pod: str, port: int, path: str) -> str:
        """Where what the pod serves by HTTP is read."""
        server = f"http://127.0.0.1:{self._port('proxy', '--port=0')}"
        return f"{server}/api/v1/namespaces/{self._release.namespace}/pods/{pod}:{port}/proxy{path}"

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
            self._release.cluster.command(*command, namespace=self._release.namespace),
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
def ways(release: Release) -> Iterator[Ways]:
    """Ways to the release's pods, closed when the block ends."""
    found = Ways(release)
    try:
        yield found
    finally:
        found.close()
