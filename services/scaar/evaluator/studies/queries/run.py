"""A comparison of query formulations that runs in a folder, and resumes there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scaar.core.controls import Control
from scaar.evaluator.execution.items import QuestionLimiter, evaluate_items
from scaar.evaluator.execution.progress import NoProgress, RunProgress
from scaar.evaluator.planning.axes import ITSELF
from scaar.evaluator.records import Question
from scaar.evaluator.store.database.studies import open_study
from scaar.evaluator.studies.queries.drafts import Draft
from scaar.evaluator.studies.queries.records import QueryEvaluation, QuestionRetrievals
from scaar.evaluator.studies.queries.retrieval import Ports, retrieve_for
from scaar.evaluator.studies.queries.store import QUERIES, RETRIEVALS, QueryResults, read_queries


@dataclass(frozen=True, slots=True)
class QueryRun:
    """How a comparison runs; none of this is part of its settings."""

    ports: Ports
    concurrency: int
    progress: RunProgress = field(default_factory=NoProgress)


async def run_queries(
    run: QueryRun,
    folder: Path,
    evaluation: QueryEvaluation,
    questions: Sequence[Question],
    drafts: Mapping[str, Draft],
) -> QueryResults:
    """Make the retrievals that the folder lacks, and return all retrievals.

    Raises:
        InvalidRequest: the folder belongs to another run, or a draft cannot be scored.
        ScaarError: the scorer or the retriever fails, or a result cannot be stored.
    """

    async def retrieve(question: Question) -> QuestionRetrievals:
        return await retrieve_for(run.ports, question, drafts[question.id], evaluation.variants)

    async with open_study(folder, QUERIES, evaluation, questions) as store:
        known = {each.question_id for each in read_queries(folder).records}
        remaining = [each for each in questions if each.id not in known]
        with run.progress.watch(len(questions), len(known)) as on_stored:
            await evaluate_items(
                *(remaining, retrieve, store.part(RETRIEVALS)),
                limiter=QuestionLimiter(run.concurrency),
                on_stored=on_stored,
            )
    return read_queries(folder)


def scorer_name(scorer: Control | None) -> str:
    """Return the name of a control, or ``none``."""
    return ITSELF if scorer is None else str(scorer)
