"""The loop over a language model alone, without scorer, query builder and retriever."""

from collections.abc import Sequence
from typing import NoReturn

from scaar.core.errors import CapabilityMissing
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.ports import Generator
from scaar.core.types import (
    IndexDescription,
    PassageInContext,
    PassageRequest,
    Query,
    QueryRequest,
    RetrieveRequest,
    RetrieveResult,
    ScorerDescription,
    ScoreRequest,
)


def model_alone(generator: Generator) -> AdaptiveLoop:
    """Return a loop that serves ``no_retrieval``; other policies raise CapabilityMissing."""
    missing = _Missing()
    return AdaptiveLoop(Ports(generator, missing, missing, missing))


class _Missing:
    """The missing scorer, query builder and retriever."""

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

    async def get_passage(self, request: PassageRequest) -> PassageInContext:
        _refuse()

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        _refuse()

    async def describe_index(self, index: str) -> IndexDescription:
        _refuse()


def _refuse() -> NoReturn:
    raise CapabilityMissing("only the language model is available: use the policy no_retrieval")
