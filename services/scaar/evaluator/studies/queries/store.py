"""The comparison of query formulations of a folder, in its database."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.store.record_json import RecordJson
from scaar.evaluator.store.studies import Part, Study, check_same_study, find_study, read_study
from scaar.evaluator.studies.queries.drafts import DraftOrigin
from scaar.evaluator.studies.queries.records import QueryEvaluation, QuestionRetrievals, Retrieval

RETRIEVALS = Part("retrievals", RecordJson(QuestionRetrievals))
QUERIES = Study(
    "queries",
    "run over drafts",
    RecordJson(QueryEvaluation),
    (RETRIEVALS,),
    may_differ=("created", "dataset.path", "drafts.path"),
)


@dataclass(frozen=True, slots=True)
class QueryResults:
    """A run with its questions and the retrievals made so far, in order."""

    evaluation: QueryEvaluation
    questions: tuple[Question, ...]
    records: tuple[QuestionRetrievals, ...]

    @property
    def refused(self) -> tuple[tuple[str, Retrieval], ...]:
        """The retrievals that a scorer refused, with the id of the question."""
        return tuple(self._refused())

    def _refused(self) -> Iterator[tuple[str, Retrieval]]:
        for each in self.records:
            for some in each.retrievals.values():
                yield from ((each.question_id, one) for one in some if one.refused)


def check_query_folder(folder: Path, dataset: DatasetOrigin, drafts: DraftOrigin) -> None:
    """Validate the output folder before any other service is called.

    Raises:
        InvalidRequest: the folder is a file, or contains other files or a run over other drafts.
    """
    if (found := find_study(folder, QUERIES)) is not None:
        requested = replace(found.settings, dataset=dataset, drafts=drafts)
        check_same_study(folder, QUERIES, found.settings, requested)


def read_queries(folder: Path) -> QueryResults:
    """Return the results in a folder, also while a run is writing to it.

    Raises:
        NotFound: the folder contains no run.
        DataCorrupt: naming what is corrupt.
    """
    found = read_study(folder, QUERIES)
    records = tuple(found.records(RETRIEVALS).values())
    return QueryResults(found.settings, found.questions, records)
