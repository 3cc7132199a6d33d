"""Starts and stops a real OpenSearch node on loopback, with a folder and a free port of its own.

    python -m integration_tests.servers.opensearch.node start FOLDER [setting=value ...]
    python -m integration_tests.servers.opensearch.node stop FOLDER

``start`` prints the address, and the node runs until it is stopped.
The node runs the distribution that ``distribution.py`` makes, with a heap of 512 MB. OpenSearch
refuses to run as root, so root's node runs as nobody, who must be able to reach the folder.
"""

import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..server_process import NOBODY, command_as
from .distribution import CACHE, JAVA, VERSION

HERE = Path(__file__).resolve().parent
HEAP = "512m"
_START_S = 180
_PORTS = "http.ports"


class Node:
    """A node with its data in ``folder``. One that was killed starts again on what is there."""

    def __init__(self, folder: Path, *, home: Path = CACHE / "plain", scheme: str = "http") -> None:
        self.folder = folder.resolve()
        self._home, self._scheme = home.resolve(), scheme
        self._process: subprocess.Popen[bytes] | None = None
        self.address = ""

    def start(self, *settings: str) -> str:
        """Starts the node and gives its address, ``127.0.0.1:port``, once it answers."""
        for name in ("data", "logs", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copytree(HERE / "config", self.folder / "config", dirs_exist_ok=True)
        (self.folder / "logs" / _PORTS).unlink(missing_ok=True)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.folder], check=True)
        self._process = self._run(settings)
        (self.folder / "pid").write_text(str(self._process.pid))
        began = time.monotonic()
        while self._process.poll() is None and time.monotonic() - began < _START_S:
            if self._answers():
                return self.address
            time.sleep(0.1)
        ended = self._process.poll()
        self.kill()
        log = (self.folder / "node.log").read_text(errors="replace")
        state = "did not answer" if ended is None else f"ended with status {ended}"
        raise RuntimeError(f"OpenSearch {state}; the end of its log:\n{log[-3000:]}")

    def kill(self) -> None:
        """Ends the node as a loss of power would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends the node in order."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Makes the node hang: it keeps its connections and answers nothing."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Ends a pause."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=60)
            self._process = None

    def _run(self, settings: tuple[str, ...]) -> subprocess.Popen[bytes]:
        folder, tmp = self.folder, self.folder / "tmp"
        properties = {
            "java.awt.headless": "true",
            "file.encoding": "UTF-8",
            "java.io.tmpdir": tmp,
            "java.locale.providers": "SPI,COMPAT",
            "jna.nosys": "true",
            "jna.tmpdir": tmp,
            "io.netty.noUnsafe": "true",
            "io.netty.noKeySetOptimization": "true",
            "io.netty.recycler.maxCapacityPerThread": "0",
            "io.netty.allocator.numDirectArenas": "0",
            "log4j.shutdownHookEnabled": "false",
            "log4j2.disable.jmx": "true",
            "opensearch.path.home": self._home,
            "opensearch.path.conf": folder / "config",
            "opensearch.distribution.type": "tar",
            "opensearch.bundled_jdk": "false",
        }
        if VERSION.startswith("2."):
            properties["java.security.manager"] = "allow"
        command = [
            JAVA,
            f"-Xms{HEAP}",
            f"-Xmx{HEAP}",
            *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss1m"),
            *(f"-D{name}={value}" for name, value in properties.items()),
            *("-cp", f"{self._home}/lib/*", "org.opensearch.bootstrap.OpenSearch"),
            *(f"-Epath.data={folder}/data", f"-Epath.logs={folder}/logs"),
            *(f"-E{setting}" for setting in settings),
        ]
        with (folder / "node.log").open("ab") as log:
            return subprocess.Popen(
                command_as(NOBODY if os.geteuid() == 0 else None, command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=tmp,
                start_new_session=True,
            )

    def _answers(self) -> bool:
        try:
            self.address = (self.folder / "logs" / _PORTS).read_text().split()[0]
            health = "_cluster/health?wait_for_status=yellow&timeout=5s"
            url = f"{self._scheme}://{self.address}/{health}"
            unverified = ssl._create_unverified_context() if self._scheme == "https" else None
            with urllib.request.urlopen(url, timeout=10, context=unverified) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            # An unknown caller means that the security plugin has started.
            # Time that ran out: shards are away, and the node itself is there.
            return error.code in (401, 408)
        except (OSError, IndexError):
            return False


@contextmanager
def running_node(
    *settings: str,
    home: Path = CACHE / "plain",
    scheme: str = "http",
    prepare: Callable[[Node], object] = lambda node: None,
) -> Iterator[Node]:
    """A node for the time of the block; its data go with it."""
    nodes = CACHE / "nodes"
    nodes.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=nodes))
    folder.chmod(0o755)
    node = Node(folder, home=home, scheme=scheme)
    try:
        prepare(node)
        node.start(*settings)
        yield node
    finally:
        node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def _main(command: str, folder: str, *settings: str) -> None:
    node = Node(Path(folder))
    if command == "start":
        print(f"http://{node.start(*settings)}, data and log in {node.folder}")
    elif command == "stop":
        os.kill(int((node.folder / "pid").read_text()), signal.SIGTERM)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    _main(*sys.argv[1:])
