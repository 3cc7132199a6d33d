"""Retrievers with defaults, for tests that choose neither the kind of an index nor a mode."""

from collections.abc import AsyncIterable, Sequence
from dataclasses import replace
from typing import Any

from scaar.core.ports import IndexKeeper
from scaar.core.types import (
    DenseSettings,
    IndexMode,
    IndexResult,
    Passage,
    RetrieveRequest,
    RetrieveResult,
    SearchMode,
)


class DenseIndexes:
    """A retriever that builds vector indexes by default."""

    def __init__(self, retriever: IndexKeeper, settings: DenseSettings) -> None:
        self._retriever, self._settings = retriever, settings

    async def index_passages(
        self,
        index: str,
        passages: AsyncIterable[Passage],
        *,
        mode: IndexMode = IndexMode.CREATE,
        metadata_fields: Sequence[str] = (),
        dense: DenseSettings | None = None,
    ) -> IndexResult:
        return await self._retriever.index_passages(
            index,
            passages,
            mode=mode,
            metadata_fields=metadata_fields,
            dense=dense or self._settings,
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._retriever, name)


class OneMode(DenseIndexes):
    """A retriever that builds indexes of these settings, and searches them in one mode."""

    def __init__(self, retriever: IndexKeeper, mode: SearchMode, settings: DenseSettings) -> None:
        super().__init__(retriever, settings)
        self._mode = mode

    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        return await self._retriever.retrieve(replace(request, mode=self._mode))
