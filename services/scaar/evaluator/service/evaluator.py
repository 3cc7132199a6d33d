"""The evaluator's port over a database, which has all its state."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Sequence
from dataclasses import dataclass, field

from scaar.core.access import EVERY_INDEX
from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPage,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportFormat,
)
from scaar.core.pages import next_page_token, page_size_of, place_of
from scaar.core.tenancy import proved_access, proved_tenant
from scaar.database.database import Database
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.prediction_view import describe_prediction, with_details
from scaar.evaluator.service.access import require_readable
from scaar.evaluator.service.descriptions import (
    ProgressRate,
    describe_figures,
    description_of,
    wrong_state,
)
from scaar.evaluator.service.report import report_of
from scaar.evaluator.service.request_plan import QuestionSources, plan_request
from scaar.evaluator.store.database import transitions
from scaar.evaluator.store.database.evaluations import (
    NewEvaluation,
    StoredEvaluation,
    add_evaluation,
    get_evaluation,
    page_of_evaluations,
    position_of_question,
    questions_of,
    state_of,
)
from scaar.evaluator.store.database.predictions import Place, figures_of, page_of_predictions
from scaar.evaluator.store.database.transitions import started_evaluation_of
from scaar.evaluator.studies.grid.candidates import count_settings

WATCH_EVERY_S = 1.0
"""Interval of progress messages, in seconds."""
_POLLS = 5
"""Number of checks in an interval whether the evaluation has ended."""


@dataclass(frozen=True, slots=True)
class HostedEvaluator:
    """An :class:`~scaar.core.ports.Evaluator` that stores evaluations; a supervisor runs them.

    ``on_change`` is called when an evaluation was created or cancelled, ``now`` returns the time in
    seconds since 1970, ``new_id`` makes ids. Reports are made one at a time. A caller with an
    authenticated tenant can access only the evaluations of that tenant, unless the tenant is one
    of ``operator_tenants``. New evaluations read only what the caller may read, at the time of the
    call that creates or resumes them.
    """

    database: Database
    sources: QuestionSources
    max_unfinished: int
    now: Callable[[], float]
    new_id: Callable[[], str]
    on_change: Callable[[], None]
    operator_tenants: Collection[str] = ()
    watch_every_s: float = WATCH_EVERY_S
    _reporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def check_writable(self) -> None:
        """Raise the error of a call that writes, while the database is not writable."""
        await self.database.check_writable()

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        access = proved_access() or EVERY_INDEX
        spec, drawn = await plan_request(request, questions, self.sources, access=access)
        evaluation_id = self.new_id()
        new = NewEvaluation(
            id=evaluation_id,
            tenant=request.tenant,
            request_id=request.request_id or evaluation_id,
            spec=spec,
            questions=drawn,
            settings=count_settings(spec.settings, spec.theta_candidates or 1),
        )
        stored = await add_evaluation(
            self.database, new, now=self.now(), max_unfinished=self.max_unfinished
        )
        self.on_change()
        return description_of(stored)

    async def get_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        return description_of(await self._stored(evaluation_id))

    async def list_evaluations(
        self,
        *,
        states: Sequence[EvaluationState] = (),
        page_size: int | None = None,
        page_token: str = "",
    ) -> EvaluationPage:
        size = page_size_of(page_size)
        tenant = self._visible_tenant()
        query = ("evaluations", tenant or "", *sorted({each.value for each in states}))
        place = place_of(page_token, query, length=1)
        found = await page_of_evaluations(
            self.database,
            states=states,
            before=place[0] if place else None,
            size=size + 1,
            tenant=tenant,
        )
        shown = found[:size]
        token = next_page_token(query, (shown[-1].number,)) if len(found) > size else ""
        return EvaluationPage(tuple(description_of(each) for each in shown), token)

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        stored = await self._stored(evaluation_id)
        await transitions.cancel(self.database, stored.number, now=self.now())
        stored = await self._stored(evaluation_id)
        if stored.state is not EvaluationState.CANCELLED:
            raise wrong_state(stored, "only an evaluation that has not ended can be cancelled")
        self.on_change()
        return description_of(stored)

    async def resume_evaluation(
        self, evaluation_id: str, *, retry_failed: bool = False
    ) -> EvaluationDescription:
        stored = await self._stored(evaluation_id)
        require_readable(proved_access() or EVERY_INDEX, stored.spec)
        resumed = await transitions.resume(
            self.database, stored, retry_failed=retry_failed, max_unfinished=self.max_unfinished
        )
        if resumed:
            self.on_change()
        return description_of(await self._stored(evaluation_id))

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        stored = await self._stored(evaluation_id)
        rate = ProgressRate(started=stored.started_at or self.now(), done=0)
        last: EvaluationProgress | None = None
        while True:
            rate.record(stored.ended_at or self.now(), stored.done)
            figures = await figures_of(self.database, stored.number)
            progress = EvaluationProgress(
                evaluation=description_of(stored),
                rate_per_s=rate.rate_per_s(),
                remaining_s=None if stored.state.ended else rate.remaining_s(stored.total),
                figures=describe_figures(stored, figures),
            )
            if last is None or last.evaluation != progress.evaluation:
                last = progress
                yield progress
            if stored.state.ended:
                return
            for _ in range(_POLLS):
                await asyncio.sleep(self.watch_every_s / _POLLS)
                if (await state_of(self.database, stored.number)).ended:
                    break
            stored = await self._stored(evaluation_id)

    async def report(self, evaluation_id: str, report_format: ReportFormat) -> str:
        stored = await self._stored(evaluation_id)
        if stored.state is not EvaluationState.SUCCEEDED:
            raise wrong_state(stored, "a report needs an evaluation that has succeeded")
        async with self._reporting:
            return await report_of(self.database, stored, report_format)

    async def list_predictions(
        self,
        evaluation_id: str,
        *,
        setting: str = "",
        question_id: str = "",
        detailed: bool = False,
        page_size: int | None = None,
        page_token: str = "",
    ) -> PredictionPage:
        size = page_size_of(page_size)
        stored = await self._stored(evaluation_id)
        query = ("predictions", stored.id, setting, question_id)
        place = place_of(page_token, query, length=2)
        found = await page_of_predictions(
            self.database,
            stored.number,
            size=size + 1,
            after=Place(*place) if place else None,
            setting=_position(stored, setting),
            question=await self._position_of_question(stored, question_id),
        )
        shown = found[:size]
        if not shown:
            return PredictionPage(())
        first, last = shown[0][0].question, shown[-1][0]
        questions = await questions_of(
            self.database, stored.number, first=first, last=last.question + 1
        )
        kind = kind_of(stored.spec.dataset.name)
        found_questions = [(each, questions[at.question - first]) for at, each in shown]
        predictions = tuple(
            describe_prediction(each, question, kind) for each, question in found_questions
        )
        if detailed:
            by_label = (
                await started_evaluation_of(self.database, stored.number)
            ).evaluation.provenance
            predictions = tuple(
                with_details(described, each, question, by_label[each.setting])
                for described, (each, question) in zip(predictions, found_questions, strict=True)
            )
        more = len(found) > size
        token = next_page_token(query, (last.question, last.setting)) if more else ""
        return PredictionPage(predictions, token)

    async def _position_of_question(self, stored: StoredEvaluation, question_id: str) -> int | None:
        """The position of the named question; None if none is named."""
        if not question_id:
            return None
        position = await position_of_question(self.database, stored.number, question_id)
        if position is None:
            text = f"evaluation {stored.id} has no question {question_id!r}"
            raise InvalidRequest.of("question_id", text)
        return position

    async def _stored(self, evaluation_id: str) -> StoredEvaluation:
        if not evaluation_id:
            raise InvalidRequest.of("evaluation_id", "must not be empty")
        return await get_evaluation(self.database, evaluation_id, tenant=self._visible_tenant())

    def _visible_tenant(self) -> str | None:
        """The tenant to which the caller's view is limited; None for no limit."""
        tenant = proved_tenant()
        return None if tenant in self.operator_tenants else tenant


def _position(stored: StoredEvaluation, setting: str) -> int | None:
    """The position of the named setting; None if none is named."""
    labels = [each.label for each in stored.settings]
    if setting and setting not in labels:
        text = f"there is no setting {setting!r}; known: {', '.join(labels)}"
        raise InvalidRequest.of("setting", text)
    return labels.index(setting) if setting else None
