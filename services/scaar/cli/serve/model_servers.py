"""Model servers that already run on this machine, at the ports that they have by default."""

import asyncio
import http.client
import json
import shlex
from dataclasses import dataclass

USUAL_PORTS = {"Ollama": 11434, "llama.cpp": 8080, "vLLM": 8000, "LM Studio": 1234}
"""The port of each program, where another may run too."""
_HOST = "127.0.0.1"
_TIMEOUT_S = 0.5
_MAX_BYTES = 1_000_000
_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A server of OpenAI's API on this machine, and the names of its models."""

    program: str
    """The program that has this port by default."""
    port: int
    models: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(self.models[:_MAX_NAMES])
        more = len(self.models) - _MAX_NAMES
        return f"{names} and {more} more" if more > 0 else names

    def command(self) -> str:
        """Return the command that answers with the server."""
        settings = f"SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL=http://{_HOST}:{self.port}"
        if len(self.models) > 1:
            settings += f" SCAAR_GENERATOR_MODEL={shlex.quote(self.models[0])}"
        return f'{settings} scaar ask "..."'


async def find_model_servers() -> list[ModelServer]:
    """Return the servers at the usual ports of this machine that list models.

    Each port is called once, by no proxy and without credentials.
    """
    calls = [asyncio.to_thread(_models, port) for port in USUAL_PORTS.values()]
    lists = zip(USUAL_PORTS.items(), await asyncio.gather(*calls), strict=True)
    return [ModelServer(program, port, models) for (program, port), models in lists if models]


def _models(port: int) -> tuple[str, ...]:
    """Return the names of the models of a server; none if there is no such server."""
    connection = http.client.HTTPConnection(_HOST, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/v1/models")
        response = connection.getresponse()
        listed = json.loads(response.read(_MAX_BYTES)) if response.status == 200 else {}
        names = [model["id"] for model in listed["data"]]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ()
    finally:
        connection.close()
    # Whatever listens there is not trusted to write to this terminal.
    return tuple(name for name in names if isinstance(name, str) and name.isprintable() and name)
