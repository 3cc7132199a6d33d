"""The evaluator's port over a database: what is asked of it is read and written there alone."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Collection, Sequence
from dataclasses import dataclass, field

from scaar.core.errors import InvalidRequest
from scaar.core.evaluations import (
    EvaluationDescription,
    EvaluationPage,
    EvaluationProgress,
    EvaluationQuestion,
    EvaluationRequest,
    EvaluationState,
    PredictionPage,
    ReportForm,
)
from scaar.core.tenancy import proved_tenant
from scaar.evaluator.datasets import kind_of
from scaar.evaluator.service.describing import (
    description_of,
    figures_told,
    not_in,
)
from scaar.evaluator.service.pace import Pace
from scaar.evaluator.service.pages import place_in, size_of_page, token_behind
from scaar.evaluator.service.planning import Sources, planned
from scaar.evaluator.service.reporting import report_of
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
from scaar.evaluator.store.database.opening import Database
from scaar.evaluator.store.database.predictions import Place, figures_of, page_of_predictions
from scaar.evaluator.store.database.transitions import begun_of
from scaar.evaluator.telling import prediction_told, with_details

WATCH_EVERY_S = 1.0
"""How often who watches is told."""
_LOOKS = 5
"""How often meanwhile it is seen whether the evaluation has ended."""


@dataclass(frozen=True, slots=True)
class HostedEvaluator:
    """An :class:`~scaar.core.ports.Evaluator`; who drives what it keeps is another's concern.

    ``changed`` is called when there is something new to do, ``now`` is the time in seconds since
    1970, ``new_id`` makes ids. Reports are made one at a time. To a caller whose tenant is proved
    there are no evaluations but its own, unless it is one of ``operator_tenants``.
    """

    database: Database
    sources: Sources
    max_unfinished: int
    now: Callable[[], float]
    new_id: Callable[[], str]
    changed: Callable[[], None]
    operator_tenants: Collection[str] = ()
    watch_every_s: float = WATCH_EVERY_S
    _reporting: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def check_writable(self) -> None:
        """Raise what a call would, while nothing can be written to the database."""
        await self.database.check_writable()

    async def create_evaluation(
        self, request: EvaluationRequest, questions: AsyncIterable[EvaluationQuestion]
    ) -> EvaluationDescription:
        asked, drawn = await planned(request, questions, self.sources)
        evaluation_id = self.new_id()
        new = NewEvaluation(
            id=evaluation_id,
            tenant=request.tenant,
            request_id=request.request_id or evaluation_id,
            asked=asked,
            questions=drawn,
        )
        stored = await add_evaluation(
            self.database, new, now=self.now(), most_unfinished=self.max_unfinished
        )
        self.changed()
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
        size = size_of_page(page_size)
        tenant = self._seen()
        query = ("evaluations", tenant or "", *sorted({each.value for each in states}))
        place = place_in(page_token, query, length=1)
        found = await page_of_evaluations(
            self.database,
            states=states,
            before=place[0] if place else None,
            size=size + 1,
            tenant=tenant,
        )
        shown = found[:size]
        token = token_behind(query, (shown[-1].number,)) if len(found) > size else ""
        return EvaluationPage(tuple(description_of(each) for each in shown), token)

    async def cancel_evaluation(self, evaluation_id: str) -> EvaluationDescription:
        stored = await self._stored(evaluation_id)
        await transitions.cancel(self.database, stored.number, now=self.now())
        stored = await self._stored(evaluation_id)
        if stored.state is not EvaluationState.CANCELLED:
            raise not_in(stored, "only what has not ended can be cancelled")
        self.changed()
        return description_of(stored)

    async def watch_evaluation(
        self, evaluation_id: str
    ) -> AsyncGenerator[EvaluationProgress, None]:
        stored = await self._stored(evaluation_id)
        pace = Pace(started=stored.started_at or self.now(), done=0)
        told: EvaluationProgress | None = None
        while True:
            pace.look(stored.ended_at or self.now(), stored.done)
            figures = await figures_of(self.database, stored.number)
            progress = EvaluationProgress(
                evaluation=description_of(stored),
                rate_per_s=pace.rate_per_s(),
                time_left_s=None if stored.state.ended else pace.left_s(stored.wanted),
                figures=figures_told(stored, figures),
            )
            if told is None or told.evaluation != progress.evaluation:
                told = progress
                yield progress
            if stored.state.ended:
                return
            for _ in range(_LOOKS):
                await asyncio.sleep(self.watch_every_s / _LOOKS)
                if (await state_of(self.database, stored.number)).ended:
                    break
            stored = await self._stored(evaluation_id)

    async def report(self, evaluation_id: str, form: ReportForm) -> str:
        stored = await self._stored(evaluation_id)
        if stored.state is not EvaluationState.SUCCEEDED:
            raise not_in(stored, "a report is of one that has succeeded")
        async with self._reporting:
            return await report_of(self.database, stored, form)

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
        size = size_of_page(page_size)
        stored = await self._stored(evaluation_id)
        query = ("predictions", stored.id, setting, question_id)
        place = place_in(page_token, query, length=2)
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
        kind = kind_of(stored.asked.dataset.name)
        told = [(each, questions[at.question - first]) for at, each in shown]
        predictions = tuple(prediction_told(each, question, kind) for each, question in told)
        if detailed:
            by_label = (await begun_of(self.database, stored.number)).evaluation.provenance
            predictions = tuple(
                with_details(made, each, question, by_label[each.setting])
                for made, (each, question) in zip(predictions, told, strict=True)
            )
        more = len(found) > size
        token = token_behind(query, (last.question, last.setting)) if more else ""
        return PredictionPage(predictions, token)

    async def _position_of_question(self, stored: StoredEvaluation, question_id: str) -> int | None:
        """Where the question of that id stands; None where none is named."""
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
        return await get_evaluation(self.database, evaluation_id, tenant=self._seen())

    def _seen(self) -> str | None:
        """The tenant whose evaluations alone the caller sees; None where that is all of them."""
        tenant = proved_tenant()
        return None if tenant in self.operator_tenants else tenant


def _position(stored: StoredEvaluation, setting: str) -> int | None:
    """The position of the setting of that label; None where none is named."""
    labels = [each.label for each in stored.asked.settings]
    if setting and setting not in labels:
        text = f"there is no setting {setting!r}; known: {', '.join(labels)}"
        raise InvalidRequest.of("setting", text)
    return labels.index(setting) if setting else None
