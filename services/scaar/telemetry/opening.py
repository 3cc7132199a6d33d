"""Opens what the settings of a service ask for; the libraries only where they are needed."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.observers import (
    UNOBSERVED,
    UNOBSERVED_BREAKERS,
    UNOBSERVED_CAPACITY,
    BreakerObserver,
    CapacityObserver,
    EvaluationObserver,
    ScorerObserver,
)
from scaar.core.ports import Answerer
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.answer_log import AnswerLog
from scaar.telemetry.answers import WatchedAnswerer, Watching
from scaar.telemetry.call_log import CallLogInterceptor


@dataclass(frozen=True, slots=True)
class Telemetry:
    """What watches a service: its calls, its answers, its scorer, what it depends on."""

    interceptors: tuple[grpc.aio.ServerInterceptor, ...] = ()
    watching: tuple[Watching, ...] = ()
    scorer: ScorerObserver = UNOBSERVED
    breakers: BreakerObserver = UNOBSERVED_BREAKERS
    capacity: CapacityObserver = UNOBSERVED_CAPACITY
    evaluations: EvaluationObserver | None = None
    traced: Callable[[Answerer], Answerer] = lambda answerer: answerer
    """Around what questions of evaluations are asked of."""
    metrics_address: str = ""
    """Where the metrics are read, with the port that was taken; empty without."""

    def watched(self, answerer: Answerer) -> Answerer:
        """The answerer, watched where anything watches."""
        return WatchedAnswerer(answerer, self.watching) if self.watching else answerer


@asynccontextmanager
async def open_telemetry(settings: ServiceSettings, *, service: str) -> AsyncIterator[Telemetry]:
    """The telemetry of a service, until the block ends; its log alone where nothing else is set.

    Raises:
        CapabilityMissing: what is set needs a library that is not installed.
        InvalidRequest: an address is none.
        AlreadyExists: something listens there.
    """
    async with AsyncExitStack() as stack:
        parts = [_logging(settings)]
        if settings.metrics_address is not None:
            opening = _open_metrics(settings.metrics_address, service)
            parts.append(await stack.enter_async_context(opening))
        if settings.otlp_endpoint is not None:
            # Outermost of all, so that a line of the log has the trace's id.
            tracing = _open_tracing(settings.otlp_endpoint, service)
            parts.insert(0, await stack.enter_async_context(tracing))
        yield Telemetry(
            interceptors=tuple(each for part in parts for each in part.interceptors),
            watching=tuple(each for part in parts for each in part.watching),
            scorer=parts[-1].scorer,
            breakers=parts[-1].breakers,
            capacity=parts[-1].capacity,
            evaluations=parts[-1].evaluations,
            traced=parts[0].traced,
            metrics_address=parts[-1].metrics_address,
        )


def _logging(settings: ServiceSettings) -> Telemetry:
    if settings.log_level != "info":
        return Telemetry()
    content = settings.log_content
    return Telemetry(
        interceptors=(CallLogInterceptor(),),
        watching=(lambda request: AnswerLog(request, content=content),),
    )


@asynccontextmanager
async def _open_metrics(address: str, service: str) -> AsyncIterator[Telemetry]:
    try:
        from scaar.telemetry.answer_metrics import AnswerMetrics
        from scaar.telemetry.breaker_metrics import BreakerMetrics
        from scaar.telemetry.call_metrics import CallMetricsInterceptor
        from scaar.telemetry.capacity_metrics import CapacityMetrics
        from scaar.telemetry.evaluation_metrics import EvaluationMetrics
        from scaar.telemetry.metrics import Metrics, serving_metrics
        from scaar.telemetry.scorer_metrics import ScorerMetrics
    except ModuleNotFoundError as error:
        text = f"metrics_address needs {error.name}: install scaar[telemetry]"
        raise CapabilityMissing(text) from error
    metrics = Metrics(service)
    async with serving_metrics(metrics, address) as listening:
        yield Telemetry(
            interceptors=(CallMetricsInterceptor(metrics),),
            watching=(lambda request: AnswerMetrics(metrics, request),),
            scorer=ScorerMetrics(metrics),
            breakers=BreakerMetrics(metrics),
            capacity=CapacityMetrics(metrics),
            evaluations=EvaluationMetrics(metrics),
            metrics_address=listening,
        )


@asynccontextmanager
async def _open_tracing(endpoint: str, service: str) -> AsyncIterator[Telemetry]:
    require_tracing(endpoint)
    from scaar.telemetry.answer_spans import AnswerSpans
    from scaar.telemetry.asked_questions import TracedQuestions
    from scaar.telemetry.tracing import TracingInterceptor, open_tracer

    async with open_tracer(endpoint, service=service) as tracer:
        yield Telemetry(
            interceptors=(TracingInterceptor(tracer),),
            watching=(lambda request: AnswerSpans(tracer, request),),
            traced=lambda answerer: TracedQuestions(answerer, tracer),
        )


def require_tracing(endpoint: str) -> None:
    """Passes an endpoint that spans can be sent to; nothing is opened.

    Raises:
        InvalidRequest: it is no such URL.
        CapabilityMissing: a library for it is not installed.
    """
    if not endpoint.startswith(("http://", "https://")):
        text = f"must be http://host:port or https://host:port, not {endpoint!r}"
        raise InvalidRequest.of("otlp_endpoint", text)
    try:
        from scaar.telemetry.answer_spans import AnswerSpans  # noqa: F401
        from scaar.telemetry.asked_questions import TracedQuestions  # noqa: F401
        from scaar.telemetry.tracing import open_tracer  # noqa: F401
    except ModuleNotFoundError as error:
        text = f"otlp_endpoint needs {error.name}: install scaar[telemetry]"
        raise CapabilityMissing(text) from error
