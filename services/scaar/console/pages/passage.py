"""A passage of an index with its neighbours, which the pages of answers link to."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.passage_names import name_of, passage_path
from scaar.console.rendering import ports_of, render
from scaar.core.types import PassageRequest


async def passage(request: Request) -> Response:
    """Return the page of a passage."""
    wanted = PassageRequest(request.path_params["index"], request.path_params["id"])
    read = await ports_of(request).catalog.get_passage(wanted)
    neighbours = {
        place: (name_of(other), passage_path(read.index, other.id), other.text)
        for place, other in (("before", read.previous), ("after", read.next))
        if other is not None
    }
    context = {
        "current": "/indexes",
        "read": read,
        "name": name_of(read.passage),
        "neighbours": neighbours,
    }
    return render(request, "passage.html", context)


routes = (Route("/passages/{index}/{id:path}", passage),)
