"""TEMPORARY adapter until the skeleton is merged."""

import asyncio
from pathlib import Path

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from starlette.templating import Jinja2Templates

from scaar.console.system_rows import ServiceState
from scaar.core.errors import ScaarError

ENV = Environment(
    autoescape=True,
    trim_blocks=False,
    loader=ChoiceLoader(
        [
            FileSystemLoader(Path(__file__).parent / "templates"),
            FileSystemLoader("/tmp/lists-layout"),
        ]
    ),
)
T = Jinja2Templates(env=ENV)


def ports_of(request):
    return request.app.state.ports


def render(request, template, context, *, status):
    return T.TemplateResponse(request, template, context, status_code=status)


async def names_of(ports):
    async def names(call):
        try:
            return [e.name for e in await call()]
        except ScaarError:
            return []

    if ports.catalog is None:
        return [], []
    return await asyncio.gather(
        names(ports.catalog.list_policies), names(ports.catalog.list_indexes)
    )


def docs_href(name):
    return ""


async def service_states(request):
    return [
        ServiceState("orchestrator", "dns:///127.0.0.1:50051", True, "all"),
        ServiceState("evaluator", "", False, "Evaluations"),
        ServiceState("records", "dns:///127.0.0.1:50057", False, "Answers"),
    ]


def shown_settings(request):
    return [("SCAAR_CONSOLE_ADDRESS", "127.0.0.1:8091")]


def decisions_of(request, events):
    return ""
