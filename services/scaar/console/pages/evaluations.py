"""The evaluations: their progress, figures, reports and predictions."""

from contextlib import aclosing
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.answer_view import view_of
from scaar.console.decision_rows import decision_table
from scaar.console.evaluation_rows import (
    STATES,
    evaluation_href,
    evaluation_table,
    fact_table,
    other_settings_table,
    prediction_table,
    progress_text,
    setting_table,
)
from scaar.console.loading import Loading
from scaar.console.prediction_facts import prediction_facts
from scaar.console.rendering import ports_of, render
from scaar.core.evaluations import EvaluationProgress, EvaluationState, ReportFormat
from scaar.core.ports import Evaluator

PAGE_SIZE = 50
PREDICTIONS_PER_PAGE = 25
_REPORT_TIMEOUT_S = 300.0
_KINDS = {
    ReportFormat.HTML: "text/html",
    ReportFormat.MARKDOWN: "text/markdown",
    ReportFormat.JSON: "application/json",
}
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; "
    "frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
)
"""The content security policy of a report: a whole document with a style sheet of its own, without
scripts, and in an origin of its own."""


async def evaluations(request: Request) -> Response:
    """Return a page of the evaluations."""
    sent, loading = request.query_params, Loading()
    state, token = sent.get("state", ""), sent.get("page_token", "")
    known = state in set(EvaluationState)
    page = await loading.need(
        "evaluator",
        ports_of(request).evaluator,
        lambda evaluator: evaluator.list_evaluations(
            states=(EvaluationState(state),) if known else (),
            page_size=PAGE_SIZE,
            page_token=token,
        ),
    )
    problems = {} if known or not state else {"state": f"must be one of {', '.join(STATES)}"}
    context: dict[str, object] = {"notices": loading.notices, "problems": problems, "table": None}
    if page is not None:
        following = {"state": state if known else "", "page_token": page.next_page_token}
        context |= {
            "table": evaluation_table(page.evaluations),
            "states": [("", "any"), *((each.value, each.value) for each in STATES)],
            "state": state if known else "",
            "paged": bool(token),
            "next": urlencode(following) if page.next_page_token else "",
            "empty": "No evaluation is in this state."
            if known
            else "There is no evaluation yet. Create one with “scaar eval run --target”.",
        }
    status = 400 if problems and loading.status == 200 else loading.status
    return render(request, "evaluations.html", context, status=status)


async def evaluation(request: Request) -> Response:
    """Return an evaluation: its progress, its figures so far and its request."""
    evaluator, loading = ports_of(request).evaluator, Loading()
    name = request.path_params["id"]
    found = await loading.need(
        "evaluator", evaluator, lambda evaluator: evaluator.get_evaluation(name)
    )
    if found is None:
        return _missing(request, loading)
    progress = await loading.want(
        "evaluator", evaluator, lambda evaluator: _progress(evaluator, name)
    )
    others = await loading.want(
        "evaluator",
        evaluator,
        lambda evaluator: evaluator.list_evaluations(page_size=PAGE_SIZE),
    )
    labels = [(each, each) for each in found.settings]
    context = {
        "notices": loading.notices,
        "name": found.dataset or found.request_id or found.id,
        "evaluation": found,
        "href": evaluation_href(name),
        "state": STATES[found.state],
        "progress": progress_text(progress, found),
        "has_report": found.state is EvaluationState.SUCCEEDED,
        "report_href": evaluation_href(name, "report"),
        "settings": setting_table(found, progress.figures if progress else ()),
        "facts": fact_table(found),
        "compare_href": evaluation_href(name, "compare"),
        "labels": labels,
        "first": found.settings[0] if labels else "",
        "second": found.settings[-1] if labels else "",
        "others": [("", "this one")]
        + [
            (each.id, f"{each.dataset or each.request_id or 'questions'}, {each.id}")
            for each in (others.evaluations if others else ())
            if each.id != name
        ],
    }
    return render(request, "evaluation.html", context, status=200)


async def report(request: Request) -> Response:
    """Return the report of an evaluation as a document of its own."""
    evaluator, loading = ports_of(request).evaluator, Loading()
    name, sent = request.path_params["id"], request.query_params.get("format", "html")
    kind = ReportFormat(sent) if sent in set(ReportFormat) else ReportFormat.HTML
    text = await loading.need(
        "evaluator",
        evaluator,
        lambda evaluator: evaluator.report(name, kind),
        timeout_s=_REPORT_TIMEOUT_S,
    )
    if text is None:
        return _missing(request, loading)
    headers = {"content-security-policy": REPORT_POLICY}
    return Response(text, media_type=_KINDS[kind], headers=headers)


async def predictions(request: Request) -> Response:
    """Return a page of the predictions, of one setting or of all."""
    evaluator, loading = ports_of(request).evaluator, Loading()
    name, sent = request.path_params["id"], request.query_params
    setting, token = sent.get("setting", ""), sent.get("page_token", "")
    page = await loading.need(
        "evaluator",
        evaluator,
        lambda evaluator: evaluator.list_predictions(
            name,
            setting=setting,
            detailed=True,
            page_size=PREDICTIONS_PER_PAGE,
            page_token=token,
        ),
    )
    context: dict[str, object] = {
        "notices": loading.notices,
        "evaluation_href": evaluation_href(name),
        "setting": setting,
        "table": None,
    }
    if page is not None:
        following = page.next_page_token
        context |= {
            "table": prediction_table(name, page.predictions, setting=setting),
            "paged": bool(token),
            "first_href": evaluation_href(name, "predictions", setting=setting),
            "next_href": following
            and evaluation_href(name, "predictions", setting=setting, page_token=following),
        }
    return render(request, "predictions.html", context, status=loading.status)


async def prediction(request: Request) -> Response:
    """Return a prediction: its facts, and the decisions of its answer."""
    evaluator, loading = ports_of(request).evaluator, Loading()
    name, sent = request.path_params["id"], request.query_params
    setting, question_id = sent.get("setting", ""), sent.get("question", "")
    page = await loading.need(
        "evaluator",
        evaluator,
        lambda evaluator: evaluator.list_predictions(
            name, setting=setting, question_id=question_id, detailed=True, page_size=1
        ),
    )
    context: dict[str, object] = {
        "notices": loading.notices,
        "evaluation_href": evaluation_href(name),
        "predictions_href": evaluation_href(name, "predictions", setting=setting),
        "question_id": question_id or "Prediction",
        "question": "",
        "facts": None,
    }
    status = loading.status
    if page is not None and not page.predictions:
        loading.notices.append("This prediction is not stored, or not yet. Reload the page later.")
        status = 404
    elif page is not None:
        found = page.predictions[0]
        others = await loading.want(
            "evaluator",
            evaluator,
            lambda evaluator: evaluator.list_predictions(
                name, question_id=found.question_id, page_size=PAGE_SIZE
            ),
        )
        rest = (
            [each for each in others.predictions if each.setting != found.setting] if others else []
        )
        question = found.question.question if found.question else ""
        context |= {
            "question": question,
            "facts": prediction_facts(found),
            "others": other_settings_table(name, rest) if rest else None,
            "decisions": decision_table(found.events),
            "view": view_of(found.events, question=question),
        }
    return render(request, "prediction.html", context, status=status)


def _missing(request: Request, loading: Loading) -> Response:
    context = {"heading": "Evaluation", "notices": loading.notices, "up": "/evaluations"}
    return render(request, "missing.html", context, status=loading.status)


async def _progress(evaluator: Evaluator, name: str) -> EvaluationProgress | None:
    """Return the current progress."""
    async with aclosing(evaluator.watch_evaluation(name)) as found:
        async for each in found:
            return each
    return None


routes = (
    Route("/evaluations", evaluations),
    Route("/evaluations/{id}", evaluation),
    Route("/evaluations/{id}/report", report),
    Route("/evaluations/{id}/predictions", predictions),
    Route("/evaluations/{id}/prediction", prediction),
)
