"""The file of a gate's proxy, read when the orchestrator starts."""

from pathlib import Path

from scaar.core.errors import NotFound
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.proxy_json import proxy_from_json


def read_gate(path: Path | None) -> GateProxy | None:
    """The proxy in the file; None where no file is named.

    Raises:
        NotFound: the file is not there, or cannot be read.
        DataCorrupt: it holds no proxy.
    """
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise NotFound(f"gate_file {path} cannot be read: {error.strerror}") from error
    return proxy_from_json(content, str(path))
