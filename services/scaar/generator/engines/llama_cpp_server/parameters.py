"""What the process of a server receives from the one that starts it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ServerParameters:
    """Parameters of llama.cpp's server, as JSON."""

    path: str
    name: str
    key: str = field(repr=False)
    """API key, which is random and new for every start."""
    slots: int
    context: int
    batch: int
    threads: int
    connections: int
    """Maximum number of concurrent requests."""
