"""The indexes, and a sample search with the parts of its scores."""

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.index_rows import index_table, modes_of, passage_table
from scaar.console.loading import UNAVAILABLE, Loading, status_of
from scaar.console.rendering import ports_of, render
from scaar.core.errors import ScaarError
from scaar.core.policies.settings import MAX_TOP_K
from scaar.core.ports import Catalog
from scaar.core.types import IndexDescription, RerankSettings, SearchMode, SearchRequest

_DEFAULT_TOP_K = 5


async def indexes(request: Request) -> Response:
    """Return the indexes, and the passages for the query of the form."""
    catalog, loading = ports_of(request).catalog, Loading()
    found = await loading.need("orchestrator", catalog, lambda catalog: catalog.list_indexes())
    context: dict[str, object] = {
        "notices": loading.notices,
        "table": None,
        "found": None,
        "search_error": "",
    }
    status = loading.status
    if found is not None and catalog is not None:
        fields, problems = _fields(request.query_params, found)
        context |= {
            "table": index_table(found),
            "fields": fields,
            "problems": problems,
            "index_names": [(each.name, each.name) for each in found if not each.damage],
            "modes": [(SearchMode.INDEX.value, "as the index was built"), *_modes(found, fields)],
        }
        if fields["q"] and problems:
            status = 400
        elif fields["q"]:
            result, status = await _search(catalog, fields)
            context |= result
    return render(request, "indexes.html", context, status=status)


async def _search(catalog: Catalog, fields: Mapping[str, str]) -> tuple[dict[str, object], int]:
    query = SearchRequest(
        fields["q"],
        fields["index"],
        int(fields["top_k"]),
        mode=SearchMode(fields["mode"]),
        rerank=RerankSettings() if fields["rerank"] else None,
    )
    try:
        result = await catalog.search(query)
    except ScaarError as error:
        status = status_of(error)
        # The page still shows the indexes.
        status = 200 if status == UNAVAILABLE else status
        return {"search_error": f"The search failed: {error.message}"}, status
    return {"found": passage_table(result), "index_version": result.index_version}, 200


def _fields(
    sent: Mapping[str, str], found: Sequence[IndexDescription]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the fields of the form with their defaults, and the problems of the sent ones."""
    whole = [each for each in found if not each.damage]
    # An empty index comes last: its searches find nothing.
    first = next((each.name for each in sorted(whole, key=lambda each: not each.passages)), "")
    fields = {
        "q": sent.get("q", "").strip(),
        "index": sent.get("index") or first,
        "top_k": sent.get("top_k", "").strip() or str(_DEFAULT_TOP_K),
        "mode": sent.get("mode") or SearchMode.INDEX.value,
        "rerank": "yes" if sent.get("rerank") else "",
    }
    problems = {}
    top_k = fields["top_k"]
    if not (
        top_k.isascii() and top_k.isdigit() and len(top_k) < 4 and 1 <= int(top_k) <= MAX_TOP_K
    ):
        problems["top_k"] = f"must be a whole number from 1 to {MAX_TOP_K}"
    if fields["mode"] not in set(SearchMode):
        problems["mode"] = f"must be one of {', '.join(SearchMode)}"
    return fields, problems


def _modes(
    found: Sequence[IndexDescription], fields: Mapping[str, str]
) -> Sequence[tuple[str, str]]:
    """Return the modes of the chosen index; of all before one is chosen."""
    names = {
        SearchMode.WORDS.value: "by words (BM25)",
        SearchMode.VECTORS.value: "by vectors",
        SearchMode.HYBRID.value: "by both, fused",
    }
    served = {mode for each in found for mode in modes_of(found, each.name)}
    served.add(fields["mode"])
    return [(name, text) for name, text in names.items() if name in served]


routes = (Route("/indexes", indexes),)
