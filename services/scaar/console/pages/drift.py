"""The drift page: rates of answers over time, with the expectation of tuned policies."""

import time
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from scaar.console.data_tables import DataTable
from scaar.console.drift_figures import (
    DriftSeries,
    drift_charts,
    drift_series,
    overview_table,
    period_table,
)
from scaar.console.drift_rates import RATES
from scaar.console.drift_search import PERIODS, DriftSearch, read_drift_search, stamp
from scaar.console.line_chart import MAX_SERIES, chart_svg, key_svg
from scaar.console.loading import Loading
from scaar.console.rendering import ports_of, render


@dataclass(frozen=True, slots=True)
class ShownChart:
    """A chart with its table."""

    title: str
    unit: str
    meaning: str
    svg: str
    table: DataTable


async def drift(request: Request) -> Response:
    """Return the charts of the chosen periods."""
    now: float = getattr(request.app.state, "clock", time.time)()
    search = read_drift_search(request.query_params, now=now)
    ports, loading = ports_of(request), Loading()
    groups = await loading.need(
        "records",
        ports.records,
        lambda records: records.summarize_records(search.filter, period_s=search.period.seconds),
    )
    # Without the policies, charts lack the expectations only.
    policies = await loading.want(
        "orchestrator", ports.catalog, lambda catalog: catalog.list_policies()
    )
    context: dict[str, object] = {
        "notices": loading.notices,
        "search": search,
        "until": "" if search.latest else stamp(search.end)[:16],
        "periods": [(each.name, each.text) for each in PERIODS.values()],
        "policies": [each.name for each in policies or ()],
        "loaded": False,
    }
    if groups is not None:
        series = drift_series(groups, policies or ())
        context |= {"loaded": True, **_shown(search, series, now=now)}
    status = 400 if search.problems and loading.status == 200 else loading.status
    return render(request, "drift.html", context, status=status)


def _shown(
    search: DriftSearch, series: tuple[DriftSeries, ...], *, now: float
) -> dict[str, object]:
    charts = [
        ShownChart(
            rate.title,
            rate.unit,
            rate.explained,
            chart_svg(chart),
            period_table(rate, search, series),
        )
        for rate, chart in zip(RATES, drift_charts(search, series), strict=True)
    ]
    return {
        "series": [(each, key_svg(at)) for at, each in enumerate(series[:MAX_SERIES])],
        "hidden": max(0, len(series) - MAX_SERIES),
        "overview": overview_table(series),
        "charts": charts,
        "range_text": f"{search.label(search.first)} to {search.label(search.starts[-1])}",
        "earlier": search.moved(-search.period.count),
        "later": search.moved(search.period.count) if search.end < now else "",
    }


routes = (Route("/drift", drift),)
