"""``/mcp``: answers and searches as tools of the Model Context Protocol."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from scaar import __version__
from scaar.core.errors import PermissionDenied
from scaar.gateway.errors import error_response
from scaar.gateway.mcp_tools import Tools
from scaar.gateway.orchestrator import Orchestrator
from scaar.gateway.settings import GatewaySettings
from scaar.http_server.host_check import HostCheck
from scaar.http_server.hosts import HostRule
from scaar.runtime.settings import variable_of

MCP_PATH = "/mcp"
INSTRUCTIONS = (
    "Use answer for questions of fact: it drafts an answer, retrieves passages where the model is "
    "uncertain of a word that matters, and cites them. Use search for passages without an answer."
)


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
    return server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        # The host and the origin are checked before, by protect_mcp.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=settings.max_body_bytes,
    )


def protect_mcp(app: ASGIApp, settings: GatewaySettings) -> ASGIApp:
    """Return the application behind checks of the host, on every address, and of the origin."""
    rule = HostRule(settings.address, settings.allowed_hosts, always=True)
    return HostCheck(
        _OriginCheck(app, rule=rule, allowed_origins=settings.allowed_origins),
        rule=rule,
        setting=variable_of(GatewaySettings, "allowed_hosts"),
        error_response=error_response,
    )


class _OriginCheck:
    """Rejects requests of pages of other origins with 403. Programs send no ``Origin``."""

    def __init__(self, app: ASGIApp, *, rule: HostRule, allowed_origins: Sequence[str]) -> None:
        self._app = app
        self._rule = rule
        self._allowed_origins = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for origin in Headers(scope=scope).getlist("origin"):
            if origin not in self._allowed_origins and not self._rule.accepts_origin(origin):
                error = PermissionDenied("pages of this origin may not call /mcp")
                await error_response(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)
