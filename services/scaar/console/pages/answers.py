"""The list of answers: filters that can be bookmarked, and pages."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.loading import Loading, loaded_or
from scaar.console.record_rows import record_table
from scaar.console.record_search import KINDS, PAGE_SIZES, VERDICTS, RecordSearch, read_search
from scaar.console.rendering import ports_of, render

_YES_NO = (("", "any"), ("yes", "yes"), ("no", "no"))
_FIRST_FIELDS = {"text", "request_id", "policy", "retrieved"}
"""The fields that are always open."""
_NO_RECORDS = (
    "No answer is recorded yet. Ask a question. Answers are recorded if the orchestrator's setting "
    "records_database is set."
)
_NO_MATCH = (
    "No answer matches. Remove a filter. A text finds only answers that were recorded with texts."
)


async def answers(request: Request) -> Response:
    """Return a page of the records that match the form."""
    search = read_search(request.query_params)
    ports, loading = ports_of(request), Loading()
    page = await loading.need(
        "records",
        ports.records,
        lambda records: records.list_records(
            search.filter, page_size=search.page_size, page_token=search.page_token
        ),
    )
    # They are suggestions of the form only.
    policies, indexes = await asyncio.gather(
        loaded_or((), ports.catalog.list_policies()), loaded_or((), ports.catalog.list_indexes())
    )
    context = {
        "search": search,
        "policies": [each.name for each in policies],
        "indexes": [each.name for each in indexes],
        "notices": loading.notices,
        "yes_no": _YES_NO,
        "verdicts": [("", "any or none"), *VERDICTS.items()],
        "kinds": [*KINDS.items()],
        "page_sizes": [(str(each), str(each)) for each in PAGE_SIZES],
        "table": None,
        "more": not search.fields.keys() <= _FIRST_FIELDS,
        "empty": _NO_MATCH if search.is_filtered else _NO_RECORDS,
    }
    if page is not None:
        context |= {
            "table": record_table(page.records),
            "next": _next(search, page.next_page_token),
        }
    status = loading.status
    if search.problems and status == 200:
        status = 400
    return render(request, "answers.html", context, status=status)


def _next(search: RecordSearch, token: str) -> str:
    return search.query(page_token=token) if token else ""


routes = (Route("/answers", answers),)
