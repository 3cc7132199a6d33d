"""``/mcp``: answers and searches as tools of the Model Context Protocol."""

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from scaar import __version__
from scaar.gateway.mcp_tools import Tools
from scaar.gateway.orchestrator import Orchestrator
from scaar.gateway.settings import GatewaySettings

MCP_PATH = "/mcp"
INSTRUCTIONS = (
    "Use answer for questions of fact: it drafts an answer, retrieves passages where the model is "
    "uncertain of a word that matters, and cites them. Use search for passages without an answer."
)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def build_mcp(orchestrator: Orchestrator, settings: GatewaySettings) -> Starlette:
    """Return the application, which serves ``/mcp`` without sessions."""
    tools = Tools(orchestrator, settings)
    server = MCPServer[Any](
        "scaar",
        title="scaar",
        version=__version__,
        instructions=INSTRUCTIONS,
        tools=tools.build(),
        log_level="WARNING",
    )
    tools.add_resources(server)
    names = [*_LOOPBACK, *settings.allowed_hosts]
    hosts = [each for name in names for each in (name, f"{name}:*")]
    origins = [f"{scheme}://{each}" for scheme in ("http", "https") for each in hosts]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection="*" not in settings.allowed_hosts,
        allowed_hosts=hosts,
        allowed_origins=[*origins, *settings.allowed_origins],
    )
    return server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        transport_security=security,
        max_request_body_size=settings.max_body_bytes,
    )
