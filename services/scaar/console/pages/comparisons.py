"""Comparisons of two settings question by question, of one evaluation or of two."""

import asyncio
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.evaluation_rows import evaluation_href
from scaar.console.loading import Loading
from scaar.console.prediction_comparison import (
    SHOWN,
    Pair,
    outcome_counts,
    pair_table,
    pairs_of,
    summary_table,
)
from scaar.console.rendering import ports_of, render
from scaar.core.errors import ScaarError
from scaar.core.evaluations import EvaluationDescription, EvaluationPrediction
from scaar.core.ports import Evaluator

MAX_PREDICTIONS = 5_000
"""Maximum number of predictions of a setting that are compared."""
ROWS_PER_PAGE = 25
_PAGE_SIZE = 500
_CONCURRENCY = 4


async def comparison(request: Request) -> Response:
    """Return the common questions of two settings, with both answers."""
    evaluator, loading = ports_of(request).evaluator, Loading()
    name, sent = request.path_params["id"], request.query_params
    other = sent.get("with", "")
    context: dict[str, object] = {
        "notices": loading.notices,
        "evaluation_href": evaluation_href(name),
        "compare_href": evaluation_href(name, "compare"),
        "other": other,
        "first": sent.get("a", ""),
        "second": sent.get("b", ""),
        "second_labels": (),
        "summary": None,
        "other_href": evaluation_href(other) if other else "",
    }
    found = await loading.need("evaluator", evaluator, lambda each: each.get_evaluation(name))
    second = found
    if other and found is not None:
        second = await loading.need("evaluator", evaluator, lambda each: each.get_evaluation(other))
    if found is not None and second is not None and evaluator is not None:
        await _compare(evaluator, found, second, context=context, request=request, loading=loading)
    return render(request, "comparison.html", context, status=loading.status)


async def _compare(
    evaluator: Evaluator,
    found: EvaluationDescription,
    second: EvaluationDescription,
    *,
    context: dict[str, object],
    request: Request,
    loading: Loading,
) -> None:
    """Add the comparison of the settings of the request to the context of the page."""
    sent = request.query_params
    a, b = sent.get("a", ""), sent.get("b", "")
    show = sent.get("show", "")
    show = show if show in SHOWN else "all"
    if b not in second.settings and second is not found:
        # The form of the first evaluation offers its own settings only.
        loading.notices.append(f"The other evaluation has no setting {b!r}; choose one of its own.")
        b = second.settings[0] if second.settings else ""
    context |= {
        "first": a,
        "second": b,
        "first_labels": [(each, each) for each in found.settings],
        "second_labels": [(each, each) for each in second.settings],
        "shown": [(name, text) for name, (text, _) in SHOWN.items()],
        "show": show,
        "problems": {},
    }
    both = await loading.need(
        "evaluator",
        evaluator,
        lambda each: asyncio.gather(_all(each, found.id, a), _all(each, second.id, b)),
    )
    if both is None:
        return
    if any(len(each) >= MAX_PREDICTIONS for each in both):
        text = f"Only the first {MAX_PREDICTIONS:,} predictions of a setting are compared."
        loading.notices.append(text)
    pairs = pairs_of(*both)
    listed = [each for each in pairs if SHOWN[show][1](each)]
    start = _page(sent.get("page", "")) * ROWS_PER_PAGE
    rows = listed[start : start + ROWS_PER_PAGE]

    def href(page: int) -> str:
        fields = {"a": a, "b": b, "with": sent.get("with", ""), "show": show}
        return evaluation_href(found.id, "compare", **fields, page=str(page))

    page = start // ROWS_PER_PAGE
    context |= {
        "summary": summary_table(pairs),
        "counts": outcome_counts(pairs),
        "total": len(pairs),
        "table": pair_table(rows, (found.id, second.id), await _texts(evaluator, found.id, rows)),
        "previous_href": href(page - 1) if page else "",
        "next_href": href(page + 1) if len(listed) > start + ROWS_PER_PAGE else "",
        "shown_text": f"{start + 1} to {start + len(rows)} of {len(listed)}" if rows else "",
    }


async def _all(
    evaluator: Evaluator, evaluation_id: str, setting: str
) -> list[EvaluationPrediction]:
    """Return the predictions of a setting, without details."""
    found: list[EvaluationPrediction] = []
    token = ""
    while len(found) < MAX_PREDICTIONS:
        page = await evaluator.list_predictions(
            evaluation_id, setting=setting, page_size=_PAGE_SIZE, page_token=token
        )
        found += page.predictions
        token = page.next_page_token
        if not token:
            break
    return found[:MAX_PREDICTIONS]


async def _texts(evaluator: Evaluator, evaluation_id: str, pairs: Sequence[Pair]) -> dict[str, str]:
    """Return the questions by id, of those that can be read."""
    free = asyncio.Semaphore(_CONCURRENCY)

    async def text(prediction: EvaluationPrediction) -> tuple[str, str]:
        async with free:
            try:
                page = await evaluator.list_predictions(
                    evaluation_id,
                    setting=prediction.setting,
                    question_id=prediction.question_id,
                    detailed=True,
                    page_size=1,
                )
            except ScaarError:
                return prediction.question_id, ""
        question = page.predictions[0].question if page.predictions else None
        return prediction.question_id, question.question if question else ""

    return dict(await asyncio.gather(*(text(pair.first) for pair in pairs)))


def _page(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


routes = (Route("/evaluations/{id}/compare", comparison),)
