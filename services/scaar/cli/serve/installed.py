"""The services whose libraries are installed."""

from importlib.util import find_spec
from typing import Final

from scaar.cli.serve.services import ServiceName

OPTIONAL_LIBRARIES: Final = {
    ServiceName.EVALUATOR: (
        *("aiosqlite", "alembic", "nltk", "numpy", "rouge_score", "sacrebleu", "sqlalchemy"),
    ),
    ServiceName.RECORDS: ("aiosqlite", "alembic", "sqlalchemy", "textblob"),
    ServiceName.GATEWAY: ("fastapi", "fastapi_offline", "httptools", "mcp", "uvicorn"),
    ServiceName.CONSOLE: ("jinja2", "starlette", "uvicorn"),
}
"""Libraries of the extras of the services without which an orchestrator answers too."""


def services_not_installed() -> tuple[ServiceName, ...]:
    """Return the optional services that lack a library."""
    return tuple(
        service
        for service, libraries in OPTIONAL_LIBRARIES.items()
        if any(find_spec(library) is None for library in libraries)
    )
