"""Setup of the telemetry of a service. Libraries are imported only if their setting is on."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import grpc

from scaar.core.distributions import library_required
from scaar.core.errors import CapabilityMissing, InvalidRequest
from scaar.core.observers import (
    UNOBSERVED,
    UNOBSERVED_BREAKERS,
    UNOBSERVED_CAPACITY,
    UNOBSERVED_POLICIES,
    UNOBSERVED_RECORDS,
    UNOBSERVED_REQUESTS,
    BreakerObserver,
    CapacityObserver,
    EvaluationObserver,
    PolicyObserver,
    RecordObserver,
    RequestObserver,
    ScorerObserver,
)
from scaar.core.ports import Answerer, Generator
from scaar.core.types import AnswerRequest
from scaar.runtime.settings import ServiceSettings
from scaar.telemetry.answer_log import AnswerLog
from scaar.telemetry.answers import WatchedAnswerer, WatchFactory
from scaar.telemetry.calls import CallLogInterceptor, CallMetricsInterceptor


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Observers of a service: its calls, answers, scorer and dependencies."""

    interceptors: tuple[grpc.aio.ServerInterceptor, ...] = ()
    watch_factories: tuple[WatchFactory, ...] = ()
    scorer: ScorerObserver = UNOBSERVED
    breakers: BreakerObserver = UNOBSERVED_BREAKERS
    capacity: CapacityObserver = UNOBSERVED_CAPACITY
    policies: PolicyObserver = UNOBSERVED_POLICIES
    records: RecordObserver = UNOBSERVED_RECORDS
    evaluations: EvaluationObserver | None = None
    traced: Callable[[Answerer], Answerer] = lambda answerer: answerer
    """Wraps the answerer of evaluations, to record its questions as traces."""
    generator: Callable[[Generator], Generator] = lambda generator: generator
    """Wraps the generator of an orchestrator, to record its generations as spans."""
    metrics_address: str = ""
    """Address that serves the metrics, with the bound port; empty without metrics."""

    def watched(
        self,
        answerer: Answerer,
        *,
        resolve: Callable[[AnswerRequest], AnswerRequest] = lambda request: request,
        others: Sequence[WatchFactory] = (),
    ) -> Answerer:
        """Return the answerer, wrapped if there are watches, which see resolved requests.

        ``others`` are watches beside those of the telemetry, and see the events after them.
        """
        factories = (*self.watch_factories, *others)
        return WatchedAnswerer(answerer, factories, resolve=resolve) if factories else answerer


@asynccontextmanager
async def open_telemetry(
    settings: ServiceSettings, *, service: str, trace_content: bool = False
) -> AsyncIterator[Telemetry]:
    """Open the telemetry of a service until the block ends; without settings, its log only.

    With ``trace_content``, spans have the text of questions, prompts, passages and answers.

    Raises:
        CapabilityMissing: a setting requires a library that is not installed.
        InvalidRequest: an address is invalid.
        AlreadyExists: an address is in use.
    """
    async with AsyncExitStack() as stack:
        parts = [_logging(settings)]
        if settings.metrics_address is not None:
            opening = _open_metrics(settings.metrics_address, service)
            parts.append(await stack.enter_async_context(opening))
        if settings.otlp_endpoint is not None:
            # The outermost part, so that log records have the id of the trace.
            tracing = _open_tracing(settings.otlp_endpoint, service, content=trace_content)
            parts.insert(0, await stack.enter_async_context(tracing))
        yield Telemetry(
            interceptors=tuple(each for part in parts for each in part.interceptors),
            watch_factories=tuple(each for part in parts for each in part.watch_factories),
            scorer=parts[-1].scorer,
            breakers=parts[-1].breakers,
            capacity=parts[-1].capacity,
            policies=parts[-1].policies,
            records=parts[-1].records,
            evaluations=parts[-1].evaluations,
            traced=parts[0].traced,
            generator=parts[0].generator,
            metrics_address=parts[-1].metrics_address,
        )


def _logging(settings: ServiceSettings) -> Telemetry:
    if settings.log_level != "info":
        return Telemetry()
    content = settings.log_content
    return Telemetry(
        interceptors=(CallLogInterceptor(),),
        watch_factories=(lambda request: AnswerLog(request, content=content),),
    )


@asynccontextmanager
async def _open_metrics(address: str, service: str) -> AsyncIterator[Telemetry]:
    try:
        from scaar.telemetry.answer_metrics import AnswerMetrics
        from scaar.telemetry.metrics import Metrics, serving_metrics
        from scaar.telemetry.observer_metrics import (
            BreakerMetrics,
            CapacityMetrics,
            EvaluationMetrics,
            PolicyMetrics,
            RecordMetrics,
            ScorerMetrics,
        )
    except ModuleNotFoundError as error:
        text = f"metrics_address requires {error.name}: install scaar[telemetry]"
        raise CapabilityMissing(text) from error
    metrics = Metrics(service)
    async with serving_metrics(metrics, address) as bound:
        yield Telemetry(
            interceptors=(CallMetricsInterceptor(metrics),),
            watch_factories=(lambda request: AnswerMetrics(metrics, request),),
            scorer=ScorerMetrics(metrics),
            breakers=BreakerMetrics(metrics),
            capacity=CapacityMetrics(metrics),
            policies=PolicyMetrics(metrics),
            records=RecordMetrics(metrics),
            evaluations=EvaluationMetrics(metrics),
            metrics_address=bound,
        )


@asynccontextmanager
async def open_http_metrics(
    address: str | None, *, service: str
) -> AsyncIterator[tuple[RequestObserver, str]]:
    """Serve the metrics of a process that serves HTTP; without an address, none.

    Yield the observer of its requests, and the address with the bound port.

    Raises:
        CapabilityMissing: a library is not installed.
        InvalidRequest: the address is invalid.
        AlreadyExists: the address is in use.
    """
    if address is None:
        yield UNOBSERVED_REQUESTS, ""
        return
    with library_required("metrics_address", "telemetry"):
        from scaar.telemetry.metrics import Metrics, serving_metrics
        from scaar.telemetry.observer_metrics import RequestMetrics
    metrics = Metrics(service)
    async with serving_metrics(metrics, address) as bound:
        yield RequestMetrics(metrics), bound


@asynccontextmanager
async def _open_tracing(endpoint: str, service: str, *, content: bool) -> AsyncIterator[Telemetry]:
    require_tracing(endpoint)
    from scaar.telemetry.answer_spans import AnswerSpans
    from scaar.telemetry.evaluated_questions import TracedQuestions
    from scaar.telemetry.generations import TracedGenerator
    from scaar.telemetry.tracing import TracingInterceptor, open_tracer

    async with open_tracer(endpoint, service=service, content=content) as tracer:
        yield Telemetry(
            interceptors=(TracingInterceptor(tracer),),
            watch_factories=(lambda request: AnswerSpans(tracer, request, content=content),),
            traced=lambda answerer: TracedQuestions(answerer, tracer),
            generator=lambda generator: TracedGenerator(generator, tracer, content=content),
        )


def require_tracing(endpoint: str) -> None:
    """Check that spans can be sent to an endpoint, without connecting.

    Raises:
        InvalidRequest: the endpoint is not an http or https URL.
        CapabilityMissing: a library is not installed.
    """
    if not endpoint.startswith(("http://", "https://")):
        text = f"must be http://host:port or https://host:port, not {endpoint!r}"
        raise InvalidRequest.of("otlp_endpoint", text)
    try:
        from scaar.telemetry.answer_spans import AnswerSpans  # noqa: F401
        from scaar.telemetry.evaluated_questions import TracedQuestions  # noqa: F401
        from scaar.telemetry.generations import TracedGenerator  # noqa: F401
        from scaar.telemetry.tracing import open_tracer  # noqa: F401
    except ModuleNotFoundError as error:
        text = f"otlp_endpoint requires {error.name}: install scaar[telemetry]"
        raise CapabilityMissing(text) from error
