"""A language model by itself: the loop where nothing is scored, asked for or retrieved."""

from collections.abc import AsyncIterable, Sequence
from typing import NoReturn

from scaar.core.errors import CapabilityMissing
from scaar.core.loop import AdaptiveLoop, Ports
from scaar.core.ports import Generator
from scaar.core.types import (
    DenseSettings,
    IndexDescription,
    IndexMode,
    IndexResult,
    IndexVerification,
    Passage,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
)


def model_alone(generator: Generator) -> AdaptiveLoop:
    """Answers under ``no_retrieval``; any other policy ends with ``CAPABILITY_MISSING``."""
    missing = _Missing()
    return AdaptiveLoop(Ports(generator, missing, missing, missing))


class _Missing:
    """The scorer, the query builder and the retriever that are not there."""

    async def score_contributions(
        self, requests: Sequence[ScoreRequest]
    ) -> tuple[tuple[float, ...], ...]:
        _refuse()

    async def describe_model(self) -> ScorerDescription:
        _refuse()

    async def build_query(self, request: QueryRequest) -> Query:
        _refuse()

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        _refuse()

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        _refuse()

    async def delete_passages(self, index: str, passage_ids: Sequence[str]) -> int:
        _refuse()

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        _refuse()

    async def describe_index(self, index: str) -> IndexDescription:
        _refuse()

    async def drop_index(self, index: str) -> None:
        _refuse()

    async def verify_index(self, index: str) -> IndexVerification:
        _refuse()


def _refuse() -> NoReturn:
    raise CapabilityMissing("the model is asked by itself: it answers under no_retrieval alone")
