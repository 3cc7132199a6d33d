"""Runs a real RabbitMQ on loopback, with a folder and ports of its own.

The programs are Debian's, unpacked and not installed: nothing of them starts by itself.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scaar.testing.ports import free_port

from ..debian import unpacked
from ..server_process import ServerProcess, server_folder

HERE = Path(__file__).resolve().parent
_ERLANG = (
    *("asn1", "base", "crypto", "eldap", "ftp", "inets", "mnesia", "os-mon", "parsetools"),
    *("public-key", "runtime-tools", "snmp", "ssl", "syntax-tools", "tftp", "tools", "xmerl"),
)
PACKAGES = ("rabbitmq-server", *(f"erlang-{name}" for name in _ERLANG))


class RabbitmqServer:
    """A server with its data in ``folder``; a restart keeps the port."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.port = free_port()
        self._names_port = free_port()
        self._programs = _fetched() / "usr" / "lib"
        self.process = ServerProcess(self.folder / "rabbitmq.log")
        # What Erlang's nodes find each other by, on loopback too.
        self._names = ServerProcess(self.folder / "epmd.log")

    @property
    def url(self) -> str:
        """Return the URL of the server."""
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        """Start the server with its data, and wait until it answers."""
        self._names.kill()
        names = str(self._programs / "erlang/bin/epmd")
        self._names.start(
            [names, "-port", str(self._names_port), "-address", "127.0.0.1"],
            answers=lambda: _answers(self._names_port),
        )
        config = self.folder / "rabbitmq.conf"
        config.write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\nlog.console = true\n")
        (program,) = self._programs.glob("rabbitmq/lib/*/sbin/rabbitmq-server")
        self.process.start(
            [str(program)],
            answers=lambda: _answers(self.port),
            environment={
                "PATH": f"{self._programs / 'erlang/bin'}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(self.folder),
                "ERL_EPMD_PORT": str(self._names_port),
                "RABBITMQ_CONFIG_FILE": str(config),
                "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none.conf"),
                "RABBITMQ_DIST_PORT": str(free_port()),
                "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
                "RABBITMQ_LOG_BASE": str(self.folder / "log"),
                "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
                "RABBITMQ_NODENAME": "scaar@localhost",
                "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                    "-kernel inet_dist_use_interface {127,0,0,1}"
                ),
            },
        )

    def kill(self) -> None:
        """Kill the server."""
        self.process.kill_with_children()
        self._names.kill()


def _fetched() -> Path:
    """Return the folder of the programs."""
    home = unpacked(HERE / ".cache" / "programs", PACKAGES)
    # The script names the folder of the installation.
    start = home / "usr/lib/erlang/bin/erl"
    start.write_text(start.read_text().replace("=/usr/lib/erlang", f"={home}/usr/lib/erlang"))
    return home


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running_rabbitmq() -> Iterator[RabbitmqServer]:
    """Run a server for the duration of the block, and delete its data."""
    with server_folder(HERE) as folder:
        server = RabbitmqServer(folder)
        try:
            server.start()
            yield server
        finally:
            server.kill()
