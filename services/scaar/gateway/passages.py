"""``/passages/{index}/{id}``: a passage of an index, which citations without a URL link to."""

from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import quote

from fastapi.responses import HTMLResponse, JSONResponse
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from scaar.core.text.passage_source import source_text
from scaar.core.types import HEADING_SEPARATOR, Passage, PassageInContext
from scaar.gateway.settings import GatewaySettings

PASSAGES_PATH = "/passages"
_HEADERS = {
    # The texts are untrusted, and the answer depends on the header accept and on the caller.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "vary": "accept",
}
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.25rem}p{white-space:pre-wrap;overflow-wrap:anywhere}"
    "section{opacity:.75}small,h1{overflow-wrap:anywhere}"
)


def gateway_url(settings: GatewaySettings, request: Request) -> str:
    """Return the URL of the gateway as the caller of a request reaches it, without a last slash."""
    return settings.public_url or str(request.base_url).rstrip("/")


def passage_path(index: str, passage_id: str) -> str:
    """Return the path of a passage, without the address of the gateway."""
    return f"{PASSAGES_PATH}/{quote(index, safe='')}/{quote(passage_id, safe='')}"


def passage_response(read: PassageInContext, headers: Headers) -> Response:
    """Return a passage as a page if the client accepts HTML, else as JSON."""
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse("".join(_page(read)), headers=_HEADERS)
    return JSONResponse(_json(read), headers=_HEADERS)


def _json(read: PassageInContext) -> dict[str, Any]:
    return {
        "index": read.index,
        "index_version": read.index_version,
        "passage": _passage_json(read.passage),
        "previous": _passage_json(read.previous) if read.previous else None,
        "next": _passage_json(read.next) if read.next else None,
    }


def _passage_json(passage: Passage) -> dict[str, Any]:
    fields = {field.name: field.values for field in passage.metadata}
    section, page = fields.get("section"), fields.get("page")
    return {
        "id": passage.id,
        "title": passage.title,
        "text": passage.text,
        "file": next(iter(fields.get("source", ())), None),
        "headings": section[0].split(HEADING_SEPARATOR) if section else [],
        "page": page[0] if page else None,
        "metadata": {name: list(values) for name, values in fields.items()},
    }


def _page(read: PassageInContext) -> Iterator[str]:
    name = escape(source_text(read.passage) or read.passage.title or read.passage.id)
    yield '<!doctype html><html lang=""><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{name}</title><style>{_STYLE}</style></head><body><main><h1>{name}</h1>"
    yield from _neighbour("Before", read.previous)
    yield f"<p>{escape(read.passage.text)}</p>"
    yield from _neighbour("After", read.next)
    yield f"<small>Passage {escape(read.passage.id)} of the index {escape(read.index)}</small>"
    yield "</main></body></html>"


def _neighbour(place: str, passage: Passage | None) -> Iterator[str]:
    if passage is not None:
        link, text = quote(passage.id, safe=""), escape(passage.text)
        yield f'<section><h2><a href="{link}">{place}</a></h2><p>{text}</p></section>'
